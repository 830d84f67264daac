import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const instant = (ms: number) => sql.timestamp(new Date(ms));

// As sign-in by the messenger writes it (identity/sign-in/messenger).
const issuer = 'https://telegram.org';

/** The account that a person has: the one that the bot linked, else the one that they sign in to by the messenger. */
const accountOf = (personId: number) => sql.fragment`coalesce(
  (select p.user_id from messenger_people p where p.person_id = ${personId}),
  (select i.user_id from identities i where i.way = 'messenger' and i.issuer = ${issuer} and i.subject = ${String(personId)}))`;

const memberRow = z.object({
  user_id: z.number(),
  locale: z.enum(['en', 'ru']),
  timezone: z.string(),
  plan: z.enum(['free', 'paid', 'self_hosted']),
  is_administrator: z.boolean(),
  roles: z.record(z.string(), z.enum(['owner', 'editor', 'viewer'])),
});

/** Somebody of the messenger who has an account, with the rights that it has now. */
export type Member = { readonly caller: Caller; readonly locale: 'en' | 'ru'; readonly timezone: string };

/** Whose account a person of the messenger has; null for nobody. Before the tenant is known. */
export async function findMember(worker: DatabasePool, personId: number): Promise<Member | null> {
  const row = await worker.maybeOne(sql.type(memberRow)`
    select u.id as user_id, u.locale, u.timezone, u.plan, u.is_administrator, coalesce((
      select jsonb_object_agg(m.workspace_id, m.role)
      from workspace_members m join workspaces w on w.id = m.workspace_id
      where m.user_id = u.id and w.deleted_at is null
    ), '{}') as roles
    from users u where u.deleted_at is null and u.id = ${accountOf(personId)}`);
  if (row === null) return null;
  const workspaces = new Map(Object.entries(row.roles).map(([id, role]) => [Number(id), role]));
  const { user_id: userId, is_administrator: isAdministrator, plan, locale, timezone } = row;
  return {
    caller: { kind: 'user', userId, isAdministrator, workspaces, plan, readOnly: false, isLimited: false },
    locale,
    timezone,
  };
}

/** Keeps the token of a deep link. @param workspaceId null links a person */
export async function insertToken(
  scope: Scope,
  tx: Transaction,
  token: { readonly hash: Buffer; readonly workspaceId: number | null; readonly expiresMs: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into messenger_link_tokens (token_hash, user_id, workspace_id, expires_at)
    values (${sql.binary(token.hash)}, ${scope.userId}, ${token.workspaceId}, ${instant(token.expiresMs)})`);
}

const tokenRow = z.object({ user_id: z.number(), workspace_id: z.number().nullable() });

/** Uses up the token of a deep link, once; null for one that is unknown, used or too old, or that is for the other kind of chat. */
export async function takeToken(
  tx: Transaction,
  hash: Buffer,
  isGroup: boolean,
  nowMs: number,
): Promise<z.output<typeof tokenRow> | null> {
  return tx.maybeOne(sql.type(tokenRow)`
    delete from messenger_link_tokens
    where token_hash = ${sql.binary(hash)} and expires_at > ${instant(nowMs)} and (workspace_id is not null) = ${isGroup}
    returning user_id, workspace_id`);
}

/** Links a person to an account, in place of whom it was linked to. @returns false when the person has another account */
export async function linkPerson(
  tx: Transaction,
  userId: number,
  person: { readonly id: number; readonly name: string },
): Promise<boolean> {
  const isTaken = await tx.exists(sql.unsafe`
    select from (select ${accountOf(person.id)} as user_id) of where of.user_id <> ${userId}`);
  if (isTaken) return false;
  await tx.query(sql.unsafe`
    insert into messenger_people (user_id, person_id, name) values (${userId}, ${person.id}, ${person.name})
    on conflict (user_id) do update set person_id = excluded.person_id, name = excluded.name, created_at = now()`);
  return true;
}

const linkRow = z.object({
  way: z.enum(['bot', 'sign_in']),
  person_id: z.string(),
  name: z.string().nullable(),
  linked_at: z.number(),
});
export type LinkRow = z.output<typeof linkRow>;

/** Whom the scope's user is at the messenger; null for nobody. */
export async function findLink(scope: Scope, connection: CommonQueryMethods): Promise<LinkRow | null> {
  return connection.maybeOne(sql.type(linkRow)`
    select 'bot' as way, person_id::text, name, created_at as linked_at, 1 as place
    from messenger_people where user_id = ${scope.userId}
    union all
    select 'sign_in', subject, null, created_at, 2
    from identities where user_id = ${scope.userId} and way = 'messenger' and issuer = ${issuer}
    order by place, linked_at limit 1`);
}

/** Unlinks the scope's user. @returns false when they were not linked by the bot */
export async function removeLink(scope: Scope, tx: Transaction): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`delete from messenger_people where user_id = ${scope.userId}`);
  return rowCount > 0;
}
