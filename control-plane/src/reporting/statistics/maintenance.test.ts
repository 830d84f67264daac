import t from 'tap';
import { addRange, monitorsApi } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { slaCapability } from '../sla/index.ts';
import { statisticsCapability } from './index.ts';

const minute = 60_000;

void t.test('time in maintenance counts neither as up nor as down, in statistics and in the SLA', async (t) => {
  const api = await monitorsApi(t, { more: [statisticsCapability, slaCapability] });
  const { id } = await api.monitor({ name: 'Shop' });
  const nowMs = Date.now();
  const at = (minutes: number) => sql.timestamp(new Date(nowMs - minutes * minute));
  await api.database.worker.query(sql.unsafe`update monitors set created_at = ${at(100)} where id = ${id}`);
  await addRange(api.database, {
    monitorId: id,
    fromMs: nowMs - 100 * minute,
    toMs: nowMs - 60 * minute,
    status: 'UP',
  });
  await addRange(api.database, {
    monitorId: id,
    fromMs: nowMs - 60 * minute,
    toMs: nowMs - 20 * minute,
    status: 'DOWN',
  });
  await addRange(api.database, { monitorId: id, fromMs: nowMs - 20 * minute, toMs: null, status: 'UP' });
  // Two windows that overlap, which count once: from 70 to 30 minutes ago.
  for (const [from, to] of [
    [70, 40],
    [50, 30],
  ] as const) {
    await api.database.worker.query(sql.unsafe`
      insert into maintenance_subjects (workspace_id, subject_type, subject_id, started_at, ended_at)
      values (${api.workspaceId}, 'monitor', ${id}, ${at(from)}, ${at(to)})`);
  }
  const stats = await api.call('GET', `/api/v1/monitors/${id}/stats?hours=24`, { token: api.token });
  t.match(stats.body, { seconds: { maintenance: 40 * 60, down: 10 * 60 } });
  const sla = await api.call('GET', `/api/v1/monitors/${id}/sla?hours=24`, { token: api.token });
  t.match(sla.body, { maintenance_seconds: 40 * 60, downtime_seconds: 10 * 60 });
});
