import { fallbackFlag } from '../../../control-plane/src/monitoring/check-results/flags.ts';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import type { LivedMonitor, LivedMonth } from './lived-month.ts';
import { referenceTimeline } from './reference-timeline.ts';
import type { ReferenceRange, ReferenceSegment, ReferenceTimeline } from './reference-timeline.ts';

/*
 * What every endpoint must say of a monitor, computed in the plainest way from all of its raw rows and what befell it: sums over lists that are
 * gone through anew for each question.
 */

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A monitor with its results as they count, oldest first, and its timeline. */
export type Subject = LivedMonitor & {
  readonly timeline: ReferenceTimeline;
  readonly outages: readonly FoundOutage[];
  readonly foldedMs: number;
  readonly probes: LivedMonth['probes'];
  readonly probeIds: readonly number[];
};

/** A run of DOWN and TIMEOUT, milliseconds. */
type FoundOutage = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly isOpen: boolean;
  readonly parts: readonly ReferenceRange[];
};
export type Window = { readonly fromMs: number; readonly toMs: number };

export const ms = (us: number): number => Math.floor(us / 1_000);
export const iso = (at: number): string => new Date(at).toISOString();
const isDown = ({ status }: ReferenceRange): boolean => status === 'DOWN' || status === 'TIMEOUT';

export function subjectOf(monitor: LivedMonitor, month: LivedMonth): Subject {
  const { made } = monitor;
  const sinceUs = made.resetUs ?? Number.NEGATIVE_INFINITY;
  const rows = monitor.rows.filter(({ eUs }) => eUs >= sinceUs).toSorted(inOrder);
  const untilUs = month.foldedUs + 1;
  const timeline = referenceTimeline({ monitor: made, rows, probeIds: month.probeIds, probes: month.probes, untilUs });
  const outages: FoundOutage[] = [];
  for (const range of timeline.ranges.filter(isDown)) {
    const last = outages.at(-1);
    const touches = last?.parts.at(-1)?.toUs === range.fromUs;
    const found = {
      fromMs: touches ? last.fromMs : ms(range.fromUs),
      toMs: ms(range.toUs),
      isOpen: range.toUs >= untilUs,
      parts: [...(touches ? last.parts : []), range],
    };
    if (touches) outages[outages.length - 1] = found;
    else outages.push(found);
  }
  return {
    ...monitor,
    rows,
    timeline,
    outages,
    foldedMs: ms(month.foldedUs),
    probes: month.probes,
    probeIds: month.probeIds,
  };
}

/** Ties by probe, receipt, flags and duration. */
function inOrder(one: IngestRow, other: IngestRow): number {
  return (
    one.eUs - other.eUs ||
    one.voter - other.voter ||
    one.receivedUs - other.receivedUs ||
    one.flags - other.flags ||
    one.totalUs - other.totalUs
  );
}

// ---- windows and time ------------------------------------------------------------------------------------------------------------

const floorMs = ({ made }: Subject): number => Math.max(ms(made.createdUs), ms(made.resetUs ?? 0));

export function windowOf(subject: Subject, hours: number): Window {
  return { fromMs: Math.max(subject.foldedMs - hours * hourMs, floorMs(subject)), toMs: subject.foldedMs };
}

function windowFields(subject: Subject, hours: number) {
  const askedMs = subject.foldedMs - hours * hourMs;
  const isCut = floorMs(subject) > askedMs;
  return {
    hours,
    requested_from: iso(askedMs),
    from: iso(Math.max(askedMs, floorMs(subject))),
    to: iso(subject.foldedMs),
    clamped_by: isCut ? (subject.made.resetUs === null ? 'creation' : 'reset') : null,
  };
}

/** How much of a stretch lies in a window. */
function overlap(window: Window, fromMs: number, toMs: number): number {
  return Math.max(0, Math.min(window.toMs, toMs) - Math.max(window.fromMs, fromMs));
}

const lengthIn = (window: Window, list: readonly ReferenceRange[], status: string): number =>
  list.reduce(
    (sum, range) => (range.status === status ? sum + overlap(window, ms(range.fromUs), ms(range.toUs)) : sum),
    0,
  );

