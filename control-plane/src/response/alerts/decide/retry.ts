import type { Fault } from '../channels-gateway.ts';

/** Seconds to wait after each failed attempt; after the last there is no other. */
const delaysSeconds = [5, 30, 120, 600, 1_800];

/** Attempts after which a message is given up. */
export const mostAttempts = delaysSeconds.length + 1;

/** So long a service may ask us to wait, at most: a day. */
const longestWaitMs = 86_400_000;

/**
 * When a message that could not be sent is tried again, milliseconds since the epoch; null: never.
 * @param attempts how many there were, this one included
 */
export function retryAtMs(
  attempts: number,
  fault: Fault,
  retryAfterMs: number | undefined,
  nowMs: number,
): number | null {
  const delay = delaysSeconds[attempts - 1];
  if (fault !== 'passing' || delay === undefined) return null;
  return nowMs + Math.max(delay * 1_000, Math.min(retryAfterMs ?? 0, longestWaitMs));
}
