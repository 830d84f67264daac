import type { AvailabilityReport, TimeByStatus } from '../../statistics/index.ts';
import type { Correction } from '../report.ts';
import { canonicalJson } from './canonical.ts';
import type { CanonicalValue } from './canonical.ts';

/** The figures of one UTC day of a monitor, as measured. */
export type DaySummary = {
  /** `2026-03-01`. */
  readonly day: string;
  /** The part of the day in which the monitor was there, since its creation or last reset; half-open. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly time: TimeByStatus;
  /** Outages that began on it. */
  readonly outages: number;
};

/** Where an entry stands. */
export type EntryPlace = {
  readonly monitorId: number;
  readonly chain: number;
  readonly seq: number;
  readonly atMs: number;
};

/** What a day's report comes to. */
export function daySummary(
  day: string,
  window: { readonly fromMs: number; readonly toMs: number },
  report: AvailabilityReport,
): DaySummary {
  return { day, ...window, time: report.measured, outages: report.days[0]?.outages ?? 0 };
}

/** Text of an entry that closes a day, or says what became of a closed one. */
export function dayEntry(kind: 'day' | 'revision', summary: DaySummary, place: EntryPlace): string {
  return canonicalJson({ ...placeFields(kind, place), ...figuresOf(summary) });
}

/** Text of an entry for a correction. */
export function correctionEntry(correction: Correction, place: EntryPlace): string {
  return canonicalJson({
    ...placeFields('correction', place),
    correction_id: correction.id,
    started_at: iso(correction.startedMs),
    ended_at: iso(correction.endedMs),
    counted_as: correction.countedAs,
    reason: correction.reason,
    user_id: correction.userId,
    user: correction.by,
    before: timeFields(correction.before),
    after: timeFields(correction.after),
  });
}

/** Whether the text of an entry has just these figures of a day. */
export function saysTheSame(entry: string, summary: DaySummary): boolean {
  const told: unknown = JSON.parse(entry);
  if (typeof told !== 'object' || told === null) return false;
  const fields = new Map(Object.entries(told));
  return Object.entries(figuresOf(summary)).every(([name, value]) => fields.get(name) === value);
}

function placeFields(kind: string, place: EntryPlace): Readonly<Record<string, CanonicalValue>> {
  return { kind, monitor_id: place.monitorId, chain: place.chain, seq: place.seq, at: iso(place.atMs) };
}

function figuresOf({ day, fromMs, toMs, time, outages }: DaySummary): Readonly<Record<string, CanonicalValue>> {
  return { day, from: iso(fromMs), to: iso(toMs), outages, ...timeFields(time) };
}

/** Milliseconds, because they are whole. */
function timeFields(time: TimeByStatus): Readonly<Record<string, CanonicalValue>> {
  return {
    up_ms: time.upMs,
    degraded_ms: time.degradedMs,
    down_ms: time.downMs,
    timeout_ms: time.timeoutMs,
    unknown_ms: time.unknownMs,
    maintenance_ms: time.maintenanceMs,
    paused_ms: time.pausedMs,
    excluded_ms: time.excludedMs,
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
