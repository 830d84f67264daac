import type { AgentSettings } from '@parallax/settings';
import type { CheckerOptions } from '../runner/checker.ts';
import type { ThreadStarter } from './check-worker.ts';
import { workerCount } from './pool.ts';
import { ownProgram } from './program.ts';
import { startThread } from './thread.ts';

export type WantedWorkers = {
  readonly count: number;
  readonly checker: CheckerOptions;
  readonly startThread: ThreadStarter;
};

/** The threads that the settings ask for; undefined for one: the main thread then runs the checks itself, which needs the least memory. */
export function wantedWorkers(settings: AgentSettings, checker: CheckerOptions): WantedWorkers | undefined {
  const count = workerCount(settings.workers, settings.maxInFlight);
  if (count === 1) return undefined;
  const program = ownProgram(process.argv[1]);
  return { count, checker, startThread: (start, name) => startThread(program, start, name) };
}
