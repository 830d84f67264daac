import pg from 'pg';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { emptyMonitor } from './queries.ts';
import { keptRows, noRows } from './testing.ts';

const monitors = 200;
const hours = 4 * 168;
const days = 365;

/** Four weeks of packed hours, a year of days, three hot days, ranges and evidence, of as many monitors with a probe each. */
async function fill(worker: CommonQueryMethods, nowMs: number): Promise<void> {
  const hour = Math.floor(nowMs / 3_600_000);
  for (let from = hour - days * 24; from <= hour; from += 1_400) {
    await worker.query(sql.unsafe`select ensure_packed_partitions(${from}, ${Math.min(hour, from + 1_399)})`);
  }
  const now = sql.timestamp(new Date(nowMs));
  await worker.query(sql.unsafe`select ensure_result_partitions(${now}::timestamptz - interval '3 days', ${now})`);
  await worker.query(sql.unsafe`
    insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk)
    select m, ${hour} - h, 1, 60, '\\x00', '\\x00'
    from generate_series(1, ${monitors}::integer) m, generate_series(1, ${hours}::integer) h`);
  await worker.query(sql.unsafe`
    insert into result_days (monitor_id, day, probe_id, results, summary)
    select m, ${Math.floor(hour / 24)} - d, 1, 1440, '\\x00' from generate_series(1, ${monitors}::integer) m, generate_series(1, ${days}::integer) d`);
  await worker.query(sql.unsafe`
    insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
    select ${now}::timestamptz - i * interval '10 minutes', ${now}, m, 1, 1, 0, 160, 1000, 0
    from generate_series(1, ${monitors}::integer) m, generate_series(1, 400) i`);
  for (const [table, column] of [
    ['status_ranges', ''],
    ['probe_ranges', 'probe_id, '],
  ] as const) {
    const probe = column === '' ? sql.fragment`` : sql.fragment`1, `;
    await worker.query(sql.unsafe`
      insert into ${sql.identifier([table])} (monitor_id, ${column === '' ? sql.fragment`` : sql.fragment`probe_id, `} started_at, ended_at, status)
      select m, ${probe} ${now}::timestamptz - i * interval '1 hour', ${now}::timestamptz - i * interval '1 hour' + interval '1 hour', 'UP'
      from generate_series(1, ${monitors}::integer) m, generate_series(1, 400) i`);
  }
  await worker.query(sql.unsafe`
    insert into result_evidence (e, monitor_id, probe_id, message, evidence)
    select ${now}::timestamptz - i * interval '1 hour', m, 1, '', '{}' from generate_series(1, ${monitors}::integer) m, generate_series(1, 50) i`);
  await worker.query(sql.unsafe`
    insert into stale_hours (monitor_id, hour) select m, ${hour} - i from generate_series(1, ${monitors}::integer) m, generate_series(1, 40) i`);
}

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly Plans?: readonly Plan[];
};

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The pool, with the plan of every query as it was executed. */
function explaining(pool: DatabasePool, seen: (plan: Plan) => void): DatabasePool {
  const explained = z.object({ 'QUERY PLAN': z.array(z.object({ Plan: z.custom<Plan>() })) });
  const one: DatabasePool['one'] = async (query) => {
    const explain = { ...query, sql: `explain (analyze, format json) ${query.sql}`, parser: explained };
    // Executed and taken back, so that what follows does the same.
    await pool
      .transaction(async (tx) => {
        const answer = await tx.one(explain);
        seen(answer['QUERY PLAN'][0]?.Plan as Plan);
        throw new Error('taken back');
      })
      .catch((error: unknown) => {
        if ((error as Error).message !== 'taken back') throw error;
      });
    return pool.one(query);
  };
  return new Proxy(pool, { get: (target, key) => (key === 'one' ? one : (Reflect.get(target, key) as unknown)) });
}

void t.test("emptying one monitor reads no other monitor's rows", async (t) => {
  const { urls, database } = await testDatabase(t);
  // Noon of yesterday: at other times of day the oldest partition holds so few rows that reading them all is the better plan.
  const nowMs = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 12 * 3_600_000;
  await fill(database.worker, nowMs);
  const owner = new pg.Client({ connectionString: urls.owner });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();

  const strange: string[] = [];
  let queries = 0;
  const worker = explaining(database.worker, (plan) => {
    queries += 1;
    for (const node of nodesOf(plan)) {
      const { 'Node Type': type, 'Relation Name': relation = '', 'Index Cond': condition } = node;
      const isOfRows = relation !== '' && !['result_storage', 'monitors'].includes(relation);
      // Partitions without any row are read in no time.
      const hasRead = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) > 0;
      if (type === 'Seq Scan' && isOfRows && hasRead) strange.push(`${type} of ${relation}`);
      if (/Index.* Scan/.test(type) && isOfRows && !/monitor_id = /.test(condition ?? ''))
        strange.push(`${type} of ${relation} by ${condition}`);
      if ((node['Rows Removed by Filter'] ?? 0) > 0)
        strange.push(`${relation}: ${node['Rows Removed by Filter']} rows were read for nothing`);
    }
  });
  const others = await keptRows(database, 101);
  const resetMs = nowMs - 24 * 3_600_000;
  const half = await emptyMonitor(worker, { monitorId: 100, beforeMs: resetMs, more: [] }, () => true);
  t.ok(half.isDone);
  t.match(await keptRows(database, 100), { check_results: 144, status_ranges: 24, probe_ranges: 24 });
  t.ok(half.removed.hourly_aggregates >= hours - 25, `${half.removed.hourly_aggregates} packed hours`);
  const rest = await emptyMonitor(worker, { monitorId: 100, beforeMs: null, more: [] }, () => true);
  t.ok(rest.isDone);
  t.same(await keptRows(database, 100), noRows);
  t.same(await keptRows(database, 101), others);
  t.same([...new Set(strange)], []);
  t.ok(queries > 20, `${queries} plans were looked at`);
});

void t.test('what another transaction holds is waited for, and nothing is passed over', async (t) => {
  const { urls, database } = await testDatabase(t);
  await database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    select 1, now() - i * interval '1 hour', now() - i * interval '1 hour' + interval '1 minute', 'UP' from generate_series(1, 20) i`);
  const holder = new pg.Client({ connectionString: urls.worker });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query('begin');
  await holder.query(
    `update status_ranges set status = 'DOWN' where id in (select id from status_ranges order by id limit 3)`,
  );
  let asked = 0;
  const emptying = emptyMonitor(database.worker, { monitorId: 1, beforeMs: null, more: [] }, () => {
    asked += 1;
    // Long enough after the others were removed that it must have met the held ones.
    if (asked === 15) void holder.query('commit');
    return true;
  });
  const { isDone, removed } = await emptying;
  t.ok(isDone);
  t.equal(removed.status_ranges, 20);
  t.ok(asked >= 15);
  t.same(await keptRows(database, 1), noRows);
});
