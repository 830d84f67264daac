import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Workers of which one works at a time; the next ones are loaded already, so that many can be killed in a short time. */
export type Crew = {
  /** Has the next one begin when the one that works has ended. `aheadMs`: how far its clock is ahead. */
  readonly keepWorking: (aheadMs: () => number) => Promise<void>;
  readonly kill: () => void;
  readonly end: () => Promise<void>;
};

const loadedAhead = 2;

export function startCrew(args: readonly string[]): Crew {
  const waiting: { readonly child: ChildProcess; readonly ready: Promise<unknown> }[] = [];
  const all = new Set<ChildProcess>();
  let working: ChildProcess | undefined;
  const hire = (): void => {
    const child = fork(path.join(import.meta.dirname, 'worker.ts'), [...args]);
    all.add(child);
    child.once('exit', () => all.delete(child));
    waiting.push({ child, ready: once(child, 'message') });
  };
  for (let n = 0; n <= loadedAhead; n += 1) hire();
  return {
    keepWorking: async (aheadMs) => {
      if (working?.exitCode === null && working.signalCode === null) return;
      hire();
      const next = waiting.shift();
      if (next === undefined) return;
      await next.ready;
      working = next.child;
      working.send(aheadMs());
    },
    kill: () => void working?.kill('SIGKILL'),
    end: async () => {
      const ended = [...all].map((child) => once(child, 'exit'));
      for (const child of all) child.kill('SIGKILL');
      await Promise.all(ended);
    },
  };
}
