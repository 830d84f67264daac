import { listMaintenanceRoute, maintenanceSchema, previewMaintenanceRoute } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { groupsCapability } from '../../monitoring/groups/index.ts';
import { addMember, addRange } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { incidentsApi } from '../incidents/testing.ts';
import type { IncidentsApi } from '../incidents/testing.ts';
import {
  leaveMaintenanceOfDeleted,
  leaveMaintenanceOfMoved,
  maintenanceCapability,
  maintenanceOf,
  removeMaintenanceOfWorkspace,
} from './index.ts';
import { turnClock } from './job.ts';
import { coverWhatCame } from './occurrences/queries.ts';

const minute = 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();

type Window = Record<string, unknown> & { readonly id: number; readonly status: string; readonly version: number };

async function maintenanceApi(t: TestContext) {
  const api = await incidentsApi(t, {
    monitors: { onMonitorDeleted: [leaveMaintenanceOfDeleted], onMonitorsMoved: [leaveMaintenanceOfMoved] },
    more: [groupsCapability, maintenanceCapability],
  });
  const call = (method: string, path = '', body?: unknown, token = api.token) =>
    api.call(method, `/api/v1/maintenance${path}`, { token, ...(body === undefined ? {} : { body }) });
  /** A call elsewhere. */
  const elsewhere = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
    api.call(method, path, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...(headers === undefined ? {} : { headers }),
    });
  const rowSchema = z.object({ kind: z.string(), payload: z.record(z.string(), z.unknown()) });
  return {
    ...api,
    call,
    elsewhere,
    window: async (body: object): Promise<Window> => {
      const made = await call('POST', '', {
        workspace_id: api.workspaceId,
        title: 'Upgrade',
        scope: { all: true },
        starts_at: iso(api.clock.nowMs),
        duration_seconds: 300,
        ...body,
      });
      if (made.status !== 201) throw new Error(`${made.status} ${made.text}`);
      return made.body as Window;
    },
    read: async (id: number): Promise<Window> => (await call('GET', `/${id}`)).body as Window,
    /** Time passes, all clocks look, and what they tell is acted upon. */
    later: async (ms: number) => {
      api.clock.nowMs += ms;
      await turnClock(api.context);
      await coverWhatCame(api.database.worker);
      await api.passes(0);
    },
    told: () =>
      api.database.worker.any(sql.type(rowSchema)`
        select kind, payload from outbox where kind like 'maintenance.%' or kind like 'incident.%' order by id`),
    kinds: async (): Promise<string[]> =>
      (
        await api.database.worker.anyFirst(sql.type(z.object({ kind: z.string() }))`
          select kind from outbox where kind like 'maintenance.%' or kind like 'incident.%' order by id`)
      ).slice(),
  };
}

const covered = async (api: IncidentsApi): Promise<readonly number[]> =>
  api.database.worker.anyFirst(sql.typeAlias('id')`
    select subject_id as id from maintenance_subjects where ended_at is null order by subject_id`);

void t.test('a window begins and ends by the clock, once however many look', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const startsMs = api.clock.nowMs + minute;
  const made = await api.window({ starts_at: iso(startsMs) });
  t.ok(maintenanceSchema.safeParse(made).success);
  t.match(made, {
    status: 'scheduled',
    next_occurrence: { starts_at: iso(startsMs) },
    occurrences: [],
    ends_at: iso(startsMs + 5 * minute),
  });
  await api.later(minute - 1);
  t.match(await api.read(made.id), { status: 'scheduled' });
  api.clock.nowMs += 1;
  await Promise.all([turnClock(api.context), turnClock(api.context), turnClock(api.context)]);
  t.match(await api.read(made.id), {
    status: 'active',
    next_occurrence: null,
    occurrences: [{ starts_at: iso(startsMs), ended_at: null }],
  });
  t.same(await covered(api), [monitorId]);
  api.clock.nowMs += 6 * minute;
  const { worker } = api.database;
  await Promise.all([turnClock(api.context), coverWhatCame(worker), turnClock(api.context), coverWhatCame(worker)]);
  // Who looked for what came may have held the window from those: then the next turn ends it.
  await turnClock(api.context);
  t.match(await api.read(made.id), { status: 'completed', occurrences: [{ ended_at: iso(startsMs + 5 * minute) }] });
  t.same(await covered(api), []);
  t.match(await api.told(), [
    { kind: 'maintenance.started', payload: { maintenance_id: made.id, starts_at: iso(startsMs), ended_at: null } },
    { kind: 'maintenance.ended', payload: { maintenance_id: made.id, ended_at: iso(startsMs + 5 * minute) } },
  ]);
});

