import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { startDaySums } from './refresh.job.ts';
import type { Forgetting } from './refresh.job.ts';

export { readSums } from './read.queries.ts';
export type { SummedTime, SumKey, SumSelection } from './read.queries.ts';
export { removeDaysOfWorkspace, removeSubjectDays } from './hooks.queries.ts';
export { readSpans } from './spans.queries.ts';
export type { SubjectIds } from './spans.queries.ts';
export type { StoredSpan } from './stored-spans.ts';
export { subjectTypes } from './subject-type.ts';
export type { SubjectType } from './subject-type.ts';

/**
 * Sums of the UTC days of monitors, heartbeats and webhook checks, as measured: `subject_days`. Whoever asks for the time of many subjects
 * reads these and not their ranges.
 * @param forgetting what other capabilities of this area remove once an hour, too: so none of them needs a timer of its own
 */
export function createDaySumsCapability(forgetting: readonly Forgetting[] = []): Capability<Context> {
  return {
    name: 'day-sums',
    services: [{ name: 'day sums', role: 'worker', start: (context, log) => startDaySums(context, log, forgetting) }],
  };
}
