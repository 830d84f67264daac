import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** How a process shares the machine: the first core for itself, all others, or any. */
export type Cores = 'first' | 'others' | 'any';

/** Keeps all threads of a process to some cores. @returns whether that was done: it needs Linux, `taskset` and a second core */
export function keepTo(pid: number, cores: Cores): boolean {
  const last = availableParallelism() - 1;
  if (last < 1) return false;
  const list = cores === 'first' ? '0' : cores === 'others' ? `1-${last}` : `0-${last}`;
  return spawnSync('taskset', ['-a', '-c', '-p', list, String(pid)]).status === 0;
}