void t.test('an outage that begins inside is announced when the window ends, if it lasts', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  await api.window({});
  await api.later(0);
  await api.turns(monitorId, 'DOWN', api.clock.nowMs);
  await api.later(minute);
  t.same(await api.kinds(), ['maintenance.started'], 'held');
  const byHand = { workspace_id: api.workspaceId, title: 'It went wrong', monitor_ids: [monitorId] };
  const said = await api.incidents('POST', '', byHand);
  await api.incidents('POST', `/${String(said['id'])}/resolve`);
  t.same((await api.kinds()).slice(1), ['incident.opened', 'incident.resolved'], 'what a person opens is told');
  await api.database.worker.query(sql.unsafe`delete from incidents where is_manual`);
  await api.database.worker.query(sql.unsafe`delete from outbox where kind like 'incident.%'`);
  t.match(await api.incidents('GET'), { incidents: [{ status: 'open', is_held: true }] });
  await api.later(5 * minute);
  t.same(await api.kinds(), ['maintenance.started', 'maintenance.ended', 'incident.opened']);
  t.match(await api.incidents('GET'), { incidents: [{ is_held: false }] });
  await api.turns(monitorId, 'UP', api.clock.nowMs);
  t.same((await api.kinds()).slice(3), ['incident.resolved']);
});

void t.test('outages that ended inside give one all-clear', async (t) => {
  const api = await maintenanceApi(t);
  const a = await api.monitor({ name: 'a' });
  const b = await api.monitor({ name: 'b' });
  await api.window({});
  await api.later(0);
  for (const { id } of [a, b]) await api.turns(id, 'DOWN', api.clock.nowMs);
  await api.later(minute);
  for (const { id } of [a, b]) await api.turns(id, 'UP', api.clock.nowMs);
  t.same(await api.kinds(), ['maintenance.started']);
  await api.later(5 * minute);
  t.match((await api.told()).slice(1), [
    { kind: 'maintenance.ended' },
    {
      kind: 'maintenance.all_clear',
      payload: { incident_count: 2, incidents: [{ title: 'a is down' }, { title: 'b is down' }] },
    },
  ]);
  await api.later(minute);
  t.equal((await api.kinds()).length, 3, 'once');
});

void t.test('what began before is told as ever, and a window over another holds on', async (t) => {
  const api = await maintenanceApi(t);
  const { id: before } = await api.monitor({ name: 'before' });
  const { id: inside } = await api.monitor({ name: 'inside' });
  await api.turns(before, 'DOWN', api.clock.nowMs - minute);
  const short = await api.window({ duration_seconds: 60 });
  await api.window({ duration_seconds: 300 });
  await api.later(0);
  await api.turns(inside, 'DOWN', api.clock.nowMs);
  await api.turns(before, 'UP', api.clock.nowMs);
  await api.later(minute);
  t.match(await api.read(short.id), { status: 'completed' });
  t.same(await api.kinds(), [
    'incident.opened',
    'maintenance.started',
    'maintenance.started',
    'incident.resolved',
    'maintenance.ended',
  ]);
  await api.later(5 * minute);
  t.same((await api.kinds()).slice(5), ['maintenance.ended', 'incident.opened']);
});

