import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestAnswer } from '../../testing.ts';
import { namedLimits } from '../../plans/limits.ts';
import { mostMembers, mostOpenInvites } from '../limits.ts';

const inviteMails = namedLimits.invite_mail.rate;
const inviteMailsToAddress = namedLimits.invite_mail_to_address.rate;
import { castApi, inviteToken, mailsOf, newWorkspace, tokenIn } from '../testing.ts';
import type { Cast } from '../testing.ts';

const base = '/api/v1/workspaces';
const dayMs = 86_400_000;

function accept(cast: Pick<Cast, 'call'>, accessToken: string, token: string): Promise<TestAnswer> {
  return cast.call('POST', `${base}/invites/accept`, { token: accessToken, body: { token } });
}

void t.test('a link lets one account in, for 14 days', async (t) => {
  const cast = await castApi(t);
  const path = `${base}/${cast.workspaceId}/invites`;
  const own = cast.owner.accessToken;
  const made = await cast.call('POST', path, { token: own, body: {} });
  t.match(made, { status: 201, body: { role: 'editor', email: null, token: /^[\w-]{43}$/ } });
  const token = String(made.body['token']);
  t.equal(made.body['url'], `http://127.0.0.1/invites#${token}`, 'in the fragment, which reaches no log');
  const days = (Date.parse(String(made.body['expires_at'])) - Date.parse(String(made.body['created_at']))) / dayMs;
  t.equal(days, 14);
  const listed = await cast.call('GET', path, { token: own });
  t.match(listed.body, { total: 1, invites: [{ id: made.body['id'], role: 'editor', email: null }] });
  t.notOk(listed.text.includes(token), 'shown once');
  const everything = await cast.database.worker.anyFirst(sql.type(z.object({ text: z.string() }))`
    select row_to_json(workspace_invites)::text as text from workspace_invites
    union all select row_to_json(audit_log)::text from audit_log`);
  t.notOk(everything.join().includes(token), 'and nowhere plain');

  t.match(await accept(cast, cast.viewer.accessToken, token), {
    status: 200,
    body: { joined: false, workspace: { id: cast.workspaceId, role: 'viewer' } },
  });
  const joined = await accept(cast, cast.stranger.accessToken, token);
  t.match(joined, {
    status: 200,
    body: { joined: true, workspace: { id: cast.workspaceId, name: 'shared', role: 'editor', is_default: false } },
  });
  t.match(await accept(cast, cast.stranger.accessToken, token), { status: 200, body: { joined: false } }, 'repeated');
  const late = await cast.account('late@example.com');
  t.match(await accept(cast, late.accessToken, token), { status: 409, body: { code: 'invite_used' } });
  t.match((await cast.call('GET', path, { token: own })).body, { total: 0 });
  const entry = await cast.database.worker.one(sql.type(z.record(z.string(), z.unknown()))`
    select workspace_id, user_id, actor, subject_id, remote_address is not null as has_address from audit_log
    where action = 'member.joined' order by id desc limit 1`);
  t.match(entry, { workspace_id: cast.workspaceId, user_id: cast.stranger.id, actor: 'user', has_address: true });
});

void t.test('tokens that let nobody in, and what is said of each', async (t) => {
  const cast = await castApi(t);
  const own = cast.owner.accessToken;
  const { accessToken } = cast.stranger;
  const expired = await inviteToken(cast, cast.workspaceId, cast.owner);
  await cast.database.worker.query(sql.unsafe`update workspace_invites set expires_at = now() where used_at is null`);
  t.match(await accept(cast, accessToken, expired), { status: 409, body: { code: 'invite_expired' } });
  const withdrawn = await cast.call('POST', `${base}/${cast.workspaceId}/invites`, { token: own });
  const path = `${base}/${cast.workspaceId}/invites/${String(withdrawn.body['id'])}`;
  t.equal((await cast.call('DELETE', path, { token: own })).status, 204);
  t.equal((await cast.call('DELETE', path, { token: own })).status, 404);
  for (const token of [String(withdrawn.body['token']), 'x', '\u{1F600}', "' or true --", expired.slice(0, -1)]) {
    t.match(await accept(cast, accessToken, token), { status: 404, body: { code: 'invite_unknown' } }, token);
  }
  for (const token of ['', 'x'.repeat(501), 7, null]) {
    const got = await cast.call('POST', `${base}/invites/accept`, { token: accessToken, body: { token } });
    t.equal(got.status, 422, String(token));
  }
  t.match(await cast.call('GET', `${base}/summary`, { token: accessToken }), { body: { total: 2 } });
});

