import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { dispatchSubject } from '../../../platform/bus/subjects.ts';
import { monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';
import { emptyDeleted } from '../emptying/job.ts';
import { addOfEverything, keptRows, noRows } from '../emptying/testing.ts';
import { emptyDeletedWorkspaces } from './job.ts';

const row = z.record(z.string(), z.unknown());

/** A second workspace, which may be deleted, with a private probe, a join token and monitors. */
async function doomed(api: MonitorsApi, monitors: number): Promise<{ id: number; probe: number; monitors: number[] }> {
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'doomed' } });
  const id = Number(made.body['id']);
  const { worker } = api.database;
  const probe = await worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into probes (workspace_id, name, region, signing_public_key, last_seen_at)
    values (${id}, 'private', 'eu', ${sql.binary(Buffer.alloc(32))}, now()) returning id`);
  await worker.query(sql.unsafe`
    insert into join_tokens (workspace_id, secret_hash, name, region, expires_at)
    values (${id}, '', 'next', 'eu', now() + interval '10 minutes')`);
  const ids: number[] = [];
  for (let n = 0; n < monitors; n += 1) {
    ids.push((await api.monitor({ workspace_id: id, name: `doomed ${n}`, settings: { password: 'secret' } })).id);
  }
  return { id, probe, monitors: ids };
}

const remove = async (api: MonitorsApi, id: number): Promise<number> =>
  (await api.call('DELETE', `/api/v1/workspaces/${id}`, { token: api.token })).status;

const living = (api: MonitorsApi, workspaceId: number): Promise<number> =>
  api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from monitors where workspace_id = ${workspaceId} and deleted_at is null`);

void t.test('a deleted workspace is emptied: monitors, results, probes and join tokens', async (t) => {
  const hooked: number[] = [];
  const api = await monitorsApi(t);
  const other = await api.monitor();
  const { id, probe, monitors } = await doomed(api, 2);
  const [monitor = 0] = monitors;
  await addOfEverything(api.database, { id: monitor, workspaceId: id }, Date.now());
  const hooks = [async (_: unknown, monitorId: number) => void hooked.push(monitorId)];
  await emptyDeletedWorkspaces(api.context, hooks, () => true);
  t.same(hooked, [], 'none is deleted yet');
  t.equal(await remove(api, id), 204);
  t.equal((await api.call('GET', `/api/v1/monitors/${monitor}`, { token: api.token })).status, 404, 'at once');
  t.match((await api.call('GET', '/api/v1/monitors', { token: api.token })).body, { total: 1 });
  api.broker.hints.length = 0;
  await emptyDeletedWorkspaces(api.context, hooks, () => true);
  t.same(hooked, monitors);
  t.ok(api.broker.hints.includes(dispatchSubject(probe)), 'the probe is told');
  const left = await api.database.worker.any(sql.type(row)`
    select sealed_secrets, url from monitors where workspace_id = ${id} and deleted_at is not null`);
  t.same(left, [
    { sealed_secrets: null, url: 'deleted' },
    { sealed_secrets: null, url: 'deleted' },
  ]);
  t.match(
    await api.database.worker.any(sql.type(row)`
    select (select count(*) from join_tokens)::integer as tokens, revoked_at is not null as is_revoked,
      (select count(*) from assignments where ended_at is null and probe_id = ${probe})::integer as seats
    from probes where id = ${probe}`),
    [{ tokens: 0, is_revoked: true, seats: 0 }],
  );
  t.equal((await api.call('GET', `/api/v1/monitors/${other.id}`, { token: api.token })).status, 200, 'others stay');
  await api.database.worker.query(sql.unsafe`
    update monitors set deleted_at = deleted_at - interval '26 seconds' where deleted_at is not null`);
  await emptyDeleted(api.context, [], () => true);
  t.same(await keptRows(api.database, monitor), noRows, 'its results go as of every deleted monitor');
  t.equal((await api.monitor({ name: 'doomed 0' })).name, 'doomed 0', 'the names are free');
});

void t.test('what was stopped midway goes on, and what came late is found', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await doomed(api, 1);
  await api.database.worker.query(sql.unsafe`
    insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds)
    select ${id}, owner_id, 'many ' || n, 'https://example.com/', 'https', 60, 10
    from workspaces, generate_series(1, 59) n where workspaces.id = ${id}`);
  t.equal(await remove(api, id), 204);
  let questions = 0;
  await emptyDeletedWorkspaces(api.context, [], () => (questions += 1) <= 2);
  t.equal(await living(api, id), 40, 'one transaction of three');
  await emptyDeletedWorkspaces(api.context, [], () => true);
  t.equal(await living(api, id), 0);
  const emptied = () =>
    api.database.worker.oneFirst(sql.type(z.object({ done: z.boolean() }))`
      select emptied_at is not null as done from workspaces where id = ${id}`);
  t.equal(await emptied(), false, 'a request that began before may still bring something');
  await api.database.worker.query(sql.unsafe`
    insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds)
    select ${id}, owner_id, 'late', 'https://example.com/', 'https', 60, 10 from workspaces where id = ${id}`);
  await api.database.worker.query(sql.unsafe`
    update workspaces set deleted_at = deleted_at - interval '61 seconds' where id = ${id}`);
  await emptyDeletedWorkspaces(api.context, [], () => true);
  t.equal(await living(api, id), 0);
  t.equal(await emptied(), true);
});

void t.test('a monitor that is made during a transfer belongs to the new owner', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await doomed(api, 0);
  const heir = await api.account('heir@example.com');
  const link = await api.call('POST', `/api/v1/workspaces/${id}/invites`, { token: api.token });
  await api.call('POST', '/api/v1/workspaces/invites/accept', {
    token: heir.accessToken,
    body: { token: link.body['token'] },
  });
  const members = await api.call('GET', `/api/v1/workspaces/${id}/members`, { token: api.token });
  const [, member] = members.body['members'] as { id: number }[];
  const [transferred, ...made] = await Promise.all([
    api.call('POST', `/api/v1/workspaces/${id}/transfer`, { token: api.token, body: { member_id: member?.id } }),
    ...['a', 'b', 'c'].map((name) => api.monitor({ workspace_id: id, name })),
  ]);
  t.equal(transferred?.status, 200, transferred?.text);
  t.equal(made.length, 3);
  const owners = await api.database.worker.anyFirst(sql.type(z.object({ owner: z.number() }))`
    select owner_id as owner from monitors where workspace_id = ${id}`);
  t.same(owners, [heir.id, heir.id, heir.id]);
});
