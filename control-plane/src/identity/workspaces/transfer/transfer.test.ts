import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { TestAnswer } from '../../testing.ts';
import { mostOwnWorkspaces } from '../limits.ts';
import { castApi, mailsOf } from '../testing.ts';
import type { Cast } from '../testing.ts';

const base = '/api/v1/workspaces';

function transfer(cast: Cast, memberId = cast.members.editor): Promise<TestAnswer> {
  return cast.call('POST', `${base}/${cast.workspaceId}/transfer`, {
    token: cast.owner.accessToken,
    body: { member_id: memberId },
  });
}

async function addMonitor(
  cast: Cast,
  place: { readonly workspaceId: number; readonly ownerId: number },
  name: string,
  intervalSeconds = 60,
): Promise<void> {
  await cast.database.worker.query(sql.unsafe`
    insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds)
    values (${place.workspaceId}, ${place.ownerId}, ${name}, 'https://example.com/', 'https', ${intervalSeconds}, 10)`);
}

async function defaultOf(cast: Cast, token: string): Promise<number> {
  return Number((await cast.call('GET', `${base}/default`, { token })).body['id']);
}

void t.test('a transfer moves the workspace with its monitors; the former owner stays as an editor', async (t) => {
  const cast = await castApi(t);
  const here = { workspaceId: cast.workspaceId, ownerId: cast.owner.id };
  await addMonitor(cast, here, 'fast', 30);
  await addMonitor(cast, here, 'slow', 60);
  await cast.database.worker.query(
    sql.unsafe`update users set plan = 'free', locale = 'ru', email_verified = true where id = ${cast.editor.id}`,
  );
  const done = await transfer(cast);
  t.match(done, {
    status: 200,
    body: {
      workspace: { id: cast.workspaceId, role: 'editor', version: 2 },
      minimum_interval_seconds: 60,
      below_minimum_total: 1,
      below_minimum: [{ name: 'fast', interval_seconds: 30 }],
    },
  });
  const owners = await cast.database.worker.anyFirst(sql.type(z.object({ owner: z.number() }))`
    select owner_id as owner from monitors where workspace_id = ${cast.workspaceId}
    union all select owner_id from workspaces where id = ${cast.workspaceId}`);
  t.same(owners, [cast.editor.id, cast.editor.id, cast.editor.id]);
  const list = await cast.call('GET', `${base}/${cast.workspaceId}/members`, { token: cast.editor.accessToken });
  t.match(list.body['members'], [
    { id: cast.members.editor, role: 'owner', email: 'editor@example.com' },
    { id: cast.members.owner, role: 'editor' },
    { id: cast.members.viewer, role: 'viewer' },
  ]);
  t.equal((await transfer(cast, cast.members.viewer)).status, 403, 'no longer theirs to give');
  t.match(await mailsOf(cast), [{ to: 'editor@example.com', subject: /«shared»/, text: /короче 60 с/ }]);
});

void t.test('names that the new owner has elsewhere are listed, and nothing is changed', async (t) => {
  const cast = await castApi(t);
  const elsewhere = await defaultOf(cast, cast.editor.accessToken);
  for (const name of ['b', 'a', 'c']) {
    await addMonitor(cast, { workspaceId: cast.workspaceId, ownerId: cast.owner.id }, name);
  }
  for (const name of ['a', 'b', 'd']) {
    await addMonitor(cast, { workspaceId: elsewhere, ownerId: cast.editor.id }, name);
  }
  const refused = await transfer(cast);
  t.match(refused, { status: 409, body: { code: 'name_taken' } });
  const errors = refused.body['errors'] as { message: string }[];
  t.same(
    errors.map((error) => error.message),
    ['a', 'b'],
    'names that the owner knows anyway, and no others',
  );
  t.match(await cast.call('GET', `${base}/${cast.workspaceId}`, { token: cast.owner.accessToken }), {
    body: { role: 'owner', version: 1 },
  });
  t.same(await mailsOf(cast), []);
  await cast.database.worker.query(sql.unsafe`
    update monitors set deleted_at = now() where owner_id = ${cast.editor.id}`);
  t.equal((await transfer(cast)).status, 200, 'deleted monitors have no names');
  t.same(await mailsOf(cast), [], 'nobody is written to at an address that may not be theirs');
});

void t.test('a default is not transferred, nor is anything to oneself or to who owns enough', async (t) => {
  const cast = await castApi(t);
  const { accessToken: token } = cast.owner;
  t.equal((await transfer(cast, cast.members.owner)).status, 409);
  t.equal((await transfer(cast, 2_147_483_647)).status, 404);
  for (const member of [0, '1', null, 1.5]) t.equal((await transfer(cast, member as number)).status, 422);
  await cast.call('POST', `${base}/${cast.workspaceId}/set-default`, { token });
  t.match(await transfer(cast), { status: 409, body: { code: 'conflict', detail: /default/ } });
  await cast.call('POST', `${base}/1/set-default`, { token });
  await cast.database.worker.query(sql.unsafe`
    insert into workspaces (owner_id, name, ping_key)
    select ${cast.editor.id}, 'w', 'k' || n from generate_series(2, ${mostOwnWorkspaces}::integer) n`);
  t.match(await transfer(cast), { status: 409, body: { code: 'conflict', detail: /as many/ } });
});

void t.test('a monitor belongs to the owner of its workspace: the database holds it', async (t) => {
  const cast = await castApi(t);
  const place = { workspaceId: cast.workspaceId, ownerId: cast.editor.id };
  const error = await addMonitor(cast, place, 'x').catch((thrown: unknown) => thrown);
  t.match(error, { constraint: 'monitors_of_owner' });
});
