import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Linux counts them so for programs, whatever the kernel uses itself. */
const ticksPerSecond = 100;

/** Seconds of processor time of all ended child processes and of those that they had waited for; undefined without /proc. */
export function endedChildrenSeconds(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // proc(5): the name in parentheses may hold anything; fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user, system] = [Number(fields[13]), Number(fields[14])];
    return (user + system) / ticksPerSecond;
  } catch {
    return undefined;
  }
}

/** Seconds that all processors of this machine have computed since it was started, for whomever. */
export function machineSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1_000, 0);
}

/** Tells at each call how many cores of this machine were idle since the call before, on average. */
export function createIdleMeter(): () => number {
  let last = { ms: performance.now(), idle: idleSeconds() };
  return () => {
    const now = { ms: performance.now(), idle: idleSeconds() };
    const idle = ((now.idle - last.idle) * 1_000) / Math.max(1, now.ms - last.ms);
    last = now;
    return idle;
  };
}

function idleSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle / 1_000, 0);
}
