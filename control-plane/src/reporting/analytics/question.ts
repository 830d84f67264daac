import { analyticsLimits, invalidInput, Problem } from '@parallax/api-contract';
import type { AnalyticsKind, analyticsBuckets } from '@parallax/api-contract';
import { isZone } from '../../response/maintenance/index.ts';
import { bucketEdges } from '../statistics/index.ts';

const dayMs = 86_400_000;
export const hourMs = 3_600_000;

/** Half-open, milliseconds. */
export type AskedWindow = { readonly fromMs: number; readonly toMs: number };

/**
 * The time that a question is about: it ends now at the latest.
 * @throws Problem `invalid_input` for one that is empty or too long
 */
export function askedWindow(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  nowMs: number,
): AskedWindow {
  const toMs = Math.min(Math.floor(nowMs), to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to));
  const fromMs = from === undefined ? toMs - analyticsLimits.usualDays * dayMs : Date.parse(from);
  if (fromMs >= toMs) throw invalidInput('query', '/from', 'empty_window', 'must be before to and before now');
  if (toMs - fromMs > analyticsLimits.longestDays * dayMs) {
    const message = `must be at most ${analyticsLimits.longestDays} days before to`;
    throw invalidInput('query', '/from', 'window_too_long', message);
  }
  return { fromMs, toMs };
}

/** As long a time before. */
export function windowBefore({ fromMs, toMs }: AskedWindow): AskedWindow {
  return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
}

/**
 * Bounds of the buckets of a window.
 * @throws Problem `invalid_input` for a zone that there is not, and `too_wide` for hours of a long time
 */
export function askedEdges(
  query: {
    readonly bucket: (typeof analyticsBuckets)[number];
    readonly timezone: string;
    readonly week_starts: number;
  },
  window: AskedWindow,
): number[] {
  const { bucket, timezone, week_starts: weekStarts } = query;
  if (!isZone(timezone)) {
    throw invalidInput('query', '/timezone', 'unknown_timezone', 'must be an IANA time zone such as Europe/Berlin');
  }
  const { longestDays } = analyticsLimits.hours;
  if (bucket === 'hour' && window.toMs - window.fromMs > longestDays * dayMs) {
    throw tooWide(`hours are answered of ${longestDays} days at most`);
  }
  return bucketEdges({ unit: bucket, size: 1 }, window, { timezone, weekStarts });
}

/** What to do about it is said: ask for less. */
export function tooWide(detail: string): Problem {
  return new Problem('too_wide', detail);
}

/** Kinds that are named by a number. */
const numbered: ReadonlySet<AnalyticsKind> = new Set(['workspace', 'group', 'probe', 'monitor']);

/**
 * The keys that a question names; undefined for all.
 * @throws Problem `invalid_input`
 */
export function askedKeys(by: AnalyticsKind, ids: string | undefined): string[] | undefined {
  if (ids === undefined) return undefined;
  const keys = [...new Set(ids.split(',').map((id) => id.trim()))];
  if (keys.length > analyticsLimits.mostIds) {
    throw invalidInput('query', '/ids', 'too_big', `must be at most ${analyticsLimits.mostIds}`);
  }
  const isKey = (id: string): boolean =>
    numbered.has(by) ? /^[1-9][0-9]{0,9}$/.test(id) && Number(id) <= 2_147_483_647 : id !== '';
  if (!keys.every(isKey)) {
    const message = numbered.has(by) ? 'must be numbers with commas between' : 'must be names with commas between';
    throw invalidInput('query', '/ids', 'invalid_format', message);
  }
  return keys;
}