void t.test('it is for monitors, groups, tags or all, as they are while it lasts', async (t) => {
  const api = await maintenanceApi(t);
  const one = await api.monitor({ name: 'one' });
  const tagged = await api.monitor({ name: 'tagged', tags: ['db'] });
  const member = await api.monitor({ name: 'member' });
  const ofTaggedGroup = await api.monitor({ name: 'of a tagged group' });
  const other = await api.monitor({ name: 'other' });
  const group = async (body: object) =>
    Number(
      (await api.elsewhere('POST', '/api/v1/monitor-groups', { workspace_id: api.workspaceId, ...body })).body['id'],
    );
  const plain = await group({ name: 'plain', monitor_ids: [member.id] });
  await group({ name: 'tagged', monitor_ids: [ofTaggedGroup.id], tags: ['db'] });
  const made = await api.window({ scope: { monitor_ids: [one.id], group_ids: [plain], tags: ['db'] } });
  t.match(made, { scope: { all: false, monitor_ids: [one.id], group_ids: [plain], tags: ['db'] } });
  await api.later(0);
  t.same(await covered(api), [one.id, tagged.id, member.id, ofTaggedGroup.id]);
  const late = await api.monitor({ name: 'late', tags: ['db'] });
  await api.later(1_000);
  t.same(await covered(api), [one.id, tagged.id, member.id, ofTaggedGroup.id, late.id]);
  const ids = async (query: string) =>
    ((await api.call('GET', query)).body['maintenance'] as Window[]).map(({ id }) => id);
  t.same(await ids(`?monitor_id=${tagged.id}`), [made.id]);
  t.same(await ids(`?monitor_id=${ofTaggedGroup.id}`), [made.id]);
  t.same(await ids(`?monitor_id=${other.id}`), []);
});

void t.test('a series is scheduled between its occurrences; one may be ended, all may be cancelled', async (t) => {
  const api = await maintenanceApi(t);
  await api.monitor();
  const startsMs = api.clock.nowMs;
  const day = 24 * 60 * minute;
  const made = await api.window({ rrule: 'FREQ=DAILY', timezone: 'UTC' });
  await api.later(0);
  t.match(await api.read(made.id), { status: 'active', next_occurrence: { starts_at: iso(startsMs + day) } });
  await api.later(minute);
  t.match(await api.call('POST', `/${made.id}/end`), {
    status: 200,
    body: {
      status: 'scheduled',
      occurrences: [{ ends_at: iso(startsMs + 5 * minute), ended_at: iso(startsMs + minute) }],
    },
  });
  t.match(await api.call('POST', `/${made.id}/end`), { status: 409, body: { code: 'conflict' } });
  const moved = await api.call('PUT', `/${made.id}`, { duration_seconds: 600, title: 'Longer' });
  t.match(
    moved.body,
    { title: 'Longer', duration_seconds: 600, next_occurrence: { starts_at: iso(startsMs + day) } },
    'today has begun',
  );
  await api.later(minute);
  t.match(await api.read(made.id), { status: 'scheduled', occurrences: [{ ended_at: iso(startsMs + minute) }] });
  t.match((await api.call('POST', `/${made.id}/cancel`)).body, { status: 'cancelled', next_occurrence: null });
  const again = await api.call('POST', `/${made.id}/cancel`);
  t.equal(again.status, 200);
  t.same(await api.kinds(), ['maintenance.started', 'maintenance.ended', 'maintenance.cancelled']);
  t.match(await api.call('PUT', `/${made.id}`, { starts_at: iso(startsMs + day) }), { status: 409 });
});

void t.test('a window under way that is cancelled or deleted ends now, and its time stays left out', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const startsMs = api.clock.nowMs;
  const made = await api.window({});
  await api.later(0);
  await api.turns(monitorId, 'DOWN', api.clock.nowMs);
  t.match(await api.call('PUT', `/${made.id}`, { duration_seconds: 600 }), { status: 409 }, 'it has begun');
  await api.later(minute);
  t.equal((await api.call('DELETE', `/${made.id}`)).status, 204);
  t.equal((await api.call('GET', `/${made.id}`)).status, 404);
  await api.later(0);
  t.same(await api.kinds(), ['maintenance.started', 'maintenance.ended', 'maintenance.cancelled', 'incident.opened']);
  const window = { fromMs: startsMs - 60 * minute, toMs: api.clock.nowMs + minute };
  t.match(await maintenanceOf(api.database.worker, 'monitor', [monitorId], window), [
    { subjectId: monitorId, fromMs: startsMs, toMs: startsMs + minute },
  ]);
});