/** Milliseconds by what they count as. */
function timeIn({ made, foldedMs }: Subject, window: Window, ranges: readonly ReferenceRange[]) {
  const up = lengthIn(window, ranges, 'UP');
  const degraded = lengthIn(window, ranges, 'DEGRADED');
  const down = lengthIn(window, ranges, 'DOWN');
  const timeout = lengthIn(window, ranges, 'TIMEOUT');
  const paused = made.pauses.reduce(
    (sum, { fromUs, toUs }) => sum + overlap(window, ms(fromUs), toUs === null ? foldedMs : ms(toUs)),
    0,
  );
  const unknown = Math.max(0, window.toMs - window.fromMs) - up - degraded - down - timeout - paused;
  return { up, degraded, down, timeout, unknown, maintenance: 0, paused };
}

type Time = ReturnType<typeof timeIn>;
const upMs = ({ up, degraded }: Time): number => up + degraded;
const downMs = ({ down, timeout }: Time): number => down + timeout;
const percentUp = (time: Time): number | null =>
  upMs(time) + downMs(time) === 0 ? null : Math.floor((upMs(time) * 1_000_000) / (upMs(time) + downMs(time))) / 10_000;
const fourDecimals = (figure: number | null): number | null => (figure === null ? null : Number(figure.toFixed(4)));

function inSeconds(time: Time) {
  return {
    up: time.up / 1_000,
    degraded: time.degraded / 1_000,
    down: time.down / 1_000,
    timeout: time.timeout / 1_000,
    unknown: time.unknown / 1_000,
    maintenance: 0,
    paused: time.paused / 1_000,
  };
}

// ---- results ---------------------------------------------------------------------------------------------------------------------

const rowsIn = ({ rows }: Subject, { fromMs, toMs }: Window): IngestRow[] =>
  rows.filter(({ eUs }) => eUs >= fromMs * 1_000 && eUs < toMs * 1_000);
export const isFallback = ({ flags }: IngestRow): boolean => (flags & fallbackFlag) !== 0;
const isAnswer = ({ outcome }: IngestRow): boolean => outcome === 'ok' || outcome === 'slow' || outcome === 'warn';
const isTimed = (row: IngestRow): boolean => row.kind === 'scheduled' && isAnswer(row) && !isFallback(row);

function responseTimes(rows: readonly IngestRow[]) {
  const times = rows
    .filter(isTimed)
    .map(({ totalUs }) => totalUs)
    .sort((one, other) => one - other);
  const ranked = (q: number): number | null => {
    const us = times[Math.max(1, Math.ceil(q * times.length)) - 1];
    return us === undefined ? null : us / 1_000;
  };
  const sumUs = times.reduce((sum, us) => sum + us, 0);
  return {
    count: times.length,
    mean_ms: times.length === 0 ? null : Math.round(sumUs / times.length) / 1_000,
    min_ms: ranked(0),
    max_ms: ranked(1),
    p50_ms: ranked(0.5),
    p90_ms: ranked(0.9),
    p95_ms: ranked(0.95),
    p99_ms: ranked(0.99),
  };
}

function checkCounts(rows: readonly IngestRow[]) {
  const own = rows.filter(({ kind }) => kind !== 'manual');
  const of = (outcome: string): number => own.filter((row) => row.outcome === outcome).length;
  return {
    total: own.length,
    ok: of('ok'),
    slow: of('slow'),
    warn: of('warn'),
    fail: of('fail'),
    timeout: of('timeout'),
    skipped: of('skipped'),
    probe_error: of('probe_error'),
    fallback: own.filter(isFallback).length,
    manual: rows.length - own.length,
  };
}

type ProbePart = {
  readonly probe_id: number | null;
  readonly name: string;
  readonly region: string;
  readonly rows: IngestRow[];
  readonly time: Time;
};

/** Who was assigned in the window or has results in it. */
function probesIn(subject: Subject, window: Window, rows: readonly IngestRow[]): ProbePart[] {
  const assigned = subject.made.seats
    .filter(({ fromUs, toUs }) => ms(fromUs) < window.toMs && (toUs === null || toUs > window.fromMs * 1_000))
    .map(({ probe }) => subject.probeIds[probe - 1] ?? 0);
  const voters = [...new Set([...assigned, ...rows.map(({ voter }) => voter)])].sort(
    (one, other) => (one || 1e9) - (other || 1e9),
  );
  return voters.map((voter) => {
    const probe = subject.probes.get(voter);
    return {
      probe_id: voter === 0 ? null : voter,
      name: probe === undefined ? 'control plane' : `probe ${probe.number}`,
      region: probe?.region ?? 'central',
      rows: rows.filter((row) => row.voter === voter),
      time: timeIn(subject, window, subject.timeline.ownRanges.get(voter) ?? []),
    };
  });
}

// ---- outages ---------------------------------------------------------------------------------------------------------------------

