import { inviteTokenHeader } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { TestAccount, TestApi } from '../../testing.ts';
import { inviteToken, mailsOf, newWorkspace, tokenIn } from '../../workspaces/testing.ts';
import { providerWorld } from './world.ts';
import type { ProviderWorld } from './world.ts';

const grace = { sub: 'grace', email: 'grace@example.com', email_verified: true } as const;

type World = ProviderWorld & { readonly owner: TestAccount; readonly workspaceId: number };

async function invitingWorld(t: Test, registration: 'open' | 'invite' | 'closed' = 'invite'): Promise<World> {
  const world = await providerWorld(t, { context: { registration } });
  const owner = await world.account('owner@example.com');
  return { ...world, owner, workspaceId: await newWorkspace(world, owner, 'shared') };
}

const count = (api: TestApi, what: ReturnType<typeof sql.fragment>): Promise<number> =>
  api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from ${what}`);
const users = (api: TestApi) => count(api, sql.fragment`users`);
const openInvites = (api: TestApi) => count(api, sql.fragment`workspace_invites where used_at is null`);

async function workspacesOf(api: TestApi, hash: URLSearchParams): Promise<unknown> {
  const { body } = await api.call('GET', '/api/v1/workspaces', { token: hash.get('access_token') ?? '' });
  return (body['workspaces'] as { name: string; role: string }[]).map(({ name, role }) => `${name}: ${role}`);
}

void t.test('by invitation only: one lets a person of the provider in, into its workspace too, once', async (t) => {
  const world = await invitingWorld(t);
  t.same([...(await world.signIn(grace))], [['error', 'registration_closed']], 'not without');
  const invite = await inviteToken(world, world.workspaceId, world.owner, 'viewer');
  const hash = await world.signIn(grace, undefined, invite);
  t.same(await workspacesOf(world, hash), ['Default: owner', 'shared: viewer']);
  t.same([...(await world.signIn({ sub: 'eve' }, undefined, invite))], [['error', 'invite_used']]);
  t.equal(await users(world), 2, 'no account without its invitation');
  t.ok((await world.signIn(grace)).has('access_token'), 'who has an account comes in without');
  const actions = await world.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where user_id <> ${world.owner.id} order by id limit 3`);
  t.same(actions, ['user.registered', 'member.joined', 'identity.linked']);
});

void t.test('the invitation belongs to the state: on the way back none is put in its place', async (t) => {
  const world = await invitingWorld(t);
  const other = await newWorkspace(world, world.owner, 'other');
  const [own, foreign] = [
    await inviteToken(world, world.workspaceId, world.owner),
    await inviteToken(world, other, world.owner),
  ];
  const by = world.browser();
  const url = await world.goThere(by, grace, undefined, own);
  url.searchParams.set('invite_token', foreign);
  const answer = await by.request(url.href, { [inviteTokenHeader]: foreign });
  const hash = new URLSearchParams((answer.headers.get('location') ?? '').split('#')[1]);
  t.same(await workspacesOf(world, hash), ['Default: owner', 'shared: editor']);
  t.equal(await openInvites(world), 1, 'the other one waits on');
  const without = world.browser();
  const back = await world.goThere(without, { sub: 'eve' });
  const late = await without.request(back.href, { [inviteTokenHeader]: foreign });
  t.match(
    late.headers.get('location'),
    /#error=registration_closed$/,
    'one that comes only with the callback counts for nothing',
  );
  const kept = await world.database.worker.anyFirst(sql.type(z.object({ t: z.string() }))`
    select row_to_json(a)::text as t from audit_log a union all select row_to_json(p)::text from pending_sign_ins p`);
  t.notOk(kept.join().includes(own), 'the token itself is kept nowhere');
});

void t.test('an invitation by mail is for a person whose address the provider has verified', async (t) => {
  const world = await invitingWorld(t);
  await world.call('POST', `/api/v1/workspaces/${world.workspaceId}/members`, {
    token: world.owner.accessToken,
    body: { email: grace.email, role: 'viewer' },
  });
  const mailed = tokenIn((await mailsOf(world)).at(-1));
  for (const person of [
    { sub: 'eve', email: 'eve@example.com', email_verified: true },
    { ...grace, email_verified: false },
    { sub: 'x' },
  ]) {
    t.same(
      [...(await world.signIn(person, undefined, mailed))],
      [['error', 'invite_other_address']],
      JSON.stringify(person),
    );
  }
  t.equal(await users(world), 1);
  t.same(await workspacesOf(world, await world.signIn(grace, undefined, mailed)), ['Default: owner', 'shared: viewer']);
});

void t.test(
  'it is not used up by who has an account, nor counts where registration is closed or it is none',
  async (t) => {
    const world = await invitingWorld(t, 'open');
    t.ok((await world.signIn(grace)).has('access_token'));
    const invite = await inviteToken(world, world.workspaceId, world.owner);
    t.same(await workspacesOf(world, await world.signIn(grace, undefined, invite)), ['Default: owner']);
    t.equal(await openInvites(world), 1);
    await world.database.worker.query(sql.unsafe`update workspace_invites set expires_at = now()`);
    t.same(
      [...(await world.signIn({ sub: 'eve' }, undefined, invite))],
      [['error', 'invite_expired']],
      'not silently left aside',
    );
    t.same([...(await world.signIn({ sub: 'eve' }, undefined, 'x'.repeat(43)))], [['error', 'invite_unknown']]);
    t.equal(await users(world), 2);
    for (const hostile of ['x', 'x'.repeat(5_000), '<img src=x>', "' or 1=1"]) {
      const answer = await world.call('GET', '/api/v1/auth/identity-provider-a/login', {
        headers: { [inviteTokenHeader]: hostile },
      });
      t.match(answer, { status: 404, body: { code: 'invite_unknown' } }, hostile.slice(0, 20));
    }
    const closed = await invitingWorld(t, 'closed');
    const other = await inviteToken(closed, closed.workspaceId, closed.owner);
    t.same([...(await closed.signIn(grace, undefined, other))], [['error', 'registration_closed']]);
  },
);

void t.test('of eight who come back at once with one invitation one is let in', async (t) => {
  const world = await invitingWorld(t);
  const invite = await inviteToken(world, world.workspaceId, world.owner);
  const callbacks = [];
  for (let person = 0; person < 8; person += 1) {
    const by = world.browser();
    callbacks.push({ by, url: await world.goThere(by, { sub: `p${person}` }, undefined, invite) });
  }
  const hashes = await Promise.all(callbacks.map(({ by, url }) => world.comeBack(by, url)));
  t.equal(hashes.filter((hash) => hash.has('access_token')).length, 1);
  t.equal(hashes.filter((hash) => hash.get('error') === 'invite_used').length, 7);
  t.equal(await users(world), 2);
});