void t.test('what passed while nobody looked begins and ends at its times', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const startsMs = api.clock.nowMs + minute;
  const made = await api.window({ starts_at: iso(startsMs), duration_seconds: 60 });
  await api.later(10 * minute);
  t.match(await api.read(made.id), {
    status: 'completed',
    occurrences: [{ starts_at: iso(startsMs), ended_at: iso(startsMs + minute) }],
  });
  t.match(await maintenanceOf(api.database.worker, 'monitor', [monitorId], { fromMs: 0, toMs: 8e15 }), [
    { fromMs: startsMs, toMs: startsMs + minute },
  ]);
});

void t.test('a preview shows the next occurrences, what is covered, and what would have been held', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop', tags: ['db'] });
  await api.monitor({ name: 'other' });
  const startsMs = api.clock.nowMs + 60 * minute;
  const week = 7 * 24 * 60 * minute;
  await addRange(api.database, { monitorId, fromMs: startsMs - week, toMs: null, status: 'DOWN' });
  await api.turns(monitorId, 'DOWN', startsMs - week + minute);
  await api.turns(monitorId, 'UP', startsMs - week + 3 * minute);
  await api.turns(monitorId, 'DOWN', startsMs - week + 90 * minute);
  const body = {
    workspace_id: api.workspaceId,
    scope: { tags: ['db'] },
    starts_at: iso(startsMs),
    duration_seconds: 3_600,
  };
  const weekly = await api.call('POST', '/preview', { ...body, rrule: 'FREQ=WEEKLY' });
  t.ok(previewMaintenanceRoute.success.answer?.safeParse(weekly.body).success);
  t.match(weekly.body, {
    occurrences: [{ starts_at: iso(startsMs) }, { starts_at: iso(startsMs + week) }],
    subjects: [{ type: 'monitor', id: monitorId, name: 'Shop' }],
    subject_count: 1,
    held_incidents: [{ title: 'Shop is down' }],
  });
  t.equal((weekly.body['held_incidents'] as unknown[]).length, 1);
  t.match((await api.call('POST', '/preview', body)).body, { occurrences: [{}], held_incidents: [] });
  const gap = await api.call('POST', '/preview', {
    ...body,
    starts_at: '2027-03-27T02:30:00',
    timezone: 'Europe/Berlin',
    rrule: 'FREQ=DAILY;COUNT=3',
  });
  t.match(gap.body, {
    occurrences: [
      { is_shifted: false },
      { is_shifted: true, starts_at: '2027-03-28T01:30:00.000Z' },
      { is_shifted: false },
    ],
  });
});

