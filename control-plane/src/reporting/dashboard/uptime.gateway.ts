import { mostWorst } from '@parallax/api-contract';
import type { DashboardUptimeSummary } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { percentOf } from '../../platform/figures.ts';
import { readSums } from '../day-sums/index.ts';
import { addTimes, availabilityOf, iso, noTime, normalLagMs, secondsAnswer } from '../statistics/index.ts';
import { dateOf, dayEdges, windowEnd, worstOf } from './uptime.ts';
import { namesOf, shardsOf, worstCandidates } from './uptime.queries.ts';

type Summary = Omit<DashboardUptimeSummary, 'as_of' | 'workspace_id'>;

const hourMs = 3_600_000;

/** The uptime of all monitors of the scope in the last hours: means of time, as measured. */
export async function readUptime(scope: Scope, tx: Transaction, hours: number, nowMs: number): Promise<Summary> {
  const shards = await shardsOf(scope, tx);
  const evaluated = shards.flatMap(({ folded_until: foldedMs }) => (foldedMs === null ? [] : [foldedMs]));
  const toMs = windowEnd(evaluated, nowMs, normalLagMs);
  const fromMs = toMs - hours * hourMs;
  const edges = dayEdges(fromMs, toMs);
  const sums = await readSums(scope, tx, { type: 'monitor', by: 'all' }, edges, nowMs);
  const times = new Map(sums.map(({ bucket, time }) => [bucket, time]));
  const total = noTime();
  for (const { time } of sums) addTimes(total, time);
  return {
    hours,
    from: iso(fromMs),
    to: iso(toMs),
    monitors: shards.reduce((sum, shard) => sum + shard.monitors, 0),
    uptime_percent: percentOf(availabilityOf(total).uptime),
    seconds: secondsAnswer(total),
    days: edges.slice(0, -1).map((edge, bucket) => {
      const time = times.get(bucket) ?? noTime();
      return {
        date: dateOf(edge),
        uptime_percent: percentOf(availabilityOf(time).uptime),
        seconds: secondsAnswer(time),
      };
    }),
    worst: await readWorst(scope, tx, { fromMs, toMs, endMs: edges.at(-1) ?? toMs, nowMs }),
  };
}

/** Only monitors that may be among the worst are summed one by one. */
async function readWorst(
  scope: Scope,
  tx: Transaction,
  window: { readonly fromMs: number; readonly toMs: number; readonly endMs: number; readonly nowMs: number },
): Promise<Summary['worst']> {
  const { fromMs, toMs, endMs, nowMs } = window;
  const slackMs = toMs === nowMs ? toMs - fromMs : normalLagMs;
  const ids = await worstCandidates(scope, tx, { fromMs, toMs, slackMs, most: mostWorst });
  if (ids.length === 0) return [];
  const sums = await readSums(scope, tx, { type: 'monitor', by: 'subject', ids }, [fromMs, endMs], nowMs);
  const worst = worstOf(
    sums.map(({ key, time }) => ({ id: Number(key), ...availabilityOf(time) })),
    mostWorst,
  );
  const names = await namesOf(
    scope,
    tx,
    worst.map(({ id }) => id),
  );
  return worst.flatMap(({ id, uptime, downtimeMs }) => {
    const named = names.get(id);
    if (named === undefined) return [];
    const { workspace_id, name } = named;
    return [
      {
        monitor_id: id,
        workspace_id,
        name,
        uptime_percent: percentOf(uptime),
        downtime_seconds: downtimeMs / 1_000,
      },
    ];
  });
}
