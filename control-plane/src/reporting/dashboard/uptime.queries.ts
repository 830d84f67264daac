import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

type Fragment = ReturnType<typeof sql.fragment>;

const ofScope = (scope: Scope) =>
  sql.fragment`m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`;

const shardRow = z.object({ monitors: z.number(), folded_until: z.number().nullable() });

/** The shards of the scope's monitors: how many monitors each has, and how far it is evaluated; null before its first round. */
export async function shardsOf(scope: Scope, tx: Transaction): Promise<readonly z.output<typeof shardRow>[]> {
  return tx.any(sql.type(shardRow)`
    select count(*)::integer as monitors, max(s.folded_until) as folded_until
    from monitors m left join shards s on s.shard = m.shard where ${ofScope(scope)} group by m.shard`);
}

const dayMs = 86_400_000;

/** What `subject_days` says of monitors that may be among the worst of a window. */
export type WorstWindow = {
  readonly fromMs: number;
  readonly toMs: number;
  /** How much less than up to the end of the window a monitor may be evaluated. */
  readonly slackMs: number;
  readonly most: number;
};

/**
 * Monitors of the scope among which are those with the highest share of downtime. Whole days bound the share from both sides: of the day in which
 * the window begins all may count or nothing, and of the live time after the sums up to the slack. Who cannot reach the lower bound of the last of the
 * worst is none of them.
 */
export async function worstCandidates(scope: Scope, tx: Transaction, window: WorstWindow): Promise<readonly number[]> {
  const { fromMs, toMs, slackMs, most } = window;
  const firstDay = Math.floor(fromMs / dayMs);
  const lastDay = Math.floor(toMs / dayMs);
  const cutDay = fromMs % dayMs === 0 ? firstDay - 1 : firstDay;
  const isWhole = sql.fragment`d.day > ${cutDay}`;
  const isIn = sql.fragment`d.day >= ${firstDay}`;
  const live = sql.fragment`greatest(0, ${toMs}::float8 - greatest(${fromMs}::float8, d.day * ${dayMs}::float8 + d.until_ms))`;
  const sure = sql.fragment`greatest(0, ${live} - ${slackMs}::float8)`;
  const up = sql.fragment`d.up_ms + d.degraded_ms`;
  const down = sql.fragment`d.down_ms + d.timeout_ms`;
  // Places of the columns: up and degraded, down and timeout.
  const isOfWindow = sql.fragment`d.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and d.subject_type = 'monitor'
    and (d.day between ${firstDay} and ${lastDay} or (d.day < ${firstDay} and d.tail is not null))`;
  // In few days few fail, and only their days are added up. In many nearly all do, and to ask first would read all days twice.
  const hasFailed =
    lastDay - firstDay > mostDaysAskedFirst
      ? sql.fragment`true`
      : sql.fragment`d.subject_id = any(array(
          select distinct d.subject_id from subject_days d where ${isOfWindow} and (d.down_ms + d.timeout_ms > 0 or d.tail in (2, 3))))`;
  const ofTail = (tails: Fragment, time: Fragment) =>
    sql.fragment`coalesce(sum(${time}) filter (where d.tail in (${tails})), 0)`;
  const [upTails, downTails] = [sql.fragment`0, 1`, sql.fragment`2, 3`];
  const sumIf = (time: Fragment, days: Fragment) => sql.fragment`coalesce(sum(${time}) filter (where ${days}), 0)`;
  return tx.anyFirst(sql.type(z.object({ id: z.number() }))`
    with resets as (
      select m.id, floor(extract(epoch from m.reset_at) / 86400)::integer as day from monitors m where ${ofScope(scope)} and m.reset_at is not null),
    sums as (
      select d.subject_id as id, d.workspace_id,
        ${sumIf(down, isIn)}::float8 + ${ofTail(downTails, live)} as most_down,
        ${sumIf(down, isWhole)}::float8 + ${ofTail(downTails, sure)} as least_down,
        ${sumIf(up, isIn)}::float8 + ${ofTail(upTails, live)} as most_up,
        ${sumIf(up, isWhole)}::float8 + ${ofTail(upTails, sure)} as least_up
      from subject_days d left join resets r on r.id = d.subject_id
      where ${isOfWindow} and ${hasFailed} and (r.day is null or d.day >= r.day)
      group by d.subject_id, d.workspace_id),
    failed as materialized (select * from sums where most_down > 0),
    -- Few have failed, and only of them it matters whether they are there.
    shares as (
      select f.id, f.most_down / (f.most_down + f.least_up) as highest, coalesce(f.least_down / nullif(f.least_down + f.most_up, 0), 0) as lowest
      from failed f join monitors m on m.id = f.id and m.workspace_id = f.workspace_id where ${ofScope(scope)})
    select id from shares
    where highest >= coalesce((select lowest from shares order by lowest desc offset ${most - 1} limit 1), 0)
    order by highest desc, id limit ${mostCandidates}`);
}

const mostDaysAskedFirst = 7;

// As bad as each other: which of them are told is arbitrary.
const mostCandidates = 500;

const nameRow = z.object({ id: z.number(), workspace_id: z.number(), name: z.string() });

/** Names of monitors of the scope. */
export async function namesOf(
  scope: Scope,
  tx: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.output<typeof nameRow>>> {
  const rows = await tx.any(sql.type(nameRow)`
    select m.id, m.workspace_id, m.name from monitors m where m.id = any(${sql.array([...ids], 'int4')}) and ${ofScope(scope)}`);
  return new Map(rows.map((row) => [row.id, row]));
}
