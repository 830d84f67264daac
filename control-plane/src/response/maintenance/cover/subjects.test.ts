import t from 'tap';
import { z } from 'zod';
import { heartbeatsCapability } from '../../../monitoring/heartbeats/index.ts';
import { webhookChecksCapability } from '../../../monitoring/webhook-checks/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { hourMs, iso, maintenanceApi, minuteMs } from '../testing.ts';
import type { MaintenanceApi } from '../testing.ts';

/** A heartbeat and a webhook check with a tag. */
async function pair(api: MaintenanceApi): Promise<readonly [number, number]> {
  const create = (path: string, more: object) =>
    api.call('POST', `/api/v1/${path}`, { token: api.token, body: { name: 'job', tags: ['db'], ...more } });
  const made = await Promise.all([
    create(`heartbeats?workspace_id=${api.workspaceId}`, {}),
    create('webhook-checks', { workspace_id: api.workspaceId, signature: 'github' }),
  ]);
  for (const { status, text } of made) if (status !== 201) throw new Error(text);
  return [Number(made[0].body['id']), Number(made[1].body['id'])];
}

const allClear = z.object({ payload: z.looseObject({ incident_count: z.number(), maintenance_id: z.number() }) });

void t.test('heartbeats and webhook checks are held, by name, by tag and as a part of everything', async (t) => {
  const api = await maintenanceApi(t, [heartbeatsCapability, webhookChecksCapability]);
  const [heartbeat, check] = await pair(api);
  const subjects = [
    { type: 'heartbeat', id: heartbeat },
    { type: 'webhook_check', id: check },
  ];
  let startsMs = Math.floor(Date.now() / 1_000) * 1_000 + hourMs;
  for (const scope of [{ all: true }, { tags: ['db'] }, { subjects }]) {
    const asked = { workspace_id: api.workspaceId, name: 'x', scope, starts_at: iso(startsMs), duration_seconds: 60 };
    const preview = await api.plan('POST', '/preview', asked);
    t.match(preview.body, { monitors: 0, heartbeats: 1, webhook_checks: 1 }, preview.text);
    const made = await api.maintenance({ scope, starts_at: iso(startsMs) });
    if ('subjects' in scope) t.match(made.scope, scope);
    await api.tickAt(startsMs);
    const before = (await api.toldOf('heartbeat', heartbeat)).length;
    await api.subjectTells('heartbeat', heartbeat, 'failed', startsMs + minuteMs);
    await api.subjectTells('webhook_check', check, 'failed', startsMs + minuteMs);
    t.equal((await api.toldOf('heartbeat', heartbeat)).length, before, 'held');
    await api.subjectTells('webhook_check', check, 'recovered', startsMs + 2 * minuteMs);
    await api.tickAt(startsMs + hourMs);
    t.equal((await api.toldOf('heartbeat', heartbeat)).length, before + 1, 'what lasts is told at the end');
    await api.subjectTells('heartbeat', heartbeat, 'recovered', startsMs + hourMs + minuteMs);
    t.same(await api.toldOf('webhook_check', check), [], 'what is over is part of the all-clear');
    const clears = await api.database.worker.any(sql.type(allClear)`
      select payload from outbox where kind = 'maintenance.all_clear' order by id`);
    t.match(clears.at(-1), { payload: { maintenance_id: made.id, name: made.name, incident_count: 1 } });
    startsMs += 2 * hourMs;
  }
});

void t.test('a deleted one is not named any more and is let go; one of another workspace is not found', async (t) => {
  const api = await maintenanceApi(t, [heartbeatsCapability, webhookChecksCapability]);
  const [heartbeat, check] = await pair(api);
  const scope = {
    subjects: [
      { type: 'heartbeat', id: heartbeat },
      { type: 'webhook_check', id: check },
    ],
  };
  const { id } = await api.maintenance({ scope, starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  const removed = await api.call('DELETE', `/api/v1/heartbeats/${heartbeat}`, { token: api.token });
  t.equal(removed.status, 204, removed.text);
  await api.settleAt(Date.now());
  t.same((await api.read(id)).scope.subjects, [{ type: 'webhook_check', id: check }]);
  const open = await api.database.worker.anyFirst(sql.type(z.object({ type: z.string() }))`
    select subject_type as type from maintenance_subjects where ended_at is null`);
  t.same(open, ['webhook_check']);
  const other = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'other' } });
  const foreign = await api.plan('POST', '', {
    workspace_id: Number(other.body['id']),
    name: 'x',
    scope: { subjects: [{ type: 'webhook_check', id: check }] },
    starts_at: iso(Date.now() + hourMs),
    duration_seconds: 60,
  });
  t.match(foreign, { status: 404, body: { errors: [{ path: '/scope/subjects/0/id' }] } }, foreign.text);
});

void t.test('their time under maintenance counts neither way', async (t) => {
  const api = await maintenanceApi(t, [heartbeatsCapability, webhookChecksCapability]);
  const [heartbeat, check] = await pair(api);
  const nowMs = Date.now();
  const at = (minutesAgo: number) => sql.timestamp(new Date(nowMs - minutesAgo * minuteMs));
  // Up for half an hour, then down for half an hour, of which ten minutes and the last five were planned.
  for (const [status, from, to] of [
    ['up', at(60), at(30)],
    ['down', at(30), null],
  ] as const) {
    await api.database.worker.query(sql.unsafe`
      insert into heartbeat_ranges (heartbeat_id, workspace_id, started_at, ended_at, status)
      values (${heartbeat}, ${api.workspaceId}, ${from}, ${to}, ${status})`);
    await api.database.worker.query(sql.unsafe`
      insert into webhook_check_ranges (check_id, workspace_id, started_at, ended_at, status)
      values (${check}, ${api.workspaceId}, ${from}, ${to}, ${status})`);
  }
  for (const [type, id] of [
    ['heartbeat', heartbeat],
    ['webhook_check', check],
  ] as const) {
    for (const [occurrence, from, to] of [
      [1, at(30), at(20)],
      [2, at(5), null],
    ] as const) {
      await api.database.worker.query(sql.unsafe`
        insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
        values (${api.workspaceId}, ${occurrence}, ${type}, ${id}, ${from}, ${to})`);
    }
  }
  const read = (path: string) => api.call('GET', `/api/v1/${path}/stats?hours=24`, { token: api.token });
  const uptime = (100 * 30) / 45;
  const stats = await read(`heartbeats/${heartbeat}`);
  t.match(stats.body, { hours: 24, seconds: { up: 1_800, down: 900 }, outages: 1 }, stats.text);
  t.ok(Math.abs(Number(stats.body['uptime_percent']) - uptime) < 0.01, stats.text);
  const said = await read(`webhook-checks/${check}`);
  t.match(said.body, { seconds: { up: 1_800, down: 900 } }, said.text);
  t.ok(Math.abs(Number(said.body['uptime_percent']) - uptime) < 0.01, said.text);
});
