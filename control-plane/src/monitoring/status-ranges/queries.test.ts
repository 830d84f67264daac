import pg from 'pg';
import t from 'tap';
import type { CommonQueryMethods, QuerySqlToken } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Database } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { insertMonitors, insertWorkspace } from '../check-results/ingest/testing/fixture.ts';
import { addRange } from '../testing.ts';
import { rangesOfProbes, sampleReadModels, statusRanges, statusRangesPage } from './queries.ts';
import type { StatusRangeItem } from './queries.ts';

const hourMs = 3_600_000;
const nowMs = Math.floor(Date.now() / 1_000) * 1_000;

async function monitorsIn(database: Database, count: number): Promise<number[]> {
  const owner = await insertWorkspace(database.raw);
  return insertMonitors(database.raw, owner, { count, probes: [], createdMs: nowMs - 1_000 * hourMs });
}

const at = (hoursAgo: number): number => nowMs - hoursAgo * hourMs;
const shown = (ranges: readonly StatusRangeItem[]) =>
  ranges.map(({ status, startedMs, endedMs }) => [
    status,
    (nowMs - startedMs) / hourMs,
    endedMs === null ? null : (nowMs - endedMs) / hourMs,
  ]);

void t.test('ranges that overlap a window are told whole; those of before a reset are told nowhere', async (t) => {
  const { database } = await testDatabase(t);
  const [monitorId = 0, other = 0] = await monitorsIn(database, 2);
  const add = (from: number, to: number | null, status: 'UP' | 'DOWN', probeId?: number, id = monitorId) =>
    addRange(database, {
      monitorId: id,
      fromMs: at(from),
      toMs: to === null ? null : at(to),
      status,
      ...(probeId === undefined ? {} : { probeId }),
    });
  await add(50, 40, 'UP');
  await add(40, 30, 'DOWN');
  await add(28, 10, 'UP');
  await add(10, null, 'DOWN');
  await add(100, null, 'UP', undefined, other);
  for (const probe of [0, 1, 2]) {
    await add(50, 30, 'UP', probe);
    await add(30, 20 - probe, 'DOWN', probe);
    if (probe > 0) await add(5, null, 'UP', probe);
  }
  const { worker } = database;
  const between = async (from: number, to: number) => shown(await statusRanges(worker, monitorId, at(from), at(to)));
  t.same(await between(45, 35), [
    ['UP', 50, 40],
    ['DOWN', 40, 30],
  ]);
  t.same(await between(40, 30), [['DOWN', 40, 30]], 'half-open on both sides');
  t.same(await between(29, 28.5), [], 'in a gap');
  t.same(await between(29, 0), [
    ['UP', 28, 10],
    ['DOWN', 10, null],
  ]);
  t.same(await between(1, 0), [['DOWN', 10, null]], 'the one that began long before');
  t.same(await between(1_000, 60), []);
  t.same(await between(1_000, 0).then((found) => found.length), 4);
  const page = async (hours?: number, page = 1, pageSize = 2) => {
    const found = await statusRangesPage(worker, monitorId, { page, pageSize, hours });
    return [found.total, ...shown(found.items)];
  };
  t.same(await page(), [4, ['DOWN', 10, null], ['UP', 28, 10]]);
  t.same(await page(undefined, 2), [4, ['DOWN', 40, 30], ['UP', 50, 40]]);
  t.same(await page(9), [1, ['DOWN', 10, null]]);
  t.same(await page(28), [2, ['DOWN', 10, null], ['UP', 28, 10]], 'the gap before is none');
  t.same(await page(30), [2, ['DOWN', 10, null], ['UP', 28, 10]], 'what ended when the window begins is not in it');
  t.same(await page(31), [3, ['DOWN', 10, null], ['UP', 28, 10]]);
  t.same(await page(31, 2), [3, ['DOWN', 40, 30]]);
  t.same(await page(29), [2, ['DOWN', 10, null], ['UP', 28, 10]]);
  t.same(await page(17_520, 3), [4]);

  const many = await rangesOfProbes(worker, monitorId, [2, 0, 1, 7, 1], at(25), at(0));
  t.same(new Set(many.keys()), new Set([0, 1, 2]));
  for (const probe of [0, 1, 2, 7]) {
    const alone = await rangesOfProbes(worker, monitorId, [probe], at(25), at(0));
    t.same(shown(many.get(probe) ?? []), shown(alone.get(probe) ?? []), `probe ${probe}`);
  }
  t.same(shown(many.get(2) ?? []), [
    ['DOWN', 30, 18],
    ['UP', 5, null],
  ]);
  t.equal((await rangesOfProbes(worker, monitorId, [], at(25), at(0))).size, 0);

  await worker.query(sql.unsafe`update monitors set status = 'DOWN' where id = ${monitorId}`);
  await worker.query(sql.unsafe`update monitors set status = 'UP' where id = ${other}`);
  const wrong = async () =>
    (await Promise.all(Array.from({ length: 20 }, () => sampleReadModels(worker)))).some((sample) => sample.wrong > 0);
  t.notOk(await wrong());

  await worker.query(sql.unsafe`
    update monitors set reset_at = ${sql.timestamp(new Date(at(28)))} where id = ${monitorId}`);
  t.same(await between(1_000, 0), [
    ['UP', 28, 10],
    ['DOWN', 10, null],
  ]);
  t.same(await page(), [2, ['DOWN', 10, null], ['UP', 28, 10]]);
  t.same(shown((await rangesOfProbes(worker, monitorId, [0, 1, 2], at(60), at(0))).get(2) ?? []), [['UP', 5, null]]);
  await worker.query(sql.unsafe`
    update monitors set reset_at = ${sql.timestamp(new Date(at(3)))}, status = 'UNKNOWN' where id = ${monitorId}`);
  t.same(await between(1_000, 0), []);
  t.same(await page(), [0]);
  t.same(await page(9), [0]);
  t.equal((await rangesOfProbes(worker, monitorId, [0, 1, 2], at(60), at(0))).size, 0);
  t.notOk(await wrong(), 'an open range of before a reset is none');
});

