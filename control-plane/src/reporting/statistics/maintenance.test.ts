import t from 'tap';
import { z } from 'zod';
import { addRange } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { closeDays } from '../sla/ledger/closing/job.ts';
import { dayMs, hourMs, reportingApi } from '../testing.ts';

const minuteMs = 60_000;

void t.test('time under maintenance counts neither way, and stands in figures of its own', async (t) => {
  const api = await reportingApi(t, { aheadMs: 0 });
  const { nowMs } = api;
  const id = await api.oldMonitor(40 * dayMs);
  const fromMs = nowMs - 10 * hourMs;
  await addRange(api.database, { monitorId: id, fromMs, toMs: fromMs + 4 * hourMs, status: 'UP' });
  await addRange(api.database, {
    monitorId: id,
    fromMs: fromMs + 4 * hourMs,
    toMs: fromMs + 6 * hourMs,
    status: 'DOWN',
  });
  await addRange(api.database, { monitorId: id, fromMs: fromMs + 6 * hourMs, toMs: fromMs + 8 * hourMs, status: 'UP' });
  // Two that overlap: three hours and a half, of which one hour and a half was down.
  for (const [startMs, endMs] of [
    [fromMs + 3 * hourMs, fromMs + 5 * hourMs],
    [fromMs + 4 * hourMs, fromMs + 5.5 * hourMs],
    [fromMs + 7 * hourMs, fromMs + 8 * hourMs],
  ] as const) {
    await api.database.worker.query(sql.unsafe`
      insert into maintenance_subjects (workspace_id, subject_type, subject_id, occurrence_id, started_at, ended_at)
      values (${api.workspaceId}, 'monitor', ${id}, ${startMs % 1_000_000}, ${sql.timestamp(new Date(startMs))}, ${sql.timestamp(new Date(endMs))})`);
  }
  const stats = await api.get(`/api/v1/monitors/${id}/stats?hours=24`);
  const measured = { up: 4 * 3_600, down: 1_800, maintenance: 3.5 * 3_600 };
  t.match(stats, { seconds: measured }, JSON.stringify(stats));
  const sla = await api.get(`/api/v1/monitors/${id}/sla?hours=24`);
  t.match(sla, { maintenance_seconds: 3.5 * 3_600 }, JSON.stringify(sla).slice(0, 800));
  const monitor = await api.get(`/api/v1/monitors/${id}`);
  t.equal(monitor['uptime_24h'], 88.8888, 'in the list and the monitor too');
  // One that lasts, over what is measured now.
  await addRange(api.database, { monitorId: id, fromMs: nowMs - hourMs, toMs: nowMs, status: 'DOWN' });
  await api.database.worker.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, subject_type, subject_id, occurrence_id, started_at)
    values (${api.workspaceId}, 'monitor', ${id}, 7, ${sql.timestamp(new Date(nowMs - 30 * minuteMs))})`);
  t.match(await api.get(`/api/v1/monitors/${id}/stats?hours=24`), { seconds: { down: 3_600, maintenance: 4 * 3_600 } });
});

void t.test('a day of the ledger has it too', async (t) => {
  const api = await reportingApi(t);
  const day = Math.floor(api.nowMs / dayMs) * dayMs - 3 * dayMs;
  const id = await api.oldMonitor(api.nowMs - day);
  await addRange(api.database, { monitorId: id, fromMs: day, toMs: day + dayMs, status: 'DOWN' });
  await api.database.worker.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, subject_type, subject_id, occurrence_id, started_at, ended_at)
    values (${api.workspaceId}, 'monitor', ${id}, 1, ${sql.timestamp(new Date(day + hourMs))}, ${sql.timestamp(new Date(day + 3 * hourMs))})`);
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(api.nowMs))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
  await closeDays(api.context, () => true);
  const entry = await api.database.worker.oneFirst(sql.type(z.object({ entry: z.string() }))`
    select entry from sla_ledger where monitor_id = ${id} order by seq limit 1`);
  t.match(JSON.parse(entry), { maintenance_ms: 2 * hourMs }, entry);
});