void t.test('hostile input is refused, and names its field', async (t) => {
  const api = await maintenanceApi(t);
  const good = {
    workspace_id: api.workspaceId,
    title: 'x',
    scope: { all: true },
    starts_at: iso(api.clock.nowMs),
    duration_seconds: 60,
  };
  const cases: readonly (readonly [object, number, string])[] = [
    [{ scope: {} }, 422, '/scope'],
    [{ scope: { all: true, tags: ['a'] } }, 422, '/scope/all'],
    [{ scope: { all: false } }, 422, '/scope'],
    [{ scope: { monitor_ids: [999_999] } }, 404, '/scope/monitor_ids/0'],
    [{ scope: { group_ids: [999_999] } }, 404, '/scope/group_ids/0'],
    [{ scope: { heartbeat_ids: [1] } }, 404, '/scope/heartbeat_ids/0'],
    [{ scope: { monitor_ids: [1, 1] } }, 422, '/scope/monitor_ids/1'],
    [{ duration_seconds: 59 }, 422, '/duration_seconds'],
    [{ duration_seconds: 2_678_401 }, 422, '/duration_seconds'],
    [{ starts_at: 'soon' }, 422, '/starts_at'],
    [{ starts_at: '2126-01-01T00:00:00Z' }, 422, '/starts_at'],
    [{ rrule: 'FREQ=SECONDLY' }, 422, '/rrule'],
    [{ rrule: `FREQ=DAILY;${'X'.repeat(500)}` }, 422, '/rrule'],
    [{ timezone: 'Mars/Olympus' }, 422, '/timezone'],
    [{ exdates: ['never'] }, 422, '/exdates/0'],
    [{ title: '' }, 422, '/title'],
    [{ colour: 'red' }, 422, '/colour'],
  ];
  for (const [change, status, path] of cases) {
    const answer = await api.call('POST', '', { ...good, ...change });
    t.match(answer, { status, body: { errors: [{ path }] } }, JSON.stringify(change).slice(0, 60));
  }
  const made = await api.window({});
  t.equal((await api.call('PUT', `/${made.id}`, { scope: {} })).status, 422);
  const stale = await api.elsewhere('PUT', `/api/v1/maintenance/${made.id}`, { title: 'y' }, { 'if-match': '"99"' });
  t.equal(stale.status, 412);
});

void t.test('a viewer reads and previews, an editor plans, a stranger sees nothing', async (t) => {
  const api = await maintenanceApi(t);
  const made = await api.window({ title: 'ours' });
  const eve = await api.account('eve@example.com');
  const as = async (method: string, path = '', body?: unknown) =>
    (await api.call(method, path, body, eve.accessToken)).status;
  t.equal(await as('GET', `/${made.id}`), 404);
  t.match((await api.call('GET', '', undefined, eve.accessToken)).body, { total: 0 });
  await addMember(api.database, api.workspaceId, eve.id, 'viewer');
  t.equal(await as('GET', `/${made.id}`), 200);
  for (const [method, path, body] of [
    ['PUT', `/${made.id}`, { title: 'mine' }],
    ['POST', `/${made.id}/cancel`],
    ['POST', `/${made.id}/end`],
    ['DELETE', `/${made.id}`],
    ['POST', '/calendar-token', { workspace_id: api.workspaceId }],
  ] as const) {
    t.equal(await as(method, path, body), 403, `${method} ${path}`);
  }
  const list = await api.call('GET', '?search=OURS');
  t.ok(listMaintenanceRoute.success.answer?.safeParse(list.body).success);
  t.match(list.body, { total: 1 });
  const audited = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'maintenance'`);
  t.same(audited, ['maintenance.created']);
});

void t.test('a monitor that is deleted or moved, and a workspace that goes, take their part along', async (t) => {
  const api = await maintenanceApi(t);
  const a = await api.monitor({ name: 'a' });
  const b = await api.monitor({ name: 'b' });
  const made = await api.window({ scope: { monitor_ids: [a.id, b.id] } });
  await api.later(0);
  await api.elsewhere('DELETE', `/api/v1/monitors/${a.id}`);
  t.match(await api.read(made.id), { scope: { monitor_ids: [b.id] } });
  const { body: place } = await api.elsewhere('POST', '/api/v1/workspaces', { name: 'second' });
  const move = { action: 'move', monitor_ids: [b.id], workspace_id: place['id'] };
  const { body: report } = await api.elsewhere('POST', '/api/v1/monitors/bulk', move);
  t.match(report, { ok: 1, monitors: [{ dropped: [{ type: 'maintenance', id: made.id }] }] });
  t.match(
    await maintenanceOf(api.database.worker, 'monitor', [b.id], { fromMs: 0, toMs: 8e15 }),
    [{ toMs: Number }],
    'its times stay',
  );
  await removeMaintenanceOfWorkspace(api.database.worker, api.workspaceId);
  t.equal((await api.call('GET', `/${made.id}`)).status, 404);
});