void t.test('an invitation by mail is for the account with its address, and tells nothing about it', async (t) => {
  const cast = await castApi(t);
  const own = cast.owner.accessToken;
  const path = `${base}/${cast.workspaceId}/members`;
  const invite = (email: string, role = 'viewer') => cast.call('POST', path, { token: own, body: { email, role } });
  const known = await invite(' Stranger@Example.com ');
  const unknown = await invite('nobody@example.com');
  const shape = (answer: TestAnswer) => ({
    status: answer.status,
    keys: Object.keys(answer.body),
    body: { ...answer.body, id: 0, email: '', token: '', url: '', created_at: '', expires_at: '' },
  });
  t.same(shape(known), shape(unknown));
  t.match(known.body, { user: null, email: 'stranger@example.com', role: 'viewer', status: 'invited' });
  t.match(await invite('editor@example.com'), { status: 409, body: { code: 'conflict' } }, 'a member already');

  const [mail] = await mailsOf(cast);
  t.match(mail, { to: 'stranger@example.com', subject: 'Invitation to the workspace “shared”' });
  t.match(mail?.text, `User ${cast.owner.id} invites you`);
  const mailed = tokenIn(mail);
  t.not(mailed, known.body['token'], 'the owner does not have the token that proves the address');
  for (const token of [mailed, String(known.body['token'])]) {
    const late = await cast.account(`other${token.slice(0, 5)}@example.com`.toLowerCase());
    t.match(await accept(cast, late.accessToken, token), { status: 403, body: { code: 'invite_other_address' } });
  }
  t.match((await cast.call('GET', path, { token: own })).body, { total: 5 });
  t.match((await cast.call('GET', path, { token: cast.viewer.accessToken })).body, { total: 3 }, 'members only');
  t.match(await accept(cast, cast.stranger.accessToken, mailed), {
    status: 200,
    body: { joined: true, workspace: { role: 'viewer' } },
  });
  t.match((await cast.call('GET', '/api/v1/auth/me', { token: cast.stranger.accessToken })).body, {
    email_verified: true,
  });
  const members = (await cast.call('GET', path, { token: own })).body['members'] as Record<string, unknown>[];
  t.match(
    members.find((member) => member['id'] === known.body['id']),
    { user: { id: cast.stranger.id, display_name: null }, status: 'active', expires_at: null },
    'the number stays',
  );
  t.equal((await accept(cast, cast.editor.accessToken, String(known.body['token']))).body['joined'], false);
});

void t.test(
  'inviting an address again replaces its invitation; its role may be changed and it may be withdrawn',
  async (t) => {
    const cast = await castApi(t);
    const own = cast.owner.accessToken;
    const path = `${base}/${cast.workspaceId}/members`;
    const invite = (role: string) =>
      cast.call('POST', path, { token: own, body: { email: 'stranger@example.com', role } });
    const first = await invite('viewer');
    const second = await invite('editor');
    t.equal(second.body['id'], first.body['id']);
    const [old, present] = await mailsOf(cast);
    for (const token of [tokenIn(old), String(first.body['token'])]) {
      t.match(await accept(cast, cast.stranger.accessToken, token), { status: 404, body: { code: 'invite_unknown' } });
    }
    const member = `${path}/${String(second.body['id'])}`;
    t.match(await cast.call('PATCH', member, { token: own, body: { role: 'viewer' } }), {
      status: 200,
      body: { role: 'viewer', status: 'invited', email: 'stranger@example.com' },
    });
    t.match(
      await cast.call('POST', `${base}/${cast.workspaceId}/transfer`, {
        token: own,
        body: { member_id: second.body['id'] },
      }),
      { status: 409, body: { code: 'conflict' } },
      'nobody owns what they have not joined',
    );
    t.equal((await cast.call('DELETE', member, { token: own })).status, 204);
    t.equal((await accept(cast, cast.stranger.accessToken, tokenIn(present))).status, 404);
    await invite('viewer');
    const [, , again] = await mailsOf(cast);
    t.match((await accept(cast, cast.stranger.accessToken, tokenIn(again))).body, { workspace: { role: 'viewer' } });
  },
);