/** The connection, with how many pages the queries touched. */
function counting(connection: CommonQueryMethods): {
  readonly connection: CommonQueryMethods;
  readonly pages: () => number;
} {
  let pages = 0;
  const explain = async (query: QuerySqlToken): Promise<void> => {
    const parser = z.object({
      'QUERY PLAN': z.array(
        z.object({ Plan: z.object({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() }) }),
      ),
    });
    const plan = await connection.one({
      ...query,
      sql: `explain (analyze, buffers, format json) ${query.sql}`,
      parser,
    });
    const blocks = plan['QUERY PLAN'][0]?.Plan;
    pages += (blocks?.['Shared Hit Blocks'] ?? 0) + (blocks?.['Shared Read Blocks'] ?? 0);
  };
  const wrapped = new Proxy(connection, {
    get: (target, key) => {
      const method = Reflect.get(target, key) as (query: QuerySqlToken) => Promise<unknown>;
      if (key !== 'any' && key !== 'one' && key !== 'oneFirst') return method;
      return async (query: QuerySqlToken) => {
        await explain(query);
        return method.call(target, query);
      };
    },
  });
  return {
    connection: wrapped,
    pages: () => {
      const found = pages;
      pages = 0;
      return found;
    },
  };
}

void t.test(
  'readings touch pages in proportion to the ranges that they tell, not to those that there are',
  async (t) => {
    const { database, urls } = await testDatabase(t);
    const ids = await monitorsIn(database, 20);
    const monitorId = ids[10] ?? 0;
    const each = 5_000;
    await database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    select m, now() - i * interval '10 minutes', now() - i * interval '10 minutes' + interval '10 minutes', 'UP'
    from generate_series(1, ${each}::integer) i, unnest(${sql.array(ids, 'int4')}) m order by i desc, m`);
    await database.worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, ended_at, status)
    select monitor_id, probe_id, started_at, ended_at, status from status_ranges, generate_series(1, 3) probe_id
    where monitor_id between ${monitorId - 1} and ${monitorId + 1}`);
    const owner = new pg.Client({ connectionString: urls.owner });
    await owner.connect();
    // Rows are known to be visible to all, and the index enough, only when the log is written up to their commit, which tests do not wait for.
    await owner.query('set synchronous_commit = on');
    await owner.query('analyze status_ranges');
    await owner.query('vacuum analyze status_ranges');
    await owner.query('vacuum analyze probe_ranges');
    await owner.end();
    const { connection, pages } = counting(database.worker);
    // A few pages for each descent of an index, one for each row at worst.
    const most = (rows: number): number => 30 + 3 * rows;
    const page = await statusRangesPage(connection, monitorId, { page: 1, pageSize: 20, hours: 24 });
    t.equal(page.items.length, 20);
    t.ok(page.total >= 143 && page.total <= 145);
    const ofPage = pages();
    t.ok(ofPage <= most(20 + page.total), `a page and its number of a day: ${ofPage} pages`);
    const deep = await statusRangesPage(connection, monitorId, { page: 240, pageSize: 20, hours: 1_000 });
    t.equal(deep.items.length, 20);
    t.equal(deep.total, each);
    t.equal(
      deep.items[0]?.id,
      (await statusRangesPage(database.worker, monitorId, { page: 1, pageSize: 4_781 })).items.at(-1)?.id,
    );
    const ofDeep = pages();
    t.ok(ofDeep <= most(20) + each / 50, `a page far back, of all there are: ${ofDeep} pages`);
    const day = await statusRanges(connection, monitorId, Date.now() - 24 * hourMs, Date.now());
    const ofDay = pages();
    t.ok(ofDay <= most(day.length), `a day: ${ofDay} pages for ${day.length} ranges`);
    const old = await statusRanges(connection, monitorId, Date.now() - 500 * hourMs, Date.now() - 499 * hourMs);
    const ofOld = pages();
    t.ok(old.length >= 6 && ofOld <= most(old.length), `an hour of long ago: ${ofOld} pages for ${old.length} ranges`);
    const probes = await rangesOfProbes(
      connection,
      monitorId,
      [1, 2, 3],
      Date.now() - 10 * hourMs,
      Date.now() - 9 * hourMs,
    );
    const rows = [...probes.values()].flat().length;
    const ofProbes = pages();
    t.ok(rows >= 18 && ofProbes <= most(rows) + 60, `three probes: ${ofProbes} pages for ${rows} ranges`);
  },
);
