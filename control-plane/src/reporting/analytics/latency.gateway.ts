import { analyticsLimits } from '@parallax/api-contract';
import type { LatencyAnalytics, InputOf, latencyAnalyticsRoute } from '@parallax/api-contract';
import { RunningSummary } from '../../monitoring/check-results/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { iso, milliseconds } from '../statistics/index.ts';
import { bucketAnswers } from './availability.gateway.ts';
import { namesOf, requireKeys } from './keys.queries.ts';
import { decodeInto } from './latency-days.queries.ts';
import { hoursOf, planLatency } from './latency-plan.ts';
import type { LatencyPlan } from './latency-plan.ts';
import {
  closedUntil,
  countSummaries,
  lastSummedDay,
  summariesOfMonitors,
  summariesOfWorkspaces,
} from './latency.queries.ts';
import type { LatencySelection, StoredSummary } from './latency.queries.ts';
import { askedEdges, askedKeys, askedWindow, tooWide, windowBefore } from './question.ts';
import type { AskedWindow } from './question.ts';
import { byKey } from './series.ts';

type LatencyQuery = InputOf<typeof latencyAnalyticsRoute>['query'];

/** Response times of the scope, or of a part of it, in series. */
export async function readLatencySeries(
  scope: Scope,
  tx: Transaction,
  query: LatencyQuery,
  nowMs: number,
): Promise<LatencyAnalytics> {
  const window = askedWindow(query, nowMs);
  const edgesMs = askedEdges(query, window);
  const keys = askedKeys(query.by, query.ids);
  await requireKeys(scope, tx, query.by, keys);
  const selection = { by: query.by, workspaceId: query.workspace_id, keys };
  const { summaries, completeUntilMs } = await readSummaries(scope, tx, selection, edgesMs);
  const totals = [...Map.groupBy(summaries, ({ key }) => key)]
    .map(([key, own]) => ({ key, own, total: totalsOf(mergedOf(own)) }))
    .toSorted((one, other) => (other.total.p95_ms ?? -1) - (one.total.p95_ms ?? -1) || byKey(one.key, other.key))
    .slice(0, query.limit);
  const shown = totals.map(({ key }) => key);
  const names = await namesOf(scope, tx, query.by, shown);
  const before = query.compare ? await totalsBefore(scope, tx, { ...selection, keys: shown }, window) : undefined;
  return {
    from: iso(window.fromMs),
    to: iso(window.toMs),
    as_of: iso(nowMs),
    bucket: query.bucket,
    timezone: query.timezone,
    buckets: bucketAnswers(edgesMs),
    by: query.by,
    complete_until: completeUntilMs === null ? null : iso(Math.min(completeUntilMs, window.toMs)),
    series: totals.map(({ key, own, total }) => {
      const byBucket = Map.groupBy(own, ({ bucket }) => bucket);
      const buckets = edgesMs.slice(1).map((_, bucket) => totalsOf(mergedOf(byBucket.get(bucket) ?? [])));
      return {
        key,
        name: names.get(key) ?? `${query.by} ${key}`,
        p50: buckets.map(({ p50_ms: p50 }) => p50),
        p95: buckets.map(({ p95_ms: p95 }) => p95),
        count: buckets.map(({ count }) => count),
        total,
        previous: before === undefined ? null : (before.get(key) ?? nothing),
      };
    }),
  };
}

const nothing = { count: 0, p50_ms: null, p95_ms: null };

/** Monitors of the scope with the longest 95th percentile, the longest first. */
export async function longestOfMonitors(
  scope: Scope,
  tx: Transaction,
  workspaceId: number | undefined,
  window: AskedWindow,
  limit: number,
): Promise<{ readonly monitorId: number; readonly p95Ms: number }[]> {
  const selection = { by: 'monitor', workspaceId, keys: undefined } as const;
  const { summaries } = await readSummaries(scope, tx, selection, [window.fromMs, window.toMs]);
  return [...Map.groupBy(summaries, ({ key }) => key)]
    .flatMap(([key, own]) => {
      const { p95_ms: p95Ms } = totalsOf(mergedOf(own));
      return p95Ms === null ? [] : [{ monitorId: Number(key), p95Ms }];
    })
    .toSorted((one, other) => other.p95Ms - one.p95Ms || one.monitorId - other.monitorId)
    .slice(0, limit);
}

