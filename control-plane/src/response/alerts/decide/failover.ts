import type { Told } from './occasion.ts';

/** So long a first message may be under way before somebody else is told. */
export const failoverAfterMs = 60_000;

/** Whether a target could not be told of the present problem in time; if not yet, when it is to be asked again. */
export function failoverOf(
  told: Told | undefined,
  nowMs: number,
): { readonly isDue: boolean; readonly nextMs: number | null } {
  if (told?.state !== 'problem' || told.sentMs !== null) return { isDue: false, nextMs: null };
  if (told.lostMs !== null) return { isDue: true, nextMs: null };
  if (told.queuedMs === null) return { isDue: false, nextMs: null };
  const dueMs = told.queuedMs + failoverAfterMs;
  return dueMs <= nowMs ? { isDue: true, nextMs: null } : { isDue: false, nextMs: dueMs };
}
