import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { issue } from '../../../packages/checks/src/testing/certificates.ts';
import { compileFile } from '../agent/target.ts';
import type { Teardown } from '../agent/teardown.ts';

const run = promisify(execFile);
const longestMs = 60_000;
export const tlsName = 'localhost';

/** The target over TLS: TLS 1.3, P-256, signed by an authority of its own; and the C floor for it. */
export type TlsTarget = {
  readonly port: number;
  readonly authorityPem: string;
  readonly authorityFile: string;
  readonly floor: string;
};

/** Starts it; a sentence about what is missing where it cannot be compiled. */
export async function startTlsTarget(
  folder: string,
  teardown: Teardown,
): Promise<TlsTarget | { readonly missing: string }> {
  const libraries = ['ssl', 'crypto'];
  const target = compileFile(path.join(import.meta.dirname, 'tls-target.c'), libraries, folder);
  const floor = compileFile(path.join(import.meta.dirname, 'tls-floor.c'), libraries, folder);
  if ('missing' in target) return target;
  if ('missing' in floor) return floor;
  const authority = await issue({ name: 'Bench authority', authority: true });
  const leaf = await issue({ name: tlsName, by: authority, dnsNames: [tlsName] });
  const file = (name: string, text: string): string => {
    const where = path.join(folder, name);
    writeFileSync(where, text, { mode: 0o600 });
    return where;
  };
  const files = [file('leaf.pem', leaf.cert), file('key.pem', leaf.key)];
  const child = spawn(target.binary, files, { stdio: ['pipe', 'pipe', 'inherit'] });
  // Its output is not read any further, so it would never count as closed.
  const ended = new Promise((resolve) => child.once('exit', resolve));
  teardown(async () => {
    child.stdin.end();
    await ended;
  });
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (line.done === true) throw new Error('the TLS target of the bench has ended');
  const authorityFile = file('authority.pem', authority.cert);
  return { port: Number(line.value), authorityPem: authority.cert, authorityFile, floor: floor.binary };
}

/** µs per check of a C floor. */
export async function measureFloor(binary: string, args: readonly (string | number)[]): Promise<number> {
  const { stdout } = await run(binary, args.map(String), { timeout: longestMs });
  const { good, bad, us } = JSON.parse(stdout) as { good: number; bad: number; us: number };
  if (bad > 0 || good === 0) throw new Error(`${bad} checks of the floor failed`);
  return us / good;
}

/** µs per request of one curl that fetches so many URLs one after the other, each over a connection (and handshake) of its own. */
export async function measureCurl(url: string, count: number, authorityFile?: string): Promise<number> {
  const trust = authorityFile === undefined ? [] : ['--cacert', authorityFile, '--no-sessionid'];
  const args = ['-sS', '--fail', '-H', 'Connection: close', ...trust, '-o', '/dev/null', `${url}?[1-${count}]`];
  return (await processorTimeOf('curl', args)) / count;
}

/** µs per packet of one fping that pings all addresses, so many packets each, and says no more than a summary. */
export async function measureFping(addresses: readonly string[], packets: number): Promise<number> {
  const args = ['-q', '-C', String(packets), '-p', '250', '-i', '1', ...addresses];
  return (await processorTimeOf('fping', args)) / (addresses.length * packets);
}

/** Processor time of a program, µs, as bash says, which knows it to a millisecond. */
async function processorTimeOf(program: string, args: readonly string[]): Promise<number> {
  const script = `TIMEFORMAT='%3U %3S'; time "$@" >/dev/null 2>/dev/null`;
  const options = { timeout: longestMs, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' } };
  const { stderr } = await run('bash', ['--norc', '-c', script, 'bash', program, ...args], options);
  const [user, system] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return ((user ?? Number.NaN) + (system ?? Number.NaN)) * 1e6;
}