async function totalsBefore(scope: Scope, tx: Transaction, selection: LatencySelection, window: AskedWindow) {
  const { fromMs, toMs } = windowBefore(window);
  const { summaries } = await readSummaries(scope, tx, selection, [fromMs, toMs]);
  return new Map([...Map.groupBy(summaries, ({ key }) => key)].map(([key, own]) => [key, totalsOf(mergedOf(own))]));
}

type BucketSummary = StoredSummary & { readonly bucket: number };

/** @throws Problem `too_wide` */
async function readSummaries(
  scope: Scope,
  tx: Transaction,
  selection: LatencySelection,
  edgesMs: readonly number[],
): Promise<{ readonly summaries: readonly BucketSummary[]; readonly completeUntilMs: number | null }> {
  const { by, workspaceId } = selection;
  const isOfWorkspaces = by === 'workspace' || by === 'probe' || by === 'region';
  const plan = planLatency(edgesMs, {
    closedMs: await closedUntil(tx),
    lastDay: isOfWorkspaces ? await lastSummedDay(scope, tx, workspaceId) : undefined,
  });
  const days = [...plan.days.keys()];
  const monitorDays = { of: 'day', at: isOfWorkspaces ? [] : days } as const;
  const used = await countSummaries(scope, tx, selection, monitorDays, analyticsLimits.mostSketches);
  const hours = await affordableHours(scope, tx, selection, plan, used);
  const found = isOfWorkspaces
    ? await summariesOfWorkspaces(scope, tx, selection, days)
    : await summariesOfMonitors(scope, tx, selection, monitorDays);
  const ofHours = await summariesOfMonitors(scope, tx, selection, { of: 'hour', at: [...hours.at.keys()] });
  return {
    summaries: [...inBuckets(found, plan.days), ...inBuckets(ofHours, hours.at)],
    completeUntilMs: hours.isWhole ? plan.closedMs : plan.openFromMs,
  };
}

/** The hours beside the days; where they are too many, without those of the days that are not summed yet. */
async function affordableHours(
  scope: Scope,
  tx: Transaction,
  selection: LatencySelection,
  plan: LatencyPlan,
  used: number,
): Promise<{ readonly at: ReadonlyMap<number, number>; readonly isWhole: boolean }> {
  const { mostSketches } = analyticsLimits;
  for (const { at, isWhole } of hoursOf(plan)) {
    const count = await countSummaries(scope, tx, selection, { of: 'hour', at: [...at.keys()] }, mostSketches);
    if (used + count <= mostSketches) return { at, isWhole };
  }
  throw tooWide(`more than ${mostSketches} stored sums of response times would have to be read`);
}

function inBuckets(found: readonly StoredSummary[], buckets: ReadonlyMap<number, number>): BucketSummary[] {
  return found.flatMap((each) => {
    const bucket = buckets.get(each.at);
    return bucket === undefined ? [] : [{ ...each, bucket }];
  });
}

/** All of them together; a damaged one is left out, which the job that sums days has said. */
function mergedOf(summaries: readonly StoredSummary[]): RunningSummary {
  const sum = new RunningSummary();
  const one = new RunningSummary();
  for (const { summary } of summaries) if (decodeInto(one, summary)) sum.add(one);
  return sum;
}

function totalsOf(summary: RunningSummary): LatencyAnalytics['series'][number]['total'] {
  const sketch = summary.latency.timed();
  return {
    count: sketch.count,
    p50_ms: milliseconds(sketch.quantile(0.5)),
    p95_ms: milliseconds(sketch.quantile(0.95)),
  };
}
