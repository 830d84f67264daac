import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { dueEnds, dueStarts, endOccurrence, startOccurrence } from './claims/queries.ts';
import { dayMs, hourMs, iso, maintenanceApi, minuteMs } from './testing.ts';

void t.test('a maintenance starts and ends by the clock, and is told once each, whoever sees it', async (t) => {
  const api = await maintenanceApi(t);
  const { worker } = api.database;
  const { id: monitorId } = await api.monitor();
  const made = await api.maintenance();
  const { id } = made;
  const startsMs = Date.parse(made.starts_at);
  t.equal(await api.tickAt(startsMs - 1), 0);
  // Two workers that saw the same state.
  const due = await dueStarts(worker, startsMs);
  t.same(
    (await Promise.all([...due, ...due].map((each) => startOccurrence(worker, each)))).filter(Boolean),
    [true],
    'one of two starts it',
  );
  const active = await api.read(id);
  t.match(active, {
    status: 'active',
    version: 2,
    next: null,
    current: { starts_at: made.starts_at, ends_at: made.ends_at },
  });
  t.same(await api.intervals(monitorId), [[startsMs, null]]);
  t.equal(await api.tickAt(startsMs + hourMs - 1), 0);
  const ending = await dueEnds(worker, startsMs + hourMs);
  t.same(
    (await Promise.all([...ending, ...ending].map((each) => endOccurrence(worker, each)))).filter(Boolean),
    [true],
    'one of two ends it',
  );
  t.equal(await api.tickAt(startsMs + 2 * hourMs), 0);
  t.match(await api.read(id), { status: 'completed', current: null, next: null, version: 3 });
  t.same(
    await api.intervals(monitorId),
    [[startsMs, startsMs + hourMs]],
    'to the planned end, however late it was noticed',
  );
  t.same(await api.news(), [`maintenance.started ${id}`, `maintenance.ended ${id}`]);
  t.match((await api.plan('GET', `/${id}/occurrences`)).body, {
    total: 1,
    occurrences: [{ ended_at: iso(startsMs + hourMs), end_reason: 'elapsed' }],
  });
  t.match(await api.plan('POST', `/${id}/cancel`), { status: 409 });
  t.match(await api.plan('PUT', `/${id}`, { duration_seconds: 60 }), { status: 409 });
  t.match(await api.plan('PUT', `/${id}`, { name: 'Done' }), { status: 200, body: { name: 'Done' } });
});

void t.test('after a standstill every occurrence that was missed has been, at its time', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const made = await api.maintenance({ rrule: 'FREQ=DAILY;COUNT=4' });
  const startsMs = Date.parse(made.starts_at);
  t.equal(await api.tickAt(startsMs + 2 * dayMs + minuteMs), 5, 'two whole ones and the third has begun');
  t.match(await api.read(made.id), { status: 'active', next: { starts_at: iso(startsMs + 3 * dayMs) } });
  t.same(await api.intervals(monitorId), [
    [startsMs, startsMs + hourMs],
    [startsMs + dayMs, startsMs + dayMs + hourMs],
    [startsMs + 2 * dayMs, null],
  ]);
  await api.tickAt(startsMs + 2 * dayMs + hourMs);
  t.match(await api.read(made.id), { status: 'scheduled', current: null });
  await api.tickAt(startsMs + 9 * dayMs);
  t.match(await api.read(made.id), { status: 'completed' });
  t.equal((await api.intervals(monitorId)).length, 4);
});

