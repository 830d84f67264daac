import { invalidInput } from '@parallax/api-contract';

const dayMs = 86_400_000;
/** The longest window of a report. */
const longestDays = 90;

/**
 * Refuses a time that cannot be corrected, whatever was measured in it.
 * @throws Problem `invalid_input`
 */
export function requireCorrectable(
  { startedMs, endedMs }: { readonly startedMs: number; readonly endedMs: number },
  nowMs: number,
): void {
  if (endedMs <= startedMs) {
    throw invalidInput(
      'body',
      '/ended_at',
      'order',
      'ended_at must be later than started_at, by a millisecond at least',
    );
  }
  if (endedMs > nowMs) throw invalidInput('body', '/ended_at', 'future', 'ended_at lies in the future');
  if (endedMs - startedMs > longestDays * dayMs) {
    throw invalidInput('body', '/ended_at', 'too_long', `a correction covers ${longestDays} days at most`);
  }
}
