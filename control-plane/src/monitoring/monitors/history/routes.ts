import { listResultsRoute, listStatusRangesRoute, readTimelineRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { resultsPage } from '../../check-results/index.ts';
import type { ResultItem } from '../../check-results/index.ts';
import { probeRanges, statusRanges, statusRangesPage } from '../../status-ranges/index.ts';
import { noMonitor } from '../not-found.ts';
import { assignmentSpans, findMonitor } from '../queries.ts';
import { checkResult, isConfirmed, rawStatus, responseTimeMs } from './raw-status.ts';
import type { FailureRun } from './raw-status.ts';
import { maxPlainEntries, mergedEntries, plainEntry, rangeEntry, timelineSource } from './timeline.ts';
import type { TimelineRow } from './timeline.ts';

const hourMs = 3_600_000;
/** Rows that are read at once for a long timeline. */
const stepRows = 10_000;

/** What was found: results, status ranges, the timeline. */
export function historyRoutes(context: Context): Route[] {
  return [
    handle(listResultsRoute, ({ params, query, caller }) =>
      ofMonitor(context, caller, params.monitor_id, async (tx) => {
        const page = await resultsPage(tx, params.monitor_id, {
          page: query.page,
          pageSize: query.page_size,
          withTotal: query.with_total,
          ...(query.start_time === undefined ? {} : { startMs: Date.parse(query.start_time) }),
          ...(query.end_time === undefined ? {} : { endMs: Date.parse(query.end_time) }),
        });
        const runs = await failureRuns(tx, params.monitor_id, page.items);
        return {
          results: page.items.map((item) => checkResult(item, runs)),
          total: page.total ?? page.items.length,
          page: query.page,
          page_size: query.page_size,
        };
      }),
    ),

    handle(listStatusRangesRoute, ({ params, query, caller }) =>
      ofMonitor(context, caller, params.monitor_id, async (tx) => {
        const page = await statusRangesPage(tx, params.monitor_id, {
          page: query.page,
          pageSize: query.page_size,
          hours: query.hours,
        });
        return {
          status_ranges: page.items.map((range) => ({
            id: Number(range.id),
            monitor_id: params.monitor_id,
            started_at: new Date(range.startedMs).toISOString(),
            ended_at: range.endedMs === null ? null : new Date(range.endedMs).toISOString(),
            status: range.status,
            evidence: range.evidence as Record<string, unknown>,
            revised_at: range.revisedMs === null ? null : new Date(range.revisedMs).toISOString(),
          })),
          total: page.total,
          page: query.page,
          page_size: query.page_size,
        };
      }),
    ),

    handle(readTimelineRoute, ({ params, query, caller }) =>
      ofMonitor(context, caller, params.monitor_id, async (tx) => {
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
          const ranges = await statusRanges(tx, params.monitor_id, fromMs, toMs);
          return { ...frame, merged: false, timeline: ranges.map(rangeEntry) };
        }
        const rows = await timelineRows(tx, params.monitor_id, {
          fromMs,
          toMs,
          probeId: query.probe_id,
          // The parameter means something only beside a probe.
          includeManual: query.probe_id === undefined || query.include_manual,
        });
        const isMerged = rows.length > maxPlainEntries;
        return { ...frame, merged: isMerged, timeline: isMerged ? mergedEntries(rows) : rows.map(plainEntry) };
      }),
    ),
  ];
}

/** Runs a reading of one monitor that the caller may see, in its scope. */
async function ofMonitor<Answer>(
  context: Context,
  caller: Caller,
  monitorId: number,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (tx) => {
    if ((await findMonitor(tx, scope, monitorId)) === null) throw noMonitor(monitorId);
    return read(tx);
  });
}

/** Runs of confirmed failure of the probes whose failing results are among the items, for the time that these span. */
async function failureRuns(tx: Transaction, monitorId: number, items: readonly ResultItem[]): Promise<FailureRun[]> {
  const failing = items.filter((item) => item.outcome === 'fail' || item.outcome === 'timeout');
  const times = failing.map((item) => item.effectiveMs);
  const runs: FailureRun[] = [];
  for (const probeId of new Set(failing.map((item) => item.probeId))) {
    const fromMs = times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
    const toMs = times.reduce((most, at) => Math.max(most, at), 0) + 1;
    for (const range of await probeRanges(tx, monitorId, probeId, fromMs, toMs)) {
      if (range.status !== 'DOWN' && range.status !== 'TIMEOUT') continue;
      runs.push({ probeId, startedMs: range.startedMs, endedMs: range.endedMs });
    }
  }
  return runs;
}

/** Results of a window in order of time. Beside one probe's own results those of the control plane are told too when asked for. */
async function timelineRows(
  tx: Transaction,
  monitorId: number,
  window: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly probeId: number | undefined;
    readonly includeManual: boolean;
  },
): Promise<TimelineRow[]> {
  const items = await allResults(tx, monitorId, window, window.probeId);
  if (window.probeId !== undefined && window.includeManual) {
    const central = await allResults(tx, monitorId, window, 0);
    items.push(...central.filter((item) => item.kind === 'manual' || item.fallback));
  }
  items.sort((one, other) => one.effectiveMs - other.effectiveMs || one.probeId - other.probeId);
  const runs = await failureRuns(tx, monitorId, items);
  return items.map((item) => ({
    atMs: item.effectiveMs,
    status: rawStatus({ kind: item.kind, outcome: item.outcome, isConfirmed: isConfirmed(runs, item) }),
    responseTimeMs: responseTimeMs(item.outcome, item.totalUs),
    probeId: item.probeId === 0 ? null : item.probeId,
    isManual: item.kind === 'manual',
    isFallback: item.fallback,
  }));
}

async function allResults(
  tx: Transaction,
  monitorId: number,
  window: { readonly fromMs: number; readonly toMs: number; readonly includeManual: boolean },
  probeId: number | undefined,
): Promise<ResultItem[]> {
  const items: ResultItem[] = [];
  for (let page = 1; ; page += 1) {
    const found = await resultsPage(tx, monitorId, {
      page,
      pageSize: stepRows,
      startMs: window.fromMs,
      endMs: window.toMs,
      withTotal: false,
      includeManual: window.includeManual,
      ...(probeId === undefined ? {} : { probeId }),
    });
    items.push(...found.items);
    if (found.items.length < stepRows) return items;
  }
}
