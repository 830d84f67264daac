import { scheduledReportLimits } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { heartbeatFigures } from '../../../monitoring/heartbeats/index.ts';
import type { HeartbeatFigures } from '../../../monitoring/heartbeats/index.ts';
import { webhookCheckFigures } from '../../../monitoring/webhook-checks/index.ts';
import type { WebhookCheckFigures } from '../../../monitoring/webhook-checks/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { subjectsCovered } from '../../../response/maintenance/index.ts';
import { readFigures, readLatency, readReport } from '../../sla/index.ts';
import type { SlaReport } from '../../sla/index.ts';
import { availabilityOf, findSubjects, noTime } from '../../statistics/index.ts';
import type { Availability, Subject, WantedWindow } from '../../statistics/index.ts';
import type { ReportPeriod } from '../periods.ts';
import { coveredOf } from '../row.ts';
import type { ReportRow } from '../row.ts';
import { byAvailability, chapterIds, totalOf } from './content.ts';
import type { Content, Line } from './content.ts';
import { namesOf } from './run.queries.ts';
import type { NamedSubject } from './run.queries.ts';

type Reading = {
  readonly tx: Transaction;
  readonly scope: Scope;
  readonly report: ReportRow;
  readonly period: ReportPeriod;
  readonly before: ReportPeriod | null;
  readonly nowMs: number;
};

/** Lines, and how each fared in the period before. */
type Found = { readonly line: Line; readonly before: Availability | null };

/**
 * Reads everything that a run shows, in one transaction, by the functions that statistics and SLA reports answer by. Monitors cost about six
 * statements each, ten with the period before, each of which reads by an index.
 * @param before null: nothing is compared
 */
export async function readContent(
  worker: DatabasePool,
  report: ReportRow,
  workspaceName: string,
  periods: { readonly period: ReportPeriod; readonly before: ReportPeriod | null },
  nowMs: number,
): Promise<Content> {
  const scope: Scope = { userId: null, workspaceIds: [report.workspace_id] };
  return worker.transaction(async (tx) => {
    const reading: Reading = { tx, scope, report, ...periods, nowMs };
    const covered = await subjectsCovered(tx, report.workspace_id, coveredOf(report));
    const named = await namesOf(tx, covered, scheduledReportLimits.subjects + 1);
    const subjects = named.slice(0, scheduledReportLimits.subjects);
    const monitors = await findSubjects(tx, scope, idsOf(subjects, 'monitor'));
    const found = [
      ...(await monitorLines(reading, monitors)),
      ...(await heartbeatLines(reading, idsOf(subjects, 'heartbeat'))),
      ...(await webhookCheckLines(reading, idsOf(subjects, 'webhook_check'))),
    ];
    const lines = byAvailability(found.map(({ line }) => line));
    return {
      report: { name: report.name, workspaceName, timezone: report.timezone, sloTarget: report.slo_target },
      ...periods,
      generatedMs: Math.floor(nowMs),
      lines,
      isCut: named.length > subjects.length,
      total: totalOf(lines.map(({ availability }) => availability)),
      totalBefore: periods.before === null ? null : totalOf(found.flatMap(({ before }) => before ?? [])),
      chapters: await readChapters(reading, monitors, chapterIds(lines)),
    };
  });
}

const idsOf = (subjects: readonly NamedSubject[], type: NamedSubject['type']): number[] =>
  subjects.filter((subject) => subject.type === type).map(({ id }) => id);

const windowOf = ({ report }: Reading, { fromMs, toMs }: ReportPeriod): WantedWindow => ({
  hours: null,
  period: null,
  timezone: report.timezone,
  startMs: fromMs,
  endMs: toMs,
});

async function monitorLines(reading: Reading, monitors: readonly Subject[]): Promise<Found[]> {
  const { tx, scope, report, period, before, nowMs } = reading;
  const sloTarget = report.slo_target ?? undefined;
  const found: Found[] = [];
  for (const monitor of monitors) {
    const wanted = windowOf(reading, period);
    const figures = await readFigures(tx, scope, monitor, { wanted, sloTarget }, nowMs);
    const latency = await readLatency(tx, monitor, wanted, nowMs);
    const earlier =
      before === null
        ? null
        : await readFigures(tx, scope, monitor, { wanted: windowOf(reading, before), sloTarget: undefined }, nowMs);
    const { availability } = figures;
    const line: Line = {
      type: 'monitor',
      id: monitor.id,
      name: monitor.name,
      uptime: availability.uptime,
      uptimeBefore: earlier === null ? undefined : earlier.availability.uptime,
      downtimeMs: availability.downtimeMs,
      outages: figures.incidents,
      longestMs: figures.longestMs,
      p95Ms: latency.p95Ms,
      isMet: figures.budget?.isMet ?? null,
      availability,
      days: figures.days,
    };
    found.push({ line, before: earlier?.availability ?? null });
  }
  return found;
}

/** The line of a subject that tells of itself: no response times and no days. */
function selfTellingLine(
  type: 'heartbeat' | 'webhook_check',
  { id, name, outages }: { readonly id: number; readonly name: string; readonly outages: number | null },
  availability: Availability,
  before: Availability | null,
): Found {
  const line: Line = {
    type,
    id,
    name,
    uptime: availability.uptime,
    uptimeBefore: before === null ? undefined : before.uptime,
    downtimeMs: availability.downtimeMs,
    outages,
    longestMs: null,
    p95Ms: null,
    isMet: null,
    availability,
    days: [],
  };
  return { line, before };
}

async function heartbeatLines({ tx, scope, period, before }: Reading, ids: readonly number[]): Promise<Found[]> {
  const figures = await heartbeatFigures(scope, tx, ids, period);
  const earlier = before === null ? null : await heartbeatFigures(scope, tx, ids, before);
  const timeOf = ({ upMs, downMs, unknownMs }: HeartbeatFigures) =>
    availabilityOf({ ...noTime(), upMs, downMs, unknownMs });
  return figures.map((one) => {
    const then = earlier?.find(({ id }) => id === one.id);
    return selfTellingLine('heartbeat', one, timeOf(one), then === undefined ? null : timeOf(then));
  });
}

async function webhookCheckLines({ tx, scope, period, before }: Reading, ids: readonly number[]): Promise<Found[]> {
  const figures = await webhookCheckFigures(scope, tx, ids, period);
  const earlier = before === null ? null : await webhookCheckFigures(scope, tx, ids, before);
  const timeOf = ({ seconds }: WebhookCheckFigures) =>
    availabilityOf({
      ...noTime(),
      upMs: seconds.up * 1_000,
      degradedMs: seconds.degraded * 1_000,
      downMs: seconds.down * 1_000,
    });
  return figures.map((one) => {
    const then = earlier?.find(({ id }) => id === one.id);
    // What a check counts are its misses, not all of its outages.
    const named = { id: one.id, name: one.name, outages: null };
    return selfTellingLine('webhook_check', named, timeOf(one), then === undefined ? null : timeOf(then));
  });
}

async function readChapters(
  reading: Reading,
  monitors: readonly Subject[],
  ids: readonly number[],
): Promise<SlaReport[]> {
  const { tx, scope, report, period, nowMs } = reading;
  const request = {
    wanted: windowOf(reading, period),
    sloTarget: report.slo_target ?? undefined,
    withChart: true,
  };
  const chapters: SlaReport[] = [];
  for (const id of ids) {
    const subject = monitors.find((monitor) => monitor.id === id);
    if (subject !== undefined) chapters.push(await readReport(tx, scope, subject, request, nowMs));
  }
  return chapters;
}
