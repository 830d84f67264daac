import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What this process holds of the system: descriptors by what they lead to, child processes by their id, and timers that are due. */
export type HeldOpen = {
  readonly things: ReadonlySet<string>;
  /** Descriptors of which many lead to the same name, such as `anon_inode:[eventpoll]`. */
  readonly alike: ReadonlyMap<string, number>;
  readonly timers: number;
};

/** Looks at /proc, so Linux only; elsewhere it sees what Node knows of. Two looks are compared with `leftOpen`. */
export function heldOpen(): HeldOpen {
  const things = new Set<string>();
  const alike = new Map<string, number>();
  for (const target of descriptors()) {
    if (/^(socket|pipe):\[\d+\]$/.test(target)) things.add(target);
    else alike.set(target, (alike.get(target) ?? 0) + 1);
  }
  for (const pid of children()) things.add(`process ${pid}`);
  const resources = process.getActiveResourcesInfo();
  for (const kind of resources)
    if (/TCP|UDP|TLS|Process|Query|GetAddrInfo/.test(kind)) alike.set(kind, (alike.get(kind) ?? 0) + 1);
  return { things, alike, timers: resources.filter((kind) => kind === 'Timeout').length };
}

/**
 * What is held now and was not before. Sockets, pipes and processes are told apart by their numbers, so that what ended in between hides
 * nothing; all else is counted.
 */
export function leftOpen(before: HeldOpen): readonly string[] {
  const now = heldOpen();
  const more = [...now.alike].filter(([name, count]) => count > (before.alike.get(name) ?? 0)).map(([name]) => name);
  const timers = now.timers > before.timers ? [`${now.timers - before.timers} timers`] : [];
  return [...[...now.things].filter((each) => !before.things.has(each)), ...more, ...timers];
}

function descriptors(): readonly string[] {
  return entries('/proc/self/fd').flatMap((number) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${number}`);
      // The look itself.
      return target.startsWith('/proc/') ? [] : [target];
    } catch {
      return [];
    }
  });
}

function children(): readonly string[] {
  return entries('/proc/self/task').flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').filter(Boolean);
    } catch {
      return [];
    }
  });
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
