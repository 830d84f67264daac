import { defaultHours, invalidInput, longestWindowDays } from '@parallax/api-contract';
import type { Period, WindowQuery } from '@parallax/api-contract';
import { isZone } from '../../response/maintenance/index.ts';
import { periodAt } from './calendar.ts';

const hourMs = 3_600_000;
const longestMs = longestWindowDays * 24 * hourMs;
/** How far the evaluation of results is normally behind at most. */
export const normalLagMs = 60_000;

/** The window that was asked for: it begins at an instant or a number of hours before its end. */
export type WantedWindow = {
  readonly period: Period | null;
  readonly timezone: string;
  /** Null: now. */
  readonly endMs: number | null;
} & ({ readonly hours: number; readonly startMs: null } | { readonly hours: null; readonly startMs: number });

/** What a report is about: half-open, whole milliseconds since the epoch. */
export type ReportWindow = {
  /** What was asked for; null for two instants and for a period. */
  readonly hours: number | null;
  readonly period: Period | null;
  readonly timezone: string;
  readonly requestedFromMs: number;
  /** Later than `toMs` where the window has not ended. */
  readonly requestedToMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Why it begins later than asked. */
  readonly clampedBy: 'creation' | 'reset' | null;
  /** How far an open range is known to last. */
  readonly openUntilMs: number;
};

/** The last hours. */
export function lastHours(hours: number): WantedWindow {
  return { hours, period: null, timezone: 'UTC', startMs: null, endMs: null };
}

/**
 * The window that a query asks for.
 * @throws Problem `invalid_input` for one that contradicts itself, is empty, too long or lies in the future
 */
export function wantedWindow(query: WindowQuery, nowMs: number): WantedWindow {
  const { hours, start_time: start, end_time: end, period, timezone } = query;
  if (!isZone(timezone)) {
    throw invalidInput('query', '/timezone', 'unknown_timezone', 'must be an IANA time zone such as Europe/Berlin');
  }
  if (period !== undefined) {
    const beside = (['hours', 'start_time', 'end_time'] as const).find((name) => query[name] !== undefined);
    if (beside !== undefined) throw invalidInput('query', `/${beside}`, 'unexpected', 'is not taken beside period');
    const { fromMs, toMs } = periodAt(period, nowMs, { timezone, weekStarts: query.week_starts });
    return { hours: null, period, timezone, startMs: fromMs, endMs: toMs };
  }
  const endMs = end === undefined ? null : Date.parse(end);
  if (start === undefined) return { hours: hours ?? defaultHours, period: null, timezone, startMs: null, endMs };
  if (hours !== undefined) throw invalidInput('query', '/hours', 'unexpected', 'is not taken beside start_time');
  const startMs = Date.parse(start);
  if (startMs >= Math.min(endMs ?? nowMs, nowMs)) {
    throw invalidInput('query', '/start_time', 'empty_window', 'must be before end_time and before now');
  }
  if ((endMs ?? nowMs) - startMs > longestMs) {
    const message = `must be at most ${longestWindowDays} days before end_time`;
    throw invalidInput('query', '/start_time', 'window_too_long', message);
  }
  return { hours: null, period: null, timezone, startMs, endMs };
}

/**
 * A window as far as it is known: to where results are evaluated, which is seconds ago, so that those seconds do not count as
 * unknown; to now where the evaluation stands still, because then nobody knows. Not before the creation or the last reset.
 */
export function reportWindow(facts: {
  readonly wanted: WantedWindow;
  readonly nowMs: number;
  readonly createdMs: number;
  readonly resetMs: number | null;
  /** How far the monitor's shard is evaluated; null before its first round. */
  readonly foldedUntilMs: number | null;
}): ReportWindow {
  const { hours, period, timezone, startMs, endMs } = facts.wanted;
  const nowMs = Math.floor(facts.nowMs);
  const openUntilMs = Math.min(nowMs, Math.floor(facts.foldedUntilMs ?? nowMs));
  const knownMs = nowMs - openUntilMs <= normalLagMs ? openUntilMs : nowMs;
  const toMs = Math.min(endMs ?? knownMs, knownMs);
  const requestedFromMs = startMs ?? toMs - hours * hourMs;
  const createdMs = Math.ceil(facts.createdMs);
  const resetMs = facts.resetMs === null ? Number.NEGATIVE_INFINITY : Math.ceil(facts.resetMs);
  const floorMs = Math.max(createdMs, resetMs);
  return {
    hours,
    period,
    timezone,
    requestedFromMs,
    requestedToMs: endMs ?? toMs,
    fromMs: Math.min(toMs, Math.max(requestedFromMs, floorMs)),
    toMs,
    clampedBy: floorMs <= requestedFromMs ? null : resetMs > createdMs ? 'reset' : 'creation',
    openUntilMs,
  };
}
