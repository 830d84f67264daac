import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import type { TestAccount, TestAnswer, TestApi } from '../../testing.ts';
import { inviteToken, mailsOf, newWorkspace, tokenIn } from '../testing.ts';

const base = '/api/v1/workspaces';
const password = 'a rather long phrase 7';

type World = TestApi & { readonly owner: TestAccount; readonly workspaceId: number };

async function world(t: Parameters<typeof testApi>[0], registration: 'open' | 'invite' | 'closed'): Promise<World> {
  const api = await testApi(t, { context: { registration } });
  const owner = await api.account('owner@example.com');
  return { ...api, owner, workspaceId: await newWorkspace(api, owner, 'shared') };
}

function register(api: TestApi, email: string, invite?: string): Promise<TestAnswer> {
  const body = { email, password, ...(invite === undefined ? {} : { invite_token: invite }) };
  return api.call('POST', '/api/v1/auth/register', { body });
}

async function mailTo(api: World, email: string): Promise<{ readonly mailed: string; readonly shown: string }> {
  const made = await api.call('POST', `${base}/${api.workspaceId}/members`, {
    token: api.owner.accessToken,
    body: { email, role: 'viewer' },
  });
  return { mailed: tokenIn((await mailsOf(api)).at(-1)), shown: String(made.body['token']) };
}

async function workspacesOf(api: TestApi, email: string): Promise<unknown> {
  const login = await api.call('POST', '/api/v1/auth/login', { body: { email, password } });
  return (await api.call('GET', base, { token: String(login.body['access_token']) })).body;
}

void t.test('by invitation only: a token lets a stranger in, into its workspace too, once', async (t) => {
  const api = await world(t, 'invite');
  t.match(await register(api, 'ada@example.com'), { status: 403, body: { code: 'registration_closed' } });
  t.match(await register(api, 'ada@example.com', 'x'), { status: 404, body: { code: 'invite_unknown' } });
  const token = await inviteToken(api, api.workspaceId, api.owner);
  t.match(await register(api, 'ada@example.com', token), {
    status: 201,
    body: { email: 'ada@example.com', email_verified: false, is_administrator: false },
  });
  t.match(await workspacesOf(api, 'ada@example.com'), {
    total: 2,
    workspaces: [
      { name: 'Default', role: 'owner', is_default: true },
      { name: 'shared', role: 'editor', is_default: false },
    ],
  });
  t.match(await register(api, 'eve@example.com', token), { status: 409, body: { code: 'invite_used' } });
  t.equal(await accounts(api), 2, 'no account without its invitation');
});

void t.test(
  'the address that an invitation was mailed to is verified by the token of the mail, and only by it',
  async (t) => {
    const api = await world(t, 'invite');
    const { mailed } = await mailTo(api, 'ada@example.com');
    t.match(await register(api, 'eve@example.com', mailed), { status: 403, body: { code: 'invite_other_address' } });
    t.match(await register(api, 'Ada@Example.com', mailed), { status: 201, body: { email_verified: true } });
    const { shown } = await mailTo(api, 'bob@example.com');
    t.match(await register(api, 'bob@example.com', shown), { status: 201, body: { email_verified: false } });
  },
);

void t.test('an address that has an account does not use the invitation up', async (t) => {
  const api = await world(t, 'open');
  await api.account('ada@example.com');
  const { mailed } = await mailTo(api, 'ada@example.com');
  const taken = await register(api, 'ada@example.com', mailed);
  t.match(taken, { status: 409, body: { code: 'email_taken' } });
  t.match(taken.body['detail'], /accept the invitation/);
  const login = await api.call('POST', '/api/v1/auth/login', { body: { email: 'ada@example.com', password } });
  const accepted = await api.call('POST', `${base}/invites/accept`, {
    token: String(login.body['access_token']),
    body: { token: mailed },
  });
  t.match(accepted, { status: 200, body: { joined: true } });
});

void t.test('open registration takes invitations too, closed registration none', async (t) => {
  const open = await world(t, 'open');
  const token = await inviteToken(open, open.workspaceId, open.owner, 'viewer');
  t.equal((await register(open, 'ada@example.com', 'x')).status, 404, 'not silently left aside');
  t.equal((await register(open, 'ada@example.com', token)).status, 201);
  t.match(await workspacesOf(open, 'ada@example.com'), { workspaces: [{}, { name: 'shared', role: 'viewer' }] });
  const closed = await world(t, 'closed');
  const other = await inviteToken(closed, closed.workspaceId, closed.owner);
  t.match(await register(closed, 'ada@example.com', other), { status: 403, body: { code: 'registration_closed' } });
});

void t.test('of four who register at once with a token one is let in', async (t) => {
  const api = await world(t, 'invite');
  const token = await inviteToken(api, api.workspaceId, api.owner);
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => register(api, `${name}@example.com`, token)));
  t.same(
    answers.map((answer) => answer.status).toSorted((a, b) => a - b),
    [201, 409, 409, 409],
  );
  t.equal(await accounts(api), 2);
});

void t.test('the first account needs no invitation, and one does not stand for the set-up token', async (t) => {
  const api = await testApi(t, { context: { registration: 'invite', needsSetupToken: () => true } });
  t.match(await register(api, 'ada@example.com', 'x'), { status: 403, body: { code: 'setup_token_required' } });
  const other = await testApi(t, { context: { registration: 'invite' } });
  t.match(await register(other, 'ada@example.com'), { status: 201, body: { is_administrator: true } });
});

function accounts(api: TestApi): Promise<number> {
  return api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from users`);
}
