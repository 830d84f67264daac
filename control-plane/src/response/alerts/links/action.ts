import { alertLinkActions } from '@parallax/api-contract';
import type { AlertLinkAction } from '@parallax/api-contract';
import { instantOf, wallOf } from '../../maintenance/index.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const morningMs = 9 * hourMs;

/** What the form of the page asks for; undefined for anything else. @param body as a browser sends it */
export function actionOf(body: Buffer | undefined): AlertLinkAction | undefined {
  const action = new URLSearchParams(body?.toString('utf8') ?? '').get('action');
  return alertLinkActions.find((known) => known === action);
}

/**
 * The next nine o'clock in the morning of a zone that is at least an hour away, in milliseconds since the epoch.
 * @throws RangeError for a zone that is not known
 */
export function nextMorning(nowMs: number, timezone: string): number {
  const wallMs = wallOf(nowMs + hourMs, timezone);
  const today = Math.floor(wallMs / dayMs) * dayMs + morningMs;
  return instantOf(today >= wallMs ? today : today + dayMs, timezone).ms;
}

/** Until when an action silences, in milliseconds since the epoch; null: it does not. */
export function snoozeUntil(action: AlertLinkAction, nowMs: number, timezone: string): number | null {
  switch (action) {
    case 'acknowledge':
      return null;
    case 'snooze_1h':
      return nowMs + hourMs;
    case 'snooze_4h':
      return nowMs + 4 * hourMs;
    case 'snooze_morning':
      return nextMorning(nowMs, timezone);
  }
}
