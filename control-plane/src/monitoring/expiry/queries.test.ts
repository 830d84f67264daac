import pg from 'pg';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { explaining, nodesOf } from '../lasting-facts/testing/plans.ts';
import { monitorsApi } from '../testing.ts';
import { tellOnce } from './job.ts';
import { noteOccasions } from './queries.ts';

const monitors = 20_000;
const dayMs = 86_400_000;
const nowMs = Date.now();

void t.test('a look reads what is due, however many ends are known', async (t) => {
  const { urls, database } = await testDatabase(t);
  const { worker } = database;
  const one = z.object({ id: z.number() });
  const user = await worker.oneFirst(sql.type(one)`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
  const workspace = await worker.oneFirst(sql.type(one)`
    insert into workspaces (owner_id, name, ping_key) values (${user}, 'w', 'k') returning id`);
  // Each of two probes; most ends lie behind their nearest threshold or before their first, as those of short-lived certificates do.
  await worker.query(sql.unsafe`
    insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds)
    select ${workspace}, ${user}, 'm' || n, 'https://example.com/', 'https', 60, 10 from generate_series(1, ${monitors}::integer) n`);
  await worker.query(sql.unsafe`
    insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at, look_at)
    select m.id, 'certificate', p, 1, now() + make_interval(days => 2 + m.id % 60), now(),
      case when m.id % 1000 = 0 then '-infinity' else now() + make_interval(days => m.id % 30 + 1) end
    from monitors m, generate_series(1, 2) p`);
  const owner = new pg.Client({ connectionString: urls.owner });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();

  let plans = 0;
  const strange: string[] = [];
  const looked = await worker.transaction(async (tx) => {
    const watched = explaining(tx, (plan) => {
      plans += 1;
      for (const { type, relation, rows } of nodesOf(plan))
        if (type === 'Seq Scan' ? rows > 0 : rows > 1_000) strange.push(`${type} of ${relation}: ${rows} rows`);
    });
    return noteOccasions(watched, nowMs, 500);
  });
  t.equal(looked.ends, 2 * (monitors / 1_000));
  t.ok(looked.occasions.length > 0 && looked.occasions.length <= monitors / 1_000, `${looked.occasions.length}`);
  t.same([...new Set(strange)], []);
  t.equal(plans, 3);
  t.same(await tellOnce(worker, nowMs), { ends: 0, told: 0 }, 'and nothing is looked at twice');
});

void t.test(
  'an end is looked at when its next threshold is crossed, and at once when something has changed',
  async (t) => {
    const api = await monitorsApi(t);
    const { worker } = api.database;
    const { id } = await api.monitor({ certificate_thresholds_days: [30, 7] });
    const write = (days: number) =>
      worker.query(sql.unsafe`
      insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at)
      values (${id}, 'certificate', 1, 1, ${sql.timestamp(new Date(nowMs + days * dayMs))}, now())
      on conflict (monitor_id, kind, probe_id) do update set not_after = excluded.not_after, look_at = '-infinity'`);
    const next = async () => {
      const at = await worker.oneFirst(
        sql.type(z.object({ at: z.number().nullable() }))`
        select case when isfinite(look_at) then look_at end as at from monitor_expiries where look_at <> '-infinity'`,
      );
      return at === null ? 'never' : Math.round((at - nowMs) / dayMs);
    };
    const look = (days: number) => tellOnce(worker, nowMs + days * dayMs);
    await write(90);
    t.same(await look(0), { ends: 1, told: 0 });
    t.equal(await next(), 60);
    t.same(await look(59.9), { ends: 0, told: 0 });
    t.same(await look(60), { ends: 1, told: 1 });
    t.equal(await next(), 83);
    t.same(await look(83), { ends: 1, told: 1 });
    t.equal(await next(), 'never');
    t.same(await look(1_000), { ends: 0, told: 0 });
    await api.call('PATCH', `/api/v1/monitors/${id}`, {
      token: api.token,
      body: { certificate_thresholds_days: [30, 7, 1] },
    });
    t.same(await look(84), { ends: 1, told: 0 }, 'other thresholds');
    t.equal(await next(), 89);
    for (const verb of ['pause', 'resume']) {
      await api.call('POST', `/api/v1/monitors/${id}/${verb}`, { token: api.token });
      t.same(await look(84), { ends: 1, told: 0 }, verb);
      t.equal(await next(), verb === 'pause' ? 'never' : 89);
    }
    await worker.query(
      sql.unsafe`insert into pauses (monitor_id, started_at, paused_by) values (${id}, now(), 'group')`,
    );
    t.same(await look(89), { ends: 1, told: 0 }, 'a pause by a group is one too');
    t.equal(await next(), 'never');
    await worker.query(
      sql.unsafe`update pauses set ended_at = now() + interval '1 second' where monitor_id = ${id} and ended_at is null`,
    );
    t.same(await look(89), { ends: 1, told: 1 });
    await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { description: 'x' } });
    t.same(await look(89), { ends: 0, told: 0 }, 'what decides nothing changes nothing');
    await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { url: 'https://other.example/' } });
    t.same(await look(89), { ends: 1, told: 0 });
    t.equal(await next(), 'never', 'of another target nothing is known');
  },
);

void t.test('what another process looks at is left to it, and who pauses waits for it', async (t) => {
  const api = await monitorsApi(t);
  const { worker } = api.database;
  const { id } = await api.monitor();
  await worker.query(sql.unsafe`
    insert into monitor_expiries (monitor_id, kind, probe_id, probe_revision, not_after, seen_at)
    values (${id}, 'certificate', 1, 1, now() + interval '5 days', now())`);
  const looked = Promise.withResolvers<number>();
  const mayCommit = Promise.withResolvers<void>();
  const order: string[] = [];
  const looking = worker.transaction(async (tx) => {
    looked.resolve((await noteOccasions(tx, nowMs, 10)).occasions.length);
    await mayCommit.promise;
    order.push('told');
  });
  t.equal(await looked.promise, 1);
  t.same(await tellOnce(worker, nowMs), { ends: 0, told: 0 });
  const pausing = api
    .call('POST', `/api/v1/monitors/${id}/pause`, { token: api.token })
    .then(({ status }) => order.push(`paused ${status}`));
  // Until it waits for a lock; another test's waiting may end this too soon, and then the order shows nothing wrong.
  for (let waits = 0; waits === 0; )
    waits = await worker.oneFirst(sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from pg_locks where not granted`);
  mayCommit.resolve();
  await Promise.all([looking, pausing]);
  t.same(order, ['told', 'paused 200']);
  t.same(await tellOnce(worker, nowMs), { ends: 1, told: 0 });
});
