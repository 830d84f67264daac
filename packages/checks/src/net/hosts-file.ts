import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

/** Addresses by lower-case name, in the order of the file. */
export type HostsTable = ReadonlyMap<string, readonly string[]>;

/** Reads the text of a hosts file (hosts(5)): address, then names, `#` begins a comment. Lines that make no sense are passed over. */
export function parseHosts(text: string): HostsTable {
  const table = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address, ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (address === undefined || isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = table.get(key);
      if (known === undefined) table.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return table;
}

const checkEveryMs = 10_000;
const maxBytes = 1 << 20;

/**
 * Looks names up in a hosts file, which is looked at again every 10 s. It is read synchronously on purpose: libuv's four threads
 * belong to the log's fsync, and a small file costs microseconds. A missing, unreadable or huge file counts as empty.
 */
export function createHostsFile(path: string, clock: () => number): (name: string) => readonly string[] | undefined {
  let table: HostsTable = new Map();
  let stamp = '';
  let checkAt = Number.NEGATIVE_INFINITY;

  function refresh(): void {
    try {
      const facts = statSync(path);
      const now = `${facts.mtimeMs}:${facts.size}:${facts.ino}`;
      if (now === stamp) return;
      stamp = now;
      table = facts.size > maxBytes ? new Map() : parseHosts(readFileSync(path, 'utf8'));
    } catch {
      stamp = '';
      table = new Map();
    }
  }

  return (name) => {
    const now = clock();
    if (now >= checkAt) {
      checkAt = now + checkEveryMs;
      refresh();
    }
    return table.get(name);
  };
}
