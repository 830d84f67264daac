import t from 'tap';
import { addMember, addResults, monitorsApi, setStatus } from '../../monitoring/testing.ts';
import { addPackedHours } from '../../monitoring/monitors/emptying/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { accountStatsCapability } from './index.ts';

const hourMs = 3_600_000;

t.test('a user is told numbers of all that they may see, and of nothing else', async (t) => {
  const api = await monitorsApi(t, { more: [accountStatsCapability] });
  const stats = async (token: string) => (await api.call('GET', '/api/v1/auth/me/stats', { token })).body;
  t.same(await stats(api.token), {
    monitors: { total: 0, up: 0, down: 0, degraded: 0, unknown: 0, paused: 0 },
    heartbeats: 0,
    alerts: 1,
    open_incidents: 0,
    checks_24h: 0,
  });
  const statuses = ['UP', 'UP', 'DOWN', 'TIMEOUT', 'PARTIAL', 'UNKNOWN', 'UP', 'UP'];
  const ids: number[] = [];
  for (const [index, status] of statuses.entries()) {
    const { id } = await api.monitor({ name: `monitor ${index}` });
    ids.push(id);
    await setStatus(api.database, id, status);
  }
  await api.call('POST', `/api/v1/monitors/${ids[6]}/pause`, { token: api.token });
  await api.call('DELETE', `/api/v1/monitors/${ids[7]}`, { token: api.token });
  await api.database.worker.query(sql.unsafe`
    insert into incidents (workspace_id, title, started_at, status, resolved_at, deleted_at) values
      (${api.workspaceId}, 'down', now(), 'acknowledged', null, null),
      (${api.workspaceId}, 'down', now(), 'open', null, null),
      (${api.workspaceId}, 'down', now(), 'open', null, now()),
      (${api.workspaceId}, 'down', now(), 'resolved', now(), null)`);
  t.match(await stats(api.token), {
    monitors: { total: 7, up: 2, down: 2, degraded: 1, unknown: 1, paused: 1 },
    open_incidents: 2,
  });
  const eve = await api.account('eve@example.com');
  t.match(await stats(eve.accessToken), { monitors: { total: 0 }, open_incidents: 0 }, 'a stranger');
  await addMember(api.database, api.workspaceId, eve.id, 'viewer');
  t.match(await stats(eve.accessToken), { monitors: { total: 7 }, open_incidents: 2 }, 'a member');
});

t.test('checks are counted over a day, packed or not, and not from before a reset', async (t) => {
  const api = await monitorsApi(t, { more: [accountStatsCapability] });
  const checks = async () => (await api.call('GET', '/api/v1/auth/me/stats', { token: api.token })).body['checks_24h'];
  const { id } = await api.monitor();
  const { id: other } = await api.monitor({ name: 'other' });
  const nowMs = Date.now();
  const hour = Math.floor(nowMs / hourMs);
  const at = (ms: number, monitorId = id) => ({ monitorId, probeId: 1, atMs: ms });
  await addResults(api.database, [
    at(nowMs - 1_000),
    at(nowMs - 2_000),
    at(nowMs - 24 * hourMs + 60_000),
    at(nowMs - 24 * hourMs - 60_000),
    at(nowMs - 2_000, other),
    // Stands in the packed hour below too.
    at((hour - 3) * hourMs + 5_000),
    // As does this, and another came since.
    at((hour - 4) * hourMs + 5_000),
    at((hour - 4) * hourMs + 6_000),
  ]);
  t.equal(await checks(), 7, 'the rows of the last 24 hours');
  await addPackedHours(api.database, id, hour - 4, hour - 3);
  t.equal(await checks(), 7 - 3 + 2 * 12, 'a packed hour says its number');
  await api.database.worker.query(sql.unsafe`insert into stale_hours (monitor_id, hour) values (${id}, ${hour - 4})`);
  t.equal(await checks(), 7 - 1 + 12, 'but not one that late results reopened');
  await api.database.worker.query(sql.unsafe`
    update monitors set reset_at = ${sql.timestamp(new Date(nowMs - 1_500))} where id = ${id}`);
  t.equal(await checks(), 2, 'nothing of before a reset');
});
