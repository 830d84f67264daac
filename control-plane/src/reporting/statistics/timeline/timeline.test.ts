import t from 'tap';
import { z } from 'zod';
import { addProbe } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { dayMs, hourMs, reportingApi } from '../../testing.ts';
import type { ReportingApi } from '../../testing.ts';
import { probeTimes } from '../queries.ts';
import { readAvailability } from './queries.ts';

type Connection = Parameters<typeof readAvailability>[0];
type Asked = { readonly sql: string; readonly values: readonly unknown[] };

/** Runs a reading and says how many pages of the database each of its statements looked at, summed up. */
async function pagesRead(api: ReportingApi, read: (connection: Connection) => Promise<unknown>): Promise<number> {
  const asked: Asked[] = [];
  const { worker, raw } = api.database;
  const connection: Connection = {
    ...worker,
    any: (query) => {
      asked.push(query);
      return worker.any(query);
    },
  };
  await read(connection);
  let pages = 0;
  for (const query of asked) {
    const { rows } = await raw.query<{ 'QUERY PLAN': unknown }>({
      // The library numbers its placeholders in its own way.
      text: `explain (analyze, buffers, format json) ${query.sql.replaceAll('$slonik_', '$')}`,
      values: [...query.values],
    });
    const [plan] = planSchema.parse(rows[0]?.['QUERY PLAN']);
    pages += (plan?.Plan['Shared Hit Blocks'] ?? 0) + (plan?.Plan['Shared Read Blocks'] ?? 0);
  }
  return pages;
}

const planSchema = z.array(
  z.object({ Plan: z.object({ 'Shared Hit Blocks': z.number(), 'Shared Read Blocks': z.number() }) }),
);

void t.test('a window costs what overlaps it, however long the history and however many the neighbours', async (t) => {
  const api = await reportingApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const id = await api.oldMonitor(400 * dayMs);
  // Four months of ranges of ten minutes of each of four monitors, and of a probe of the one that is asked for.
  await api.database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    select m, s + n * interval '10 minutes', s + (n + 1) * interval '10 minutes', case n % 2 when 0 then 'UP' else 'DOWN' end
    from (select ${sql.timestamp(new Date(api.nowMs - 120 * dayMs))} as s) b, generate_series(0, 17279) n,
      (select ${id} as m union all select generate_series(1001, 1003)) ids`);
  await api.database.worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, ended_at, status)
    select ${id}, ${probe}, started_at, ended_at, status from status_ranges where monitor_id = ${id}`);
  const windowOf = (hours: number) => ({ fromMs: api.nowMs - hours * hourMs, toMs: api.nowMs, openUntilMs: api.nowMs });
  const report = (hours: number) =>
    pagesRead(api, (connection) => readAvailability(connection, id, windowOf(hours), { listedOutages: 10 }));
  const day = await report(24);
  t.ok(day < 60, `a day of 144 ranges: ${day} pages`);
  const month = await report(720);
  t.ok(month < 400, `a month of 4,320 ranges: ${month} pages`);
  const votes = await pagesRead(api, (connection) => probeTimes(connection, id, [probe], windowOf(24)));
  t.ok(votes < 60, `a day of a probe's votes: ${votes} pages`);
});
