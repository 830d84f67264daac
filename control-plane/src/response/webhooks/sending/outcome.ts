/** Seconds from each failed attempt to the next; after the last there is none. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

/** Attempts of one round. */
export const mostTries = delaysSeconds.length + 1;

const leastBusyMs = 60_000;
const mostAskedMs = 3_600_000;

/** What came of an attempt. */
export type Attempt = {
  readonly atMs: number;
  readonly durationMs: number;
  /** Null: nobody answered. */
  readonly statusCode: number | null;
  /** Null: it arrived. */
  readonly errorCode: string | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly retryAfterMs: number | undefined;
};

/** What becomes of a delivery. */
export type Outcome =
  | { readonly state: 'delivered' }
  | { readonly state: 'failed'; readonly isGone: boolean }
  | { readonly state: 'queued'; readonly dueMs: number };

/**
 * Decides what becomes of a delivery after an attempt.
 * @param tries attempts of this round, this one included
 * @param random from 0 to 1, for the jitter of ±20 %
 */
export function outcomeOf(attempt: Attempt, tries: number, random: number): Outcome {
  const { errorCode, statusCode, retryAfterMs, atMs, durationMs } = attempt;
  if (errorCode === null) return { state: 'delivered' };
  if (statusCode === 410) return { state: 'failed', isGone: true };
  const delay = delaysSeconds[tries - 1];
  if (delay === undefined) return { state: 'failed', isGone: false };
  const jittered = delay * 1_000 * (0.8 + 0.4 * random);
  const isBusy = errorCode === 'timeout' || statusCode === 429 || statusCode === 502 || statusCode === 504;
  const base = isBusy ? Math.max(leastBusyMs, jittered) : jittered;
  const asked = Math.min(retryAfterMs ?? 0, Math.max(2 * base, mostAskedMs));
  return { state: 'queued', dueMs: Math.round(atMs + durationMs + Math.max(base, asked)) };
}

/** The bucket of a duration in a sketch whose bounds grow by 2 %, so that a quantile is at most 1 % off. */
export const bucketOf = (ms: number): number => (ms < 1 ? 0 : Math.floor(Math.log(ms) / Math.log(growth)) + 1);
const growth = 1.02;

/** What a bucket stands for, in milliseconds. */
export const middleOf = (bucket: number): number => (bucket === 0 ? 0 : (2 * growth ** bucket) / (1 + growth));

/** A quantile by nearest rank; null when nothing was counted. @param buckets by number, ascending */
export function quantileOf(
  buckets: readonly { readonly bucket: number; readonly count: number }[],
  q: number,
): number | null {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  let left = Math.max(1, Math.ceil(q * total));
  for (const { bucket, count } of buckets) {
    left -= count;
    if (left <= 0) return Math.round(middleOf(bucket));
  }
  return null;
}
