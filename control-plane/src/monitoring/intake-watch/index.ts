import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startIntakeWatch } from './job.ts';
import type { MoveDeadlines } from './queries.ts';

export { intakeOutages, uncountedSince } from './queries.ts';
export type { MoveDeadlines } from './queries.ts';
export { countedMs } from './uncounted.ts';
export type { Uncounted } from './uncounted.ts';

/**
 * Until when somebody was there to be told: deadlines of what tells of itself are judged up to then, and wait for those who could not.
 * @param movers of each kind of deadlines
 */
export function createIntakeWatch(movers: readonly MoveDeadlines[]): Capability<Context> {
  return {
    name: 'intake-watch',
    services: [{ name: 'intake watch', role: 'api', start: (context, log) => startIntakeWatch(context, log, movers) }],
  };
}
