import type { WorstMonitors, InputOf, worstMonitorsRoute } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { readSums } from '../day-sums/index.ts';
import { iso, noTime } from '../statistics/index.ts';
import { monitorsNamed } from './keys.queries.ts';
import { longestOfMonitors } from './latency.gateway.ts';
import { askedWindow } from './question.ts';
import type { AskedWindow } from './question.ts';
import { byUptime, measuredSeconds, percent, seriesOf, uptimeOf } from './series.ts';
import type { TimeSeries } from './series.ts';

type WorstQuery = InputOf<typeof worstMonitorsRoute>['query'];

/** The monitors of the scope, or of one workspace of it, that fare worst by a metric. */
export async function readWorst(
  scope: Scope,
  tx: Transaction,
  query: WorstQuery,
  nowMs: number,
): Promise<WorstMonitors> {
  const window = askedWindow(query, nowMs);
  const worst = await (query.metric === 'uptime' ? worstByUptime : worstByLatency)(scope, tx, query, window, nowMs);
  const monitors = await monitorsNamed(
    scope,
    tx,
    worst.map(({ key }) => Number(key)),
  );
  return {
    from: iso(window.fromMs),
    to: iso(window.toMs),
    as_of: iso(nowMs),
    metric: query.metric,
    monitors: worst.flatMap(({ key, total, p95Ms }) => {
      const monitor = monitors.get(Number(key));
      if (monitor === undefined) return [];
      return [{ ...monitor, uptime_percent: percent(total), seconds: measuredSeconds(total), p95_ms: p95Ms }];
    }),
  };
}

type Worst = Pick<TimeSeries, 'key' | 'total'> & { readonly p95Ms: number | null };

async function worstByUptime(
  scope: Scope,
  tx: Transaction,
  query: WorstQuery,
  window: AskedWindow,
  nowMs: number,
): Promise<Worst[]> {
  const known = (await timesOf(scope, tx, query, window, nowMs)).filter(({ total }) => uptimeOf(total) !== null);
  return known
    .toSorted(byUptime)
    .slice(0, query.limit)
    .map((each) => ({ ...each, p95Ms: null }));
}

async function worstByLatency(
  scope: Scope,
  tx: Transaction,
  query: WorstQuery,
  window: AskedWindow,
  nowMs: number,
): Promise<Worst[]> {
  const longest = await longestOfMonitors(scope, tx, query.workspace_id, window, query.limit);
  const ids = longest.map(({ monitorId }) => monitorId);
  const times = ids.length === 0 ? [] : await timesOf(scope, tx, query, window, nowMs, ids);
  const totals = new Map(times.map(({ key, total }) => [key, total]));
  return longest.map(({ monitorId, p95Ms }) => {
    const key = String(monitorId);
    return { key, total: totals.get(key) ?? noTime(), p95Ms };
  });
}

async function timesOf(
  scope: Scope,
  tx: Transaction,
  query: WorstQuery,
  { fromMs, toMs }: AskedWindow,
  nowMs: number,
  ids?: readonly number[],
): Promise<TimeSeries[]> {
  const selection = { type: 'monitor', by: 'subject', workspaceId: query.workspace_id, ids } as const;
  return seriesOf(await readSums(scope, tx, selection, [fromMs, toMs], nowMs), 1);
}