void t.test('what happens inside is told at the end as what is left of it', async (t) => {
  const api = await maintenanceApi(t);
  const [lasts, over, before, well, outside] = await api.manyMonitors(5);
  if (lasts === undefined || over === undefined || before === undefined || well === undefined || outside === undefined)
    return t.fail('no monitors');
  const scope = { subjects: [lasts, over, before, well].map((id) => ({ type: 'monitor', id })) };
  const made = await api.maintenance({ scope });
  const startsMs = Date.parse(made.starts_at);
  await api.turn(before, 'DOWN', startsMs - minuteMs);
  t.same(await api.told(before), ['opened']);
  await api.tickAt(startsMs);
  await api.turn(lasts, 'TIMEOUT', startsMs + minuteMs);
  await api.turn(over, 'DOWN', startsMs + minuteMs);
  await api.turn(over, 'PARTIAL', startsMs + 2 * minuteMs);
  await api.turn(over, 'DEGRADED', startsMs + 3 * minuteMs);
  await api.turn(over, 'DOWN', startsMs + 4 * minuteMs);
  await api.turn(over, 'UP', startsMs + 5 * minuteMs);
  await api.turn(before, 'UP', startsMs + minuteMs);
  await api.turn(well, 'WARNING', startsMs + minuteMs);
  await api.turn(outside, 'DOWN', startsMs + minuteMs);
  t.same(
    await Promise.all([lasts, over, before, well, outside].map(api.told)),
    [[], [], ['opened', 'resolved'], [], ['opened']],
    'held; a recovery of what was told before is told',
  );
  await api.tickAt(startsMs + hourMs);
  t.same(await Promise.all([lasts, over, before, well, outside].map(api.told)), [
    ['opened'],
    [],
    ['opened', 'resolved'],
    [],
    ['opened'],
  ]);
  await api.tickAt(startsMs + 2 * hourMs);
  await api.turn(lasts, 'UP', startsMs + 2 * hourMs);
  await api.turn(over, 'DOWN', startsMs + 2 * hourMs);
  t.same(await Promise.all([lasts, over].map(api.told)), [['opened', 'resolved'], ['opened']]);
  const onset = await api.database.worker.oneFirst(sql.type(z.object({ since: z.string() }))`
    select payload ->> 'started_at' as since from outbox
    where kind = 'incident.opened' and payload -> 'members' @> ${JSON.stringify([{ id: lasts }])}::jsonb`);
  t.equal(onset, iso(startsMs + minuteMs), 'the onset is that of the outage');
  t.same(
    (await api.news()).filter((one) => one.startsWith('maintenance.all_clear')),
    [`maintenance.all_clear ${made.id}`],
  );
});

void t.test('of two that overlap the last one releases', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const first = await api.maintenance();
  const startsMs = Date.parse(first.starts_at);
  await api.maintenance({ starts_at: iso(startsMs + 30 * minuteMs) });
  await api.tickAt(startsMs + 30 * minuteMs);
  await api.turn(monitorId, 'DOWN', startsMs + 40 * minuteMs);
  await api.tickAt(startsMs + hourMs);
  t.same(await api.told(monitorId), [], 'the other one goes on');
  await api.tickAt(startsMs + 90 * minuteMs);
  t.same(await api.told(monitorId), ['opened']);
});

void t.test('who joins what is covered is held at once, who leaves it is released', async (t) => {
  const api = await maintenanceApi(t);
  const [joins, tagged, leaves] = [await api.monitor(), await api.monitor(), await api.monitor()].map(({ id }) => id);
  if (joins === undefined || tagged === undefined || leaves === undefined) return t.fail('no monitors');
  const group = await api.group({ monitor_ids: [leaves] });
  const nowMs = Date.now();
  await api.maintenance({ scope: { group_ids: [group.id], tags: ['db'] }, starts_at: iso(nowMs) });
  await api.tickAt(Date.now());
  t.equal((await api.intervals(leaves)).length, 1);
  t.same(await api.intervals(joins), []);
  await api.groups('POST', `/${group.id}/monitors`, { monitor_ids: [joins] });
  await api.call('PATCH', `/api/v1/monitors/${tagged}`, { token: api.token, body: { tags: ['db'] } });
  await api.turn(joins, 'DOWN', Date.now());
  t.same(await api.told(joins), [], 'no look of the job was needed');
  await api.settleAt(Date.now());
  const [interval] = await api.intervals(tagged);
  t.ok(interval !== undefined && interval[0] > nowMs && interval[1] === null, 'covered from when it got the tag');
  await api.turn(leaves, 'DOWN', Date.now());
  await api.groups('DELETE', `/${group.id}/monitors`, { monitor_ids: [leaves, joins] });
  await api.settleAt(Date.now());
  t.same(await Promise.all([joins, leaves].map(api.told)), [['opened'], ['opened']]);
  t.ok((await api.intervals(leaves)).every(([, ended]) => ended !== null));
  await api.groups('POST', `/${group.id}/tags`, { tags: ['db'] });
  await api.groups('POST', `/${group.id}/monitors`, { monitor_ids: [leaves] });
  await api.settleAt(Date.now());
  t.equal((await api.intervals(leaves)).length, 2, 'as a member of a group with the tag too');
});

