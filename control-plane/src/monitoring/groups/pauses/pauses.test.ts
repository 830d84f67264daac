import type { CommonQueryMethods } from 'slonik';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { deltaSince } from '../../assignments/index.ts';
import { readChanged, readMonitors } from '../../check-results/ingest/queries.ts';
import { incomplete, overlapping } from './testing.ts';
import { addProbe } from '../../testing.ts';
import { groupsApi } from '../testing.ts';
import type { GroupsApi } from '../testing.ts';

const outboxRow = z.object({ key: z.string(), kind: z.string(), payload: z.object({ at: z.iso.datetime() }) });

/** What was told of monitors since the last call. */
async function told(api: GroupsApi): Promise<string[]> {
  const rows = await api.database.worker.any(sql.type(outboxRow)`
    with gone as (delete from outbox returning id, key, kind, payload) select key, kind, payload from gone order by id`);
  return rows.map(({ key, kind }) => `${key} ${kind}`);
}

async function pausedBy(api: GroupsApi, id: number): Promise<unknown> {
  return (await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token })).body['paused_by'];
}

const set = (api: GroupsApi, id: number, status: 'active' | 'paused') => api.groups('PUT', `/${id}/status`, { status });

void t.test('a paused group pauses its members and not their own switches; probes and others are told', async (t) => {
  const api = await groupsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const monitor = await api.monitor();
  const group = await api.group({ monitor_ids: [monitor.id] });
  const reader = {
    pool: api.database.worker,
    sealer: api.context.sealer,
    everybodysTargets: [],
    obeysPrivateTargets: true,
    onUnreadable: () => undefined,
  };
  const steps = async (known: bigint) => (await deltaSince(reader, probe, known)).steps;
  const known = (await steps(0n)).at(-1)?.revision ?? 0n;
  await told(api);
  api.broker.hints.length = 0;
  t.match(await set(api, group.id, 'paused'), { status: 200, body: { status: 'paused' } });
  t.match((await api.groups('GET', `/${group.id}`)).body, { is_paused: true, version: 2 });
  const read = await api.call('GET', `/api/v1/monitors/${monitor.id}`, { token: api.token });
  t.match(read.body, { is_active: true, paused_by: 'group', status: 'UNKNOWN', version: 1 });
  t.same(await told(api), [`monitor:${monitor.id} monitor.paused`]);
  t.same(new Set(api.broker.hints), new Set(['config.0', `dispatch.${probe}`]));
  t.match(await steps(known), [{ changed: [], removed: [{ monitorId: monitor.id }] }], 'the probe lets go of it');
  t.match(await set(api, group.id, 'paused'), { status: 200 });
  t.same(await told(api), [], 'again: nothing');
  t.match((await api.groups('GET', `/${group.id}`)).body, { version: 2 });
  await set(api, group.id, 'active');
  t.equal(await pausedBy(api, monitor.id), null);
  t.same(await told(api), [`monitor:${monitor.id} monitor.resumed`]);
  t.match(await steps(known), [{ changed: [{ monitorId: monitor.id }], removed: [] }]);
  t.same(
    await api.database.worker.any(sql.type(z.record(z.string(), z.unknown()))`
      select paused_by, ended_at > started_at as is_real from pauses`),
    [{ paused_by: 'group', is_real: true }],
  );
  const audit = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'monitor_group' order by id`);
  t.same(audit, ['monitor_group.created', 'monitor_group.paused', 'monitor_group.resumed']);
});

void t.test('joining and leaving a paused group pauses and resumes; so do its creation and deletion', async (t) => {
  const api = await groupsApi(t);
  const [a, b] = [await api.monitor(), await api.monitor()];
  const group = await api.group({ monitor_ids: [a.id], is_paused: true });
  t.equal(await pausedBy(api, a.id), 'group', 'created paused');
  await api.groups('POST', `/${group.id}/monitors`, { monitor_ids: [a.id, b.id] });
  t.equal(await pausedBy(api, b.id), 'group', 'joined');
  await api.groups('DELETE', `/${group.id}/monitors`, { monitor_ids: [a.id] });
  t.equal(await pausedBy(api, a.id), null, 'left');
  t.same(await told(api), [
    `monitor:${a.id} monitor.paused`,
    `monitor:${b.id} monitor.paused`,
    `monitor:${a.id} monitor.resumed`,
  ]);
  t.equal((await api.groups('DELETE', `/${group.id}`)).status, 204);
  t.equal(await pausedBy(api, b.id), null, 'the group is gone');
  t.same(await told(api), [`monitor:${b.id} monitor.resumed`]);
});

void t.test('PUT of the group pauses as its status does', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor();
  const group = await api.group({ monitor_ids: [monitor.id] });
  t.match(await api.groups('PUT', `/${group.id}`, { is_paused: true }), { status: 200, body: { is_paused: true } });
  t.equal(await pausedBy(api, monitor.id), 'group');
  await api.groups('PUT', `/${group.id}`, { name: 'renamed' });
  t.equal(await pausedBy(api, monitor.id), 'group', 'another change keeps it');
  await api.groups('PUT', `/${group.id}`, { is_paused: false });
  t.equal(await pausedBy(api, monitor.id), null);
});

void t.test('a member of two paused groups is paused until both are resumed', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor();
  const [one, two] = [await api.group({ monitor_ids: [monitor.id] }), await api.group({ monitor_ids: [monitor.id] })];
  await set(api, one.id, 'paused');
  await set(api, two.id, 'paused');
  await set(api, one.id, 'active');
  t.equal(await pausedBy(api, monitor.id), 'group');
  await api.groups('DELETE', `/${two.id}/monitors`, { monitor_ids: [monitor.id] });
  t.equal(await pausedBy(api, monitor.id), null);
  t.same(
    await told(api),
    [`monitor:${monitor.id} monitor.paused`, `monitor:${monitor.id} monitor.resumed`],
    'once each',
  );
});

void t.test('only a change of the effective state is told', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor({ is_active: false });
  const group = await api.group({ monitor_ids: [monitor.id], is_paused: true });
  const own = (verb: string) => api.call('POST', `/api/v1/monitors/${monitor.id}/${verb}`, { token: api.token });
  t.same(await told(api), [], 'it was paused before');
  t.equal(await pausedBy(api, monitor.id), 'self');
  t.match(await own('resume'), { status: 200, body: { is_active: true, paused_by: 'group' } });
  t.same(await told(api), [], 'the group still pauses it');
  await own('pause');
  await set(api, group.id, 'active');
  t.same(await told(api), [], 'its own switch still does');
  t.equal(await pausedBy(api, monitor.id), 'self');
  await own('resume');
  t.same(await told(api), [`monitor:${monitor.id} monitor.resumed`]);
});

void t.test('the ingest learns of a group pause also where there is no probe, and reads it as a pause', async (t) => {
  const api = await groupsApi(t);
  const monitor = await api.monitor();
  const group = await api.group({ monitor_ids: [monitor.id] });
  const { mark } = await readChanged(api.database.raw, 0, '0');
  const seen = async () => (await readMonitors(api.database.raw, 0, [monitor.id])).get(monitor.id)?.inputs.pauses;
  t.same(await seen(), []);
  await set(api, group.id, 'paused');
  const { changed } = await readChanged(api.database.raw, 0, mark);
  t.match(changed, [{ monitorId: monitor.id }]);
  t.match(await seen(), [{ fromUs: Number, toUs: null }]);
  await set(api, group.id, 'active');
  t.match(await seen(), [{ fromUs: Number, toUs: Number }]);
});

void t.test('a thousand members are paused by the same few statements as one', async (t) => {
  const api = await groupsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const ids = await api.manyMonitors(1_000);
  await api.database.worker.query(sql.unsafe`
    insert into assignments (monitor_id, probe_id, region, started_at, revision)
    select id, ${probe}, 'eu', now(), row_number() over (order by id) from monitors`);
  const group = await api.group({ monitor_ids: ids });
  const single = await api.group({ monitor_ids: ids.slice(0, 1) });
  const commands = async (work: () => Promise<unknown>): Promise<number> => {
    let count = 0;
    const { api: pool } = api.database;
    const { transaction } = pool;
    Object.assign(pool, {
      transaction: (inside: (tx: CommonQueryMethods) => Promise<unknown>) =>
        transaction.call(pool, async (tx) => {
          const counted = new Proxy(tx, {
            get: (target, name) => {
              const member: unknown = Reflect.get(target, name);
              if (typeof member !== 'function') return member;
              return (...given: unknown[]) => {
                count += 1;
                return Reflect.apply(member, target, given) as unknown;
              };
            },
          });
          return inside(counted);
        }),
    });
    await work();
    Object.assign(pool, { transaction });
    return count;
  };
  const few = await commands(async () => t.equal((await set(api, single.id, 'paused')).status, 200));
  await set(api, single.id, 'active');
  const many = await commands(async () => t.equal((await set(api, group.id, 'paused')).status, 200));
  t.ok(few > 5 && few < 30, `${few} statements`);
  t.equal(many, few);
  t.match((await api.groups('GET', `/${group.id}/status`)).body, { counts: { total: 1_000, paused: 1_000 } });
});

void t.test('fifty changes at once of groups with members in common end in what the groups say', async (t) => {
  const api = await groupsApi(t);
  await addProbe(api.database, 'p', 'eu');
  const ids = await Promise.all(Array.from({ length: 6 }, async (_, n) => (await api.monitor({ name: `m${n}` })).id));
  const groups = await Promise.all(
    [0, 1, 2].map((n) => api.group({ name: `g${n}`, monitor_ids: ids.slice(n, n + 4) })),
  );
  const group = (n: number) => groups[n % groups.length]?.id ?? 0;
  const monitor = (n: number) => ids[n % ids.length] ?? 0;
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const seed = n * 7 + round;
        switch (n % 5) {
          case 0:
            return set(api, group(seed), 'paused');
          case 1:
            return set(api, group(seed), 'active');
          case 2:
            return api.groups('POST', `/${group(seed)}/monitors`, { monitor_ids: [monitor(seed), monitor(seed + 1)] });
          case 3:
            return api.groups('DELETE', `/${group(seed)}/monitors`, {
              monitor_ids: [monitor(seed + 2), monitor(seed)],
            });
          default:
            return api.call('POST', `/api/v1/monitors/${monitor(seed)}/${n % 2 === 0 ? 'pause' : 'resume'}`, {
              token: api.token,
            });
        }
      }),
    );
    t.same(
      answers.filter(({ status }) => status !== 200 && status !== 204).map(({ status, text }) => `${status} ${text}`),
      [],
      'none fails',
    );
    t.same(await incomplete(api.database.worker), [], 'a pause is open exactly while a group says so');
    t.same(await overlapping(api.database.worker), [], 'and pauses of one kind follow each other');
  }
  await Promise.all(groups.map(({ id }) => set(api, id, 'paused')));
  await Promise.all(groups.map(({ id }) => set(api, id, 'active')));
  t.same(await incomplete(api.database.worker), []);
});

void t.test('of fifty deletions and joinings at once no membership of a deleted monitor is left', async (t) => {
  const api = await groupsApi(t);
  const ids = await api.manyMonitors(25);
  const group = await api.group({ is_paused: true });
  const answers = await Promise.all(
    ids.flatMap((id) => [
      api.groups('POST', `/${group.id}/monitors`, { monitor_ids: [id] }),
      api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token }),
    ]),
  );
  t.same(
    answers.map(({ status }) => status).filter((status) => ![200, 204, 404].includes(status)),
    [],
  );
  t.match((await api.groups('GET', `/${group.id}`)).body, { monitor_ids: [] });
});
