import { sql } from '../../../control-plane/src/platform/database/pools.ts';
import type { TestCall } from '../../../control-plane/src/identity/testing.ts';
import type { World } from '../world.ts';
import type { Rule, Stranger } from './rules.ts';

export type Credentials = Pick<TestCall, 'token' | 'key'>;

/** Somebody who calls. */
export type Actor = {
  readonly name: string;
  readonly credentials: Credentials;
  /** What they are in the tried workspace; null: nothing. */
  readonly role: 'viewer' | 'editor' | 'owner' | null;
  /** What they show: nothing, something that is no more, or something that holds. */
  readonly shows: 'nothing' | 'void' | 'token' | 'key' | 'read-only key';
  readonly isAdministrator?: boolean;
  /** Acts for the tried account itself. */
  readonly isTried?: boolean;
};

/** Everybody that the table of roles knows. The administrator has made the installation before. */
export async function openActors(
  world: World,
  administrator: { readonly email: string; readonly password: string },
): Promise<{ readonly actors: readonly Actor[]; readonly stranger: Stranger }> {
  const member = async (name: string, role: 'viewer' | 'editor') => {
    const account = await world.account(`${name}@example.com`);
    await setRole(world, account.id, role);
    return account;
  };
  const key = async (token: string, more: Record<string, unknown> = {}): Promise<{ id: number; key: string }> => {
    const made = await world.call('POST', '/api/v1/api-keys', { token, body: { name: 'matrix', ...more } });
    return { id: Number(made.body['id']), key: String(made.body['key']) };
  };
  const [viewer, editor, removed] = [
    await member('viewer', 'viewer'),
    await member('editor', 'editor'),
    await member('removed', 'editor'),
  ];
  await setRole(world, removed.id, null);
  const other = await world.account('stranger@example.com');
  const login = await world.call('POST', '/api/v1/auth/login', { body: administrator });
  const revoked = await key(world.token);
  await world.call('DELETE', `/api/v1/api-keys/${revoked.id}`, { token: world.token });
  const stranger = await belongings(world, other.accessToken);
  const token = (text: string): Credentials => ({ token: text });
  const ended = await world.account('ended@example.com');
  await world.call('POST', '/api/v1/auth/logout', { token: ended.accessToken, body: {} });
  const actors: Actor[] = [
    { name: 'nobody', credentials: {}, role: null, shows: 'nothing' },
    { name: 'a session that has ended', credentials: token(ended.accessToken), role: null, shows: 'void' },
    { name: 'a revoked key', credentials: { key: revoked.key }, role: null, shows: 'void' },
    { name: 'a stranger', credentials: token(other.accessToken), role: null, shows: 'token' },
    { name: "a stranger's key", credentials: { key: (await key(other.accessToken)).key }, role: null, shows: 'key' },
    { name: 'a removed member', credentials: token(removed.accessToken), role: null, shows: 'token' },
    {
      name: 'the administrator',
      credentials: token(String(login.body['access_token'])),
      role: null,
      shows: 'token',
      isAdministrator: true,
    },
    { name: 'a viewer', credentials: token(viewer.accessToken), role: 'viewer', shows: 'token' },
    { name: "a viewer's key", credentials: { key: (await key(viewer.accessToken)).key }, role: 'viewer', shows: 'key' },
    { name: 'an editor', credentials: token(editor.accessToken), role: 'editor', shows: 'token' },
    {
      name: 'a read-only key of the owner',
      credentials: { key: (await key(world.token, { read_only: true })).key },
      role: 'owner',
      shows: 'read-only key',
      isTried: true,
    },
    { name: 'a key of the owner', credentials: { key: world.apiKey }, role: 'owner', shows: 'key', isTried: true },
    { name: 'the owner', credentials: token(world.token), role: 'owner', shows: 'token', isTried: true },
  ];
  return { actors, stranger };
}

/** A role in the tried workspace, or none any more. */
async function setRole(world: World, userId: number, role: 'viewer' | 'editor' | null): Promise<void> {
  await world.database.worker.query(
    role === null
      ? sql.unsafe`delete from workspace_members where workspace_id = ${world.workspaceId} and user_id = ${userId}`
      : sql.unsafe`
          insert into workspace_members (workspace_id, user_id, role) values (${world.workspaceId}, ${userId}, ${role})`,
  );
}

async function belongings(world: World, token: string): Promise<Stranger> {
  const list = await world.call('GET', '/api/v1/workspaces', { token });
  const [{ id: workspaceId } = { id: 0 }] = list.body['workspaces'] as { id: number }[];
  const body = { workspace_id: workspaceId, name: 'of the stranger', url: world.target };
  const monitor = await world.call('POST', '/api/v1/monitors', { token, body });
  return { token, workspaceId, monitorId: Number(monitor.body['id']) };
}

const ranks = ['viewer', 'editor', 'owner'] as const;

/**
 * What somebody is answered: a status, or `success`.
 * @param takes credentials of the route's contract
 */
export function expected(
  rule: Rule,
  actor: Actor,
  route: { readonly method: string; readonly path: string; readonly takes: string },
): number | 'success' {
  if (route.takes === 'none' || route.takes === 'secret-header') return 'success';
  if (actor.shows === 'nothing') return route.takes === 'bearer-or-none' ? 'success' : 401;
  if (actor.shows === 'void') return 401;
  const isKey = actor.shows !== 'token';
  if (isKey && route.takes !== 'key-or-bearer') return 403;
  if (actor.shows === 'read-only key' && route.method !== 'GET') return 403;
  return byRole(rule, actor, route.path);
}

function byRole(rule: Rule, actor: Actor, path: string): number | 'success' {
  switch (rule.least) {
    case 'anybody':
      return 'success';
    case 'account':
      if (rule.isOpenToAdministrators === true && actor.isAdministrator === true) return 'success';
      return actor.isTried === true || !(rule.isNamed ?? path.includes('/:')) ? 'success' : 404;
    case 'administrator':
      return actor.isAdministrator === true ? 'success' : 403;
    case 'viewer':
    case 'editor':
    case 'owner':
      if (actor.role === null) return 404;
      if (actor.role === 'owner' && rule.ownerGets !== undefined) return rule.ownerGets;
      return ranks.indexOf(actor.role) >= ranks.indexOf(rule.least) ? 'success' : 403;
  }
}
