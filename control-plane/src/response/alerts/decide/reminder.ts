import type { Alert } from '../alert.ts';
import type { Occasion, Told } from './occasion.ts';
import { earlier } from './wants.ts';

/**
 * When a target is to be reminded of a problem that lasts; null: never. What somebody takes care of needs no reminder. After a snooze there is
 * one, whatever the alert says: the reader asked for it.
 * @param alerts those that may speak to it
 */
export function reminderDueMs(alerts: readonly Alert[], occasion: Occasion, told: Told): number | null {
  if (occasion.isAcknowledged || !occasion.isLasting || told.lastMs === null) return null;
  const afterSnoozeMs = told.snoozedUntilMs !== null && told.snoozedUntilMs > told.lastMs ? told.snoozedUntilMs : null;
  const seconds = alerts.reduce<number | null>((least, alert) => earlier(least, alert.reminderIntervalSeconds), null);
  const byIntervalMs = seconds === null ? null : told.lastMs + seconds * 1_000;
  if (afterSnoozeMs !== null) return byIntervalMs === null ? afterSnoozeMs : Math.max(afterSnoozeMs, byIntervalMs);
  return byIntervalMs;
}
