// A server that is away for a moment, one that makes strangers wait (greylisting asks for some minutes), one that is down for the night.
const waits = [5, 30, 120, 600, 1_800] as const;
const hourly = 3_600;
const patienceMs = 24 * 3_600_000;

/**
 * Seconds until a mail is tried again after `attempts` tries failed (1 or more), or undefined when it is given up: it is a day old.
 */
export function retryAfterSeconds(attempts: number, createdMs: number, nowMs: number): number | undefined {
  const wait = waits[attempts - 1] ?? hourly;
  return nowMs + wait * 1_000 - createdMs > patienceMs ? undefined : wait;
}
