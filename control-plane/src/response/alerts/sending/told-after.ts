import type { Part } from './queries.ts';

/** What took longer from its finding to the queue was held back, or its alert has a delay. */
export const mostUnheldMs = 30_000;

/**
 * How long after the finding of a problem its first message arrived, milliseconds; of what was held back or delayed, how long after the end of that.
 * Undefined for what tells of something else, or gathers what quiet hours held.
 */
export function toldAfterMs(
  { kind, found_at: foundMs, queued_at: queuedMs }: Pick<Part, 'kind' | 'found_at' | 'queued_at'>,
  isAfterQuiet: boolean,
  arrivedMs: number,
): number | undefined {
  if (kind !== 'opened' || isAfterQuiet) return undefined;
  const isLate = queuedMs !== null && queuedMs - foundMs > mostUnheldMs;
  return Math.max(0, arrivedMs - (isLate ? queuedMs : foundMs));
}
