import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { iso, maintenanceApi } from '../testing.ts';
import { removeMaintenanceOfWorkspace } from './queries.ts';

void t.test('a monitor that is moved leaves what names it, takes its time along and is told of', async (t) => {
  const api = await maintenanceApi(t);
  const { id } = await api.monitor();
  const there = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'there' } });
  const named = await api.maintenance({
    starts_at: iso(Date.now()),
    scope: { subjects: [{ type: 'monitor', id }], tags: ['x'] },
  });
  await api.maintenance({ starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  await api.turn(id, 'DOWN', Date.now());
  const moved = await api.call('POST', '/api/v1/monitors/bulk', {
    token: api.token,
    body: { action: 'move', monitor_ids: [id], workspace_id: Number(there.body['id']) },
  });
  t.match(moved.body, { monitors: [{ result: 'ok', dropped: [{ type: 'maintenance', id: named.id }] }] }, moved.text);
  t.match(await api.read(named.id), { scope: { subjects: [], tags: ['x'] } });
  await api.settleAt(Date.now());
  t.same(await api.told(id), ['opened'], 'nothing covers it there');
  t.equal((await api.intervals(id)).filter(([, ended]) => ended !== null).length, 2, 'its time stays its own');
});

void t.test('a reset forgets what ended before it; what lasts goes on', async (t) => {
  const api = await maintenanceApi(t);
  const { id } = await api.monitor();
  const first = await api.maintenance({ starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  await api.plan('POST', `/${first.id}/end`);
  await api.maintenance({ starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  t.equal((await api.intervals(id)).length, 2);
  const reset = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200, reset.text);
  const left = await api.intervals(id);
  t.equal(left.length, 1);
  t.equal(left[0]?.[1], null);
});

void t.test('a workspace that is emptied keeps no maintenance', async (t) => {
  const api = await maintenanceApi(t);
  await api.monitor();
  await api.maintenance({ starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  await api.plan('POST', '/calendar/rotate', { workspace_id: api.workspaceId });
  await removeMaintenanceOfWorkspace(api.database.worker, api.workspaceId);
  const rows = await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select ((select count(*) from maintenance) + (select count(*) from maintenance_occurrences) + (select count(*) from calendar_tokens))::integer as n`);
  t.equal(rows, 0);
  await api.settleAt(Date.now());
});
