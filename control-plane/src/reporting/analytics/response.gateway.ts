import type { ResponseAnalytics, InputOf, responseAnalyticsRoute } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { iso } from '../statistics/index.ts';
import { bucketAnswers } from './availability.gateway.ts';
import { askedEdges, askedWindow, windowBefore } from './question.ts';
import { responseSums } from './response.queries.ts';
import type { ResponseSum } from './response.queries.ts';

type ResponseQuery = InputOf<typeof responseAnalyticsRoute>['query'];

/** How soon incidents of the scope were acknowledged and resolved. */
export async function readResponse(
  scope: Scope,
  tx: Transaction,
  query: ResponseQuery,
  nowMs: number,
): Promise<ResponseAnalytics> {
  const window = askedWindow(query, nowMs);
  const edgesMs = askedEdges(query, window);
  const found = await responseSums(scope, tx, query.workspace_id, edgesMs);
  const buckets = edgesMs.slice(1).map((_, bucket) => figuresOf(sumOf([found.get(bucket)])));
  const before = windowBefore(window);
  const previous = query.compare
    ? await responseSums(scope, tx, query.workspace_id, [before.fromMs, before.toMs])
    : undefined;
  return {
    from: iso(window.fromMs),
    to: iso(window.toMs),
    as_of: iso(nowMs),
    bucket: query.bucket,
    timezone: query.timezone,
    buckets: bucketAnswers(edgesMs),
    incidents: buckets.map(({ incidents }) => incidents),
    mtta_seconds: buckets.map((bucket) => bucket.mtta_seconds),
    mttr_seconds: buckets.map((bucket) => bucket.mttr_seconds),
    total: figuresOf(sumOf([...found.values()])),
    previous: previous === undefined ? null : figuresOf(sumOf([...previous.values()])),
  };
}

function sumOf(parts: readonly (ResponseSum | undefined)[]): ResponseSum {
  const sum = { incidents: 0, acknowledged: 0, acknowledge_ms: 0, resolved: 0, resolve_ms: 0 };
  for (const part of parts) {
    sum.incidents += part?.incidents ?? 0;
    sum.acknowledged += part?.acknowledged ?? 0;
    sum.acknowledge_ms += part?.acknowledge_ms ?? 0;
    sum.resolved += part?.resolved ?? 0;
    sum.resolve_ms += part?.resolve_ms ?? 0;
  }
  return sum;
}

function figuresOf(sum: ResponseSum): ResponseAnalytics['total'] {
  return {
    incidents: sum.incidents,
    mtta_seconds: meanSeconds(sum.acknowledge_ms, sum.acknowledged),
    mttr_seconds: meanSeconds(sum.resolve_ms, sum.resolved),
  };
}

/** To a millisecond. */
const meanSeconds = (ms: number, count: number): number | null => (count === 0 ? null : Math.round(ms / count) / 1_000);