const outagesIn = ({ outages }: Subject, window: Window): readonly FoundOutage[] =>
  outages.filter(({ fromMs, toMs }) => overlap(window, fromMs, toMs) > 0);

/** @param list those of the window */
function outageFigures(subject: Subject, window: Window, list: readonly FoundOutage[]) {
  const ended = list.filter(({ isOpen, toMs }) => !isOpen && toMs <= window.toMs);
  const repairMs = ended.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const [first] = list;
  const last = list.at(-1);
  const between: Window = {
    fromMs: Math.max(window.fromMs, first?.fromMs ?? 0),
    toMs: Math.max(window.fromMs, last?.fromMs ?? 0),
  };
  const uptimeMs = upMs(timeIn(subject, between, subject.timeline.ranges));
  return {
    incidents: list.length,
    mttr_seconds: ended.length === 0 ? null : Math.round(repairMs / ended.length) / 1_000,
    mtbf_seconds: list.length < 2 ? null : Math.round(uptimeMs / (list.length - 1)) / 1_000,
  };
}

function outageAnswer({ foldedMs }: Subject, window: Window, { fromMs, toMs, isOpen, parts }: FoundOutage) {
  const knownMs = isOpen ? foldedMs : toMs;
  const down = lengthIn(window, parts, 'DOWN');
  const timeout = lengthIn(window, parts, 'TIMEOUT');
  return {
    started_at: iso(fromMs),
    ended_at: isOpen ? null : iso(toMs),
    duration_seconds: (knownMs - fromMs) / 1_000,
    downtime_seconds: overlap(window, fromMs, knownMs) / 1_000,
    status: down >= timeout ? 'DOWN' : 'TIMEOUT',
    is_corrected: false,
  };
}

// ---- answers ---------------------------------------------------------------------------------------------------------------------

/** The segment that holds now. */
export function presentOf({ timeline }: Subject): ReferenceSegment<string> | undefined {
  return timeline.segments.at(-1);
}

export const isPaused = ({ made }: Subject): boolean => made.pauses.some(({ toUs }) => toUs === null);

/** The newest result that nobody asked for by hand. */
export function latestOf({ rows }: Subject): { last_checked_at: string | null; last_response_time_ms: number | null } {
  const row = rows.findLast(({ kind }) => kind !== 'manual');
  if (row === undefined) return { last_checked_at: null, last_response_time_ms: null };
  return {
    last_checked_at: iso(ms(row.eUs)),
    last_response_time_ms: isAnswer(row) && !isFallback(row) ? row.totalUs / 1_000 : null,
  };
}

export function statsOf(subject: Subject, hours: number) {
  const window = windowOf(subject, hours);
  const rows = rowsIn(subject, window);
  const time = timeIn(subject, window, subject.timeline.ranges);
  return {
    monitor_id: subject.id,
    ...windowFields(subject, hours),
    status: isPaused(subject) ? 'UNKNOWN' : (presentOf(subject)?.status ?? 'UNKNOWN'),
    last_checked_at: latestOf(subject).last_checked_at,
    uptime_percent: percentUp(time),
    seconds: inSeconds(time),
    downtime_seconds: downMs(time) / 1_000,
    outages: outagesIn(subject, window).length,
    checks: checkCounts(rows),
    response_time: responseTimes(rows),
    probes: probesIn(subject, window, rows).map(({ probe_id, name, region, rows: own, time: ownTime }) => ({
      probe_id,
      name,
      region,
      uptime_percent: percentUp(ownTime),
      checks: checkCounts(own),
      response_time: responseTimes(own),
    })),
  };
}

/** All but the bars, which are judged by `judgedBars`. */
export function distributionOf(subject: Subject, hours: number, probeId?: number) {
  const rows = rowsIn(subject, windowOf(subject, hours)).filter(
    ({ voter }) => probeId === undefined || voter === probeId,
  );
  return { monitor_id: subject.id, probe_id: probeId ?? null, ...windowFields(subject, hours), ...responseTimes(rows) };
}

type Bar = { readonly from_ms: number; readonly to_ms: number; readonly count: number };

/** What the same bars must hold. */
export function judgedBars(subject: Subject, hours: number, probeId: number | undefined, bars: readonly Bar[]): Bar[] {
  const rows = rowsIn(subject, windowOf(subject, hours)).filter(
    (row) => isTimed(row) && (probeId === undefined || row.voter === probeId),
  );
  return bars.map((bar) => ({
    ...bar,
    count: rows.filter(({ totalUs }) => totalUs >= bar.from_ms * 1_000 && totalUs < bar.to_ms * 1_000).length,
  }));
}

