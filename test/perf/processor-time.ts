import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in /proc; fixed on Linux. */
const ticksPerSecond = 100;

/**
 * Processor time, user and system, of a process and all below it, in µs: those that live, and those that ended and were waited for.
 * Linux only.
 */
export function processorTimeUs(root: number): number {
  return inUs(ticksBelow(root));
}

/** The same of what the process has started only, without itself. */
export function startedTimeUs(root: number): number {
  const own = statOf(root);
  return own === undefined ? 0 : inUs(ticksBelow(root) - own.ticks + own.childTicks);
}

function ticksBelow(root: number): number {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat !== undefined) stats.set(Number(name), stat);
  }
  let ticks = 0;
  for (const [pid, stat] of stats) if (isBelow(stats, pid, root)) ticks += stat.ticks;
  return ticks;
}

function inUs(ticks: number): number {
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** `ticks` with those of the children that ended. */
type Stat = { readonly parent: number; readonly ticks: number; readonly childTicks: number };

function statOf(pid: number): Stat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold spaces; the fields that follow do not.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent] = fields;
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15);
  const childTicks = (childrenUser ?? 0) + (childrenSystem ?? 0);
  return { parent: parent ?? 0, ticks: (user ?? 0) + (system ?? 0) + childTicks, childTicks };
}

function isBelow(stats: ReadonlyMap<number, { parent: number }>, pid: number, root: number): boolean {
  for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) if (at === root) return true;
  return false;
}
