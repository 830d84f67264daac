/** What is known of the age of a page in memory. Times are milliseconds since the epoch. */
export type PageAge = {
  /** When the reading of what is shown began. */
  readonly readMs: number;
  /** Since when it is known that something has changed; null: nothing. */
  readonly changedMs: number | null;
  /** When reading it anew failed last, since it was read; null: it has not. */
  readonly failedMs: number | null;
};

/** `serve`: what is there; `refresh`: the same, while it is read anew; `wait`: for the new one. */
export type Serving = 'serve' | 'refresh' | 'wait';

/** A page that is asked for is read anew after so long. */
export const freshMs = 30_000;
/** One that nobody has asked for since then is not shown any more: whoever asks waits for the new one. */
export const staleMs = 60_000;
/** A change is seen within two seconds: a page that is known to be older is not shown. */
export const changeMs = 1_500;
/** After a failure the database is left alone for so long. */
export const retryMs = 5_000;

/** Whether a page is shown as it is. While it cannot be read anew, it is, whatever its age: a status page is read when all else is broken. */
export function servingOf({ readMs, changedMs, failedMs }: PageAge, nowMs: number): Serving {
  if (failedMs !== null) return nowMs - failedMs < retryMs ? 'serve' : 'refresh';
  if (nowMs - readMs >= staleMs || (changedMs !== null && nowMs - changedMs > changeMs)) return 'wait';
  return changedMs !== null || nowMs - readMs >= freshMs ? 'refresh' : 'serve';
}