export function slaOf(subject: Subject, hours: number, sloTarget?: number) {
  const window = windowOf(subject, hours);
  const rows = rowsIn(subject, window);
  const time = timeIn(subject, window, subject.timeline.ranges);
  const list = outagesIn(subject, window);
  return {
    monitor_id: subject.id,
    name: `monitor ${subject.made.index}`,
    generated_at: iso(subject.foldedMs + 2_000),
    ...windowFields(subject, hours),
    uptime_percent: percentUp(time),
    measured_uptime_percent: percentUp(time),
    uptime_seconds: upMs(time) / 1_000,
    downtime_seconds: downMs(time) / 1_000,
    measured_seconds: (upMs(time) + downMs(time)) / 1_000,
    unknown_seconds: time.unknown / 1_000,
    maintenance_seconds: 0,
    paused_seconds: time.paused / 1_000,
    excluded_seconds: 0,
    corrected_seconds: 0,
    seconds: { ...inSeconds(time), excluded: 0 },
    ...outageFigures(subject, window, list),
    outages: list.map((outage) => outageAnswer(subject, window, outage)),
    outages_omitted: 0,
    response_time: responseTimes(rows),
    probes: probesIn(subject, window, rows).map(({ probe_id, name, region, rows: own, time: ownTime }) => ({
      probe_id,
      name,
      region,
      uptime_percent: percentUp(ownTime),
      uptime_seconds: upMs(ownTime) / 1_000,
      downtime_seconds: downMs(ownTime) / 1_000,
      checks: own.filter(({ kind, outcome }) => kind !== 'manual' && outcome !== 'skipped').length,
      answered: own.filter((row) => row.kind !== 'manual' && isAnswer(row)).length,
      response_time: responseTimes(own),
    })),
    error_budget: sloTarget === undefined ? null : budgetOf(subject, window, time, sloTarget),
    corrections: [],
  };
}

function budgetOf(subject: Subject, window: Window, time: Time, target: number) {
  // Of a target with three decimals at most, as they are asked for here.
  const share = Math.round((100 - target) * 1_000) / 100_000;
  const measured = upMs(time) + downMs(time);
  const budget = Math.round(share * measured);
  const down = downMs(time);
  const burn = (part: Time): number | null => {
    const partMs = upMs(part) + downMs(part);
    return partMs === 0 || share === 0 ? null : downMs(part) / partMs / share;
  };
  const burnAtEnd = (hours: number): number | null => {
    const fromMs = window.toMs - hours * hourMs;
    return fromMs < window.fromMs
      ? null
      : burn(timeIn(subject, { fromMs, toMs: window.toMs }, subject.timeline.ranges));
  };
  return {
    slo_target: target,
    is_met: measured === 0 ? null : down <= budget,
    budget_seconds: budget / 1_000,
    consumed_seconds: down / 1_000,
    remaining_seconds: (budget - down) / 1_000,
    consumed_percent: fourDecimals(budget === 0 ? null : (down / budget) * 100),
    burn_rate: fourDecimals(burn(time)),
    burn_rate_1h: fourDecimals(burnAtEnd(1)),
    burn_rate_6h: fourDecimals(burnAtEnd(6)),
  };
}

/** The UTC days of a window, each as far as it lies in it. */
export function daysOf(subject: Subject, window: Window) {
  const days = [];
  for (let fromMs = window.fromMs; fromMs < window.toMs; ) {
    const toMs = Math.min(window.toMs, (Math.floor(fromMs / dayMs) + 1) * dayMs);
    const time = timeIn(subject, { fromMs, toMs }, subject.timeline.ranges);
    const began = subject.outages.filter(
      (outage) => outage.fromMs >= fromMs && outage.fromMs < toMs && outage.toMs > outage.fromMs,
    );
    days.push({
      day: iso(fromMs).slice(0, 10),
      from: iso(fromMs),
      to: iso(toMs),
      outages: began.length,
      uptime_percent: percentUp(time),
      time,
    });
    fromMs = toMs;
  }
  return days;
}

/** Uptime in per cent of the 24 hours before a time that may lie a little after what is evaluated, and how much was measured. */
export function uptimeOfDay(
  subject: Subject,
  nowMs: number,
): { readonly percent: number | null; readonly measuredMs: number } {
  const window = { fromMs: Math.max(nowMs - dayMs, floorMs(subject)), toMs: subject.foldedMs };
  const time = timeIn(subject, window, subject.timeline.ranges);
  return { percent: percentUp(time), measuredMs: upMs(time) + downMs(time) };
}
