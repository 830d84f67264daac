import { listResultsRoute, listStatusRangesRoute, readTimelineRoute } from '@parallax/api-contract';
import type { AnswerOf, InputOf } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { readResults, resultsPage } from '../../check-results/index.ts';
import type { ResultItem } from '../../check-results/index.ts';
import { rangesOfProbes, statusRangesPage } from '../../status-ranges/index.ts';
import { requireShown } from '../not-found.ts';
import type { MonitorView } from '../not-found.ts';
import { assignmentSpans, findMonitor } from '../queries.ts';
import { probesNamed } from '../range-evidence/queries.ts';
import { probesIn, readableEvidence } from '../range-evidence/readable-evidence.ts';
import { readStored } from '../range-evidence/votes.ts';
import { lastResetMs, newestRanges, retentionDays } from './queries.ts';
import { checkResult, isConfirmed, rawStatus, responseTimeMs } from './raw-status.ts';
import type { FailureRuns } from './raw-status.ts';
import { shownSince } from './shown-since.ts';
import { TimelineBuilder, maxTimelineEntries, rangeEntry, timelineSource } from './timeline.ts';
import type { ResultTimeline, TimelineRow } from './timeline.ts';

const hourMs = 3_600_000;

/** What was found: results, status ranges, the timeline. */
export function historyRoutes(context: Context): Route[] {
  return [
    handle(listResultsRoute, ({ params, query, caller }) => readResultsPage(context, caller, params.monitor_id, query)),

    handle(listStatusRangesRoute, ({ params, query, caller }) =>
      ofMonitor(context, caller, params.monitor_id, async (tx) => {
        const page = await statusRangesPage(tx, params.monitor_id, {
          page: query.page,
          pageSize: query.page_size,
          hours: query.hours,
        });
        const stored = page.items.map(({ evidence }) => readStored(evidence));
        const probes = await probesNamed(tx, probesIn(stored));
        return {
          status_ranges: page.items.map((range, index) => ({
            id: Number(range.id),
            monitor_id: params.monitor_id,
            started_at: new Date(range.startedMs).toISOString(),
            ended_at: range.endedMs === null ? null : new Date(range.endedMs).toISOString(),
            status: range.status,
            evidence: readableEvidence(stored[index] ?? readStored(null), probes),
            revised_at: range.revisedMs === null ? null : new Date(range.revisedMs).toISOString(),
          })),
          total: page.total,
          page: query.page,
          page_size: query.page_size,
        };
      }),
    ),

    handle(readTimelineRoute, ({ params, query, caller }) =>
      withResults(context, caller, params.monitor_id, async (tx, sinceMs) => {
        const toMs = context.now();
        const fromMs = toMs - query.hours * hourMs;
        const spans = await assignmentSpans(tx, params.monitor_id);
        const seats = spans.filter((span) => span.ended_at === null && !span.supplement).length;
        const source = timelineSource(seats, query.probe_id);
        const frame = {
          monitor_id: params.monitor_id,
          source,
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
        };
        if (source === 'consensus') {
          const ranges = await newestRanges(tx, params.monitor_id, { fromMs, toMs, most: maxTimelineEntries + 1 });
          const shown = ranges.slice(-maxTimelineEntries);
          const beginMs = shown.length < ranges.length ? (shown[0]?.startedMs ?? fromMs) : fromMs;
          return { ...frame, from: new Date(beginMs).toISOString(), merged: false, timeline: shown.map(rangeEntry) };
        }
        const {
          isMerged,
          entries,
          fromMs: beginMs = fromMs,
        } = await resultTimeline(tx, params.monitor_id, {
          fromMs: Math.max(fromMs, sinceMs),
          toMs,
          probeId: query.probe_id,
          // The parameter means something only beside a probe.
          includeManual: query.probe_id === undefined || query.include_manual,
        });
        return { ...frame, from: new Date(beginMs).toISOString(), merged: isMerged, timeline: [...entries] };
      }),
    ),
  ];
}

export type ResultsQuery = InputOf<typeof listResultsRoute>['query'];
export type ResultsAnswer = AnswerOf<typeof listResultsRoute>;

/**
 * A page of results as GET /monitors/{monitor_id}/results answers it.
 * @param view of which monitors
 * @throws Problem `not_found`
 */