void t.test('the link that the owner was shown does not prove the address', async (t) => {
  const cast = await castApi(t);
  const made = await cast.call('POST', `${base}/${cast.workspaceId}/members`, {
    token: cast.owner.accessToken,
    body: { email: 'stranger@example.com' },
  });
  t.match(await accept(cast, cast.stranger.accessToken, String(made.body['token'])), {
    status: 200,
    body: { joined: true, workspace: { role: 'editor' } },
  });
  t.match((await cast.call('GET', '/api/v1/auth/me', { token: cast.stranger.accessToken })).body, {
    email_verified: false,
  });
});

void t.test('of 50 who accept at once one is let in', async (t) => {
  const api = await testApi(t);
  const owner = await api.account('owner@example.com');
  const id = await newWorkspace(api, owner, 'shared');
  const token = await inviteToken(api, id, owner);
  // Hashing 50 passwords is not what is tried here.
  await api.database.worker.query(sql.unsafe`
    insert into users (email, password_hash, plan)
    select 'user' || n || '@example.com', (select password_hash from users where id = ${owner.id}), 'self_hosted'
    from generate_series(1, 50) n`);
  const sessions: string[] = [];
  for (let n = 1; n <= 50; n += 1) {
    const email = `user${n}@example.com`;
    const login = await api.call('POST', '/api/v1/auth/login', { body: { email, password: owner.password } });
    sessions.push(String(login.body['access_token']));
  }
  const answers = await Promise.all(sessions.map((session) => accept(api, session, token)));
  t.equal(answers.filter((answer) => answer.status === 200).length, 1);
  const others = answers.filter((answer) => answer.status !== 200);
  t.same([...new Set(others.map((answer) => `${answer.status} ${String(answer.body['code'])}`))], ['409 invite_used']);
  t.match((await api.call('GET', `${base}/${id}/members`, { token: owner.accessToken })).body, { total: 2 });
});

void t.test('the same account that accepts ten times at once joins once', async (t) => {
  const cast = await castApi(t);
  const token = await inviteToken(cast, cast.workspaceId, cast.owner);
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(cast, cast.stranger.accessToken, token)));
  t.same([...new Set(answers.map((answer) => answer.status))], [200]);
  t.equal(answers.filter((answer) => answer.body['joined'] === true).length, 1);
});

void t.test(
  `limits: ${inviteMails.quota} mails an hour and user, ${inviteMailsToAddress.quota} to an address`,
  async (t) => {
    const cast = await castApi(t);
    const invite = (email: string) =>
      cast.call('POST', `${base}/${cast.workspaceId}/members`, { token: cast.owner.accessToken, body: { email } });
    for (let n = 0; n < inviteMailsToAddress.quota; n += 1) t.equal((await invite('a@example.com')).status, 201);
    const refused = await invite('A@example.com');
    t.match(refused, { status: 429, body: { code: 'rate_limited' } });
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    for (let n = inviteMailsToAddress.quota + 1; n < inviteMails.quota; n += 1) {
      t.equal((await invite(`b${n}@example.com`)).status, 201);
    }
    t.equal((await invite('c@example.com')).status, 429);
    t.equal((await mailsOf(cast)).length, inviteMails.quota - 1, 'what was refused was not mailed');
  },
);

void t.test(`limits: ${mostOpenInvites} invitations wait, ${mostMembers} members are in`, async (t) => {
  const cast = await castApi(t);
  const token = await inviteToken(cast, cast.workspaceId, cast.owner);
  await cast.database.worker.query(sql.unsafe`
    insert into workspace_invites (workspace_id, role, token_hash, expires_at)
    select ${cast.workspaceId}, 'viewer', sha256(n::text::bytea), now() + interval '1 day'
    from generate_series(2, ${mostOpenInvites}::integer) n`);
  t.match(await cast.call('POST', `${base}/${cast.workspaceId}/invites`, { token: cast.owner.accessToken }), {
    status: 409,
    body: { code: 'conflict' },
  });
  await cast.database.worker.query(sql.unsafe`
    with made as (
      insert into users (email, password_hash, plan)
      select 'member' || n || '@example.com', '', 'free' from generate_series(4, ${mostMembers}::integer) n returning id)
    insert into workspace_members (workspace_id, user_id, role) select ${cast.workspaceId}, id, 'viewer' from made`);
  t.match(await accept(cast, cast.stranger.accessToken, token), { status: 409, body: { code: 'conflict' } });
  await cast.database.worker.query(sql.unsafe`
    delete from workspace_members where workspace_id = ${cast.workspaceId} and user_id = (select max(id) from users)`);
  t.equal((await accept(cast, cast.stranger.accessToken, token)).status, 200, 'it was not used up');
});