void t.test('an occurrence is ended early, cancelled or deleted, and what it held is told', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const startsMs = Date.now();
  const series = await api.maintenance({ starts_at: iso(startsMs), rrule: 'FREQ=DAILY' });
  t.match(await api.plan('POST', `/${series.id}/end`), { status: 409 }, 'it has not begun');
  await api.tickAt(Date.now());
  await api.turn(monitorId, 'DOWN', Date.now());
  const ended = await api.plan('POST', `/${series.id}/end`);
  t.match(
    ended,
    { status: 200, body: { status: 'scheduled', current: null, next: { starts_at: iso(startsMs + dayMs) } } },
    ended.text,
  );
  await api.tickAt(Date.now());
  t.same(await api.told(monitorId), ['opened']);
  t.equal((await api.intervals(monitorId)).filter(([, end]) => end === null).length, 0);
  t.match((await api.plan('GET', `/${series.id}/occurrences`)).body, { occurrences: [{ end_reason: 'ended' }] });

  const cancelled = await api.plan('POST', `/${series.id}/cancel`);
  t.match(cancelled, { status: 200, body: { status: 'cancelled', next: null } });
  t.same((await api.plan('POST', `/${series.id}/cancel`)).body, cancelled.body, 'again, it changes nothing');
  t.equal(await api.tickAt(startsMs + 2 * dayMs), 0, 'nothing of it comes any more');

  const once = await api.maintenance({ starts_at: iso(Date.now()) });
  await api.tickAt(Date.now());
  await api.turn(monitorId, 'UP', Date.now());
  t.equal((await api.plan('DELETE', `/${once.id}`)).status, 204);
  await api.tickAt(Date.now());
  t.same(await api.told(monitorId), ['opened', 'resolved']);
  t.equal((await api.intervals(monitorId)).length, 2, 'what was maintenance stays so');
  const left = await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from maintenance where id = ${once.id}`);
  t.equal(left, 0, 'its rows go when nothing is held by it');
  t.same(await api.news(), [
    `maintenance.started ${series.id}`,
    `maintenance.ended ${series.id}`,
    `maintenance.cancelled ${series.id}`,
    `maintenance.started ${once.id}`,
    `maintenance.ended ${once.id}`,
  ]);
});

void t.test('one that lasts is made longer without a break, and keeps its times', async (t) => {
  const api = await maintenanceApi(t);
  const { id: monitorId } = await api.monitor();
  const startsMs = Date.now();
  const { id } = await api.maintenance({ starts_at: iso(startsMs) });
  await api.tickAt(Date.now());
  t.match(
    await api.plan('PUT', `/${id}`, { duration_seconds: 600 }),
    { status: 422, body: { errors: [{ code: 'nothing_to_come' }] } },
    'not shorter',
  );
  const longer = await api.plan('PUT', `/${id}`, { duration_seconds: 7_200 });
  t.match(
    longer,
    { status: 200, body: { status: 'active', current: { ends_at: iso(startsMs + hourMs) } } },
    longer.text,
  );
  t.match(longer.body, { next: { starts_at: iso(startsMs + hourMs), ends_at: iso(startsMs + 2 * hourMs) } });
  await api.turn(monitorId, 'DOWN', Date.now());
  await api.tickAt(startsMs + hourMs);
  t.match(await api.read(id), { status: 'active', next: null, current: { ends_at: iso(startsMs + 2 * hourMs) } });
  t.same(await api.told(monitorId), [], 'nothing is let through between the two');
  await api.tickAt(startsMs + 2 * hourMs);
  t.match(await api.read(id), { status: 'completed' });
  t.same(await api.told(monitorId), ['opened']);
  t.same(
    await api.news(),
    [`maintenance.started ${id}`, `maintenance.ended ${id}`],
    'one maintenance to whoever is told',
  );
});

void t.test('a monitor that is paused, reset or deleted inside is told nothing of', async (t) => {
  const api = await maintenanceApi(t);
  const monitors = [await api.monitor(), await api.monitor(), await api.monitor()].map(({ id }) => id);
  const [paused, reset, deleted] = monitors;
  if (paused === undefined || reset === undefined || deleted === undefined) return t.fail('no monitors');
  await api.maintenance({
    starts_at: iso(Date.now()),
    scope: { subjects: monitors.map((id) => ({ type: 'monitor', id })) },
  });
  await api.tickAt(Date.now());
  for (const id of monitors) await api.turn(id, 'DOWN', Date.now());
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, `/api/v1/monitors/${path}`, { token: api.token, ...(body === undefined ? {} : { body }) });
  t.equal((await call('POST', `${paused}/pause`)).status, 200);
  t.equal((await call('POST', `${reset}/reset-stats`, { confirm: true })).status, 200);
  t.equal((await call('DELETE', String(deleted))).status, 204);
  // The pause is told through the outbox.
  await api.turn(paused, 'UNKNOWN', Date.now());
  const [one] = (await api.plan('GET', '')).body['maintenance'] as { id: number; scope: { subjects: unknown[] } }[];
  t.equal(one?.scope.subjects.length, 2, 'the deleted one is not named any more');
  t.equal((await api.plan('POST', `/${one?.id}/end`)).status, 200);
  await api.tickAt(Date.now());
  t.same(await Promise.all(monitors.map(api.told)), [[], [], []]);
  t.notMatch((await api.news()).join(' '), /all_clear/, 'nothing of it is clear');
  t.same(await api.intervals(deleted), [], 'and its rows are gone');
});
