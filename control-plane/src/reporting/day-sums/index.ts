import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startDaySums } from './refresh.job.ts';

export { readSums } from './read.queries.ts';
export type { SummedTime, SumKey, SumSelection } from './read.queries.ts';
export { removeDaysOfWorkspace, removeSubjectDays } from './hooks.queries.ts';
export type { SubjectType } from './subject-type.ts';

/**
 * Sums of the UTC days of monitors, heartbeats and webhook checks, as measured: `subject_days`. Whoever asks for the time of many subjects
 * reads these and not their ranges.
 */
export const daySumsCapability: Capability<Context> = {
  name: 'day-sums',
  services: [{ name: 'day sums', role: 'worker', start: startDaySums }],
};