export function readResultsPage(
  context: Context,
  caller: Caller,
  monitorId: number,
  query: ResultsQuery,
  view?: MonitorView,
): Promise<ResultsAnswer> {
  const read = async (tx: Transaction, sinceMs: number): Promise<ResultsAnswer> => {
    const page = await resultsPage(tx, monitorId, {
      page: query.page,
      pageSize: query.page_size,
      withTotal: query.with_total,
      sinceMs,
      ...(query.start_time === undefined ? {} : { startMs: Date.parse(query.start_time) }),
      ...(query.end_time === undefined ? {} : { endMs: Date.parse(query.end_time) }),
    });
    const runs = await failureRuns(tx, monitorId, page.items);
    return {
      results: page.items.map((item) => checkResult(item, runs)),
      total: page.total ?? page.items.length,
      page: query.page,
      page_size: query.page_size,
    };
  };
  return withResults(context, caller, monitorId, read, view);
}

/** Runs a reading of one monitor that the caller may see, in its scope. */
async function ofMonitor<Answer>(
  context: Context,
  caller: Caller,
  monitorId: number,
  read: (tx: Transaction) => Promise<Answer>,
  view?: MonitorView,
): Promise<Answer> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (tx) => {
    requireShown(await findMonitor(tx, scope, monitorId), monitorId, view);
    return read(tx);
  });
}

/** The same for a reading of results. @param read is told from when on results are shown, in milliseconds */
async function withResults<Answer>(
  context: Context,
  caller: Caller,
  monitorId: number,
  read: (tx: Transaction, sinceMs: number) => Promise<Answer>,
  view?: MonitorView,
): Promise<Answer> {
  const days = await retentionDays(context.database.worker, monitorId);
  const readShown = async (tx: Transaction): Promise<Answer> => {
    const resetMs = await lastResetMs(tx, monitorId);
    return read(tx, shownSince({ resetMs, nowMs: context.now(), retentionDays: days }));
  };
  return ofMonitor(context, caller, monitorId, readShown, view);
}

/** Runs of confirmed failure of the probes whose failing results are among the items, for the time that these span. */
async function failureRuns(tx: Transaction, monitorId: number, items: readonly ResultItem[]): Promise<FailureRuns> {
  const failing = items.filter((item) => item.outcome === 'fail' || item.outcome === 'timeout');
  if (failing.length === 0) return new Map();
  const probeIds = [...new Set(failing.map((item) => item.probeId))];
  const fromMs = failing.reduce((least, item) => Math.min(least, item.effectiveMs), Number.POSITIVE_INFINITY);
  const toMs = failing.reduce((most, item) => Math.max(most, item.effectiveMs), 0) + 1;
  const ranges = await rangesOfProbes(tx, monitorId, probeIds, fromMs, toMs);
  return new Map(
    [...ranges].map(([probeId, own]) => [
      probeId,
      own.filter(({ status }) => status === 'DOWN' || status === 'TIMEOUT'),
    ]),
  );
}

type TimelineWindow = {
  readonly fromMs: number;
  /** Inclusive. */
  readonly toMs: number;
  readonly probeId: number | undefined;
  readonly includeManual: boolean;
};

/**
 * The results of a window as a timeline, read slice by slice. Beside one probe's own results those of the control plane are told too when asked
 * for.
 */
async function resultTimeline(tx: Transaction, monitorId: number, window: TimelineWindow): Promise<ResultTimeline> {
  const { fromMs, toMs, probeId, includeManual } = window;
  const builder = new TimelineBuilder();
  const probes = probeId === undefined || !includeManual ? probeId : [probeId, 0];
  for await (const slice of readResults(tx, monitorId, { fromMs, toMs: toMs + 1, probeId: probes })) {
    const shown = slice.filter((item) => isShown(item, window));
    const runs = await failureRuns(tx, monitorId, shown);
    for (const item of shown) builder.add(timelineRow(item, runs));
  }
  return builder.timeline();
}

/** Whether a result is of the probe that is asked about, or stands in for one, and no hand's work where that is not wanted. */
function isShown(item: ResultItem, { probeId, includeManual }: TimelineWindow): boolean {
  const isByHand = item.kind === 'manual' || item.fallback;
  if (!includeManual) return !isByHand;
  return probeId === undefined || item.probeId === probeId || isByHand;
}

function timelineRow(item: ResultItem, runs: FailureRuns): TimelineRow {
  return {
    atMs: item.effectiveMs,
    status: rawStatus({ kind: item.kind, outcome: item.outcome, isConfirmed: isConfirmed(runs, item) }),
    responseTimeMs: responseTimeMs(item.outcome, item.totalUs),
    probeId: item.probeId === 0 ? null : item.probeId,
    isManual: item.kind === 'manual',
    isFallback: item.fallback,
  };
}
