import type { Alert } from '../alert.ts';
import type { Occasion } from './occasion.ts';
import { quietUntil } from './quiet-hours.ts';

/** Why something is not told now, and until when where that is known: milliseconds since the epoch. */
export type Hold = {
  readonly reason: 'maintenance' | 'flapping' | 'muted' | 'quiet_hours';
  readonly untilMs: number | null;
};

/**
 * What holds back a message that an alert wants; null: nothing does. An end is not held by maintenance: whoever was told of the problem would
 * believe that it lasts.
 */
export function holdOf(alert: Alert, occasion: Occasion, nowMs: number, what: 'problem' | 'end'): Hold | null {
  if (occasion.isUnderMaintenance && what === 'problem') return { reason: 'maintenance', untilMs: null };
  if (occasion.isFlapping) return { reason: 'flapping', untilMs: null };
  if (alert.mutedUntilMs !== null && alert.mutedUntilMs > nowMs)
    return { reason: 'muted', untilMs: alert.mutedUntilMs };
  const untilMs = quietUntil(alert.quietHours, occasion.severity, nowMs);
  return untilMs === null ? null : { reason: 'quiet_hours', untilMs };
}
