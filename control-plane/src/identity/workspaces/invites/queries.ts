import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import type { PlanName } from '../../plans/index.ts';
import { inviteLife, mostMembers } from '../limits.ts';
import { refusals } from './verdict.ts';
import type { InviteRefusal } from './verdict.ts';

type Origin = Pick<RequestFacts, 'remoteAddress' | 'requestId'>;

const inviteRow = z.object({
  id: z.number(),
  role: z.enum(['editor', 'viewer']),
  email: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
});
export type InviteRow = z.output<typeof inviteRow>;

const columns = sql.fragment`id, role, email, created_at, expires_at`;
const open = sql.fragment`used_at is null and expires_at > now()`;
const ofWorkspace = (scope: Scope, workspaceId: number) =>
  sql.fragment`workspace_id = ${workspaceId} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

/** A page of the invitations to a workspace of the scope that wait for somebody; and how many there are. */
export async function listInvites(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly InviteRow[]; readonly total: number }> {
  const total = await countInvites(scope, transaction, workspaceId);
  const rows = await transaction.any(sql.type(inviteRow)`
    select ${columns} from workspace_invites where ${ofWorkspace(scope, workspaceId)} and ${open}
    order by id desc limit ${page.limit} offset ${page.offset}`);
  return { rows, total };
}

/** How many invitations to a workspace of the scope wait for somebody. */
export async function countInvites(scope: Scope, transaction: Transaction, workspaceId: number): Promise<number> {
  return transaction.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from workspace_invites where ${ofWorkspace(scope, workspaceId)} and ${open}`);
}

/**
 * Makes an invitation to a workspace that the caller has locked. One for an address replaces the one that waits for that address, so that
 * what was mailed before is void.
 */
export async function insertInvite(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  invite: {
    readonly role: 'editor' | 'viewer';
    readonly tokenHash: Buffer;
    readonly mailed: { readonly email: string; readonly hash: Buffer } | null;
  },
): Promise<InviteRow> {
  const mailedHash = invite.mailed === null ? null : sql.binary(invite.mailed.hash);
  return transaction.one(sql.type(inviteRow)`
    insert into workspace_invites (workspace_id, role, email, token_hash, mailed_hash, invited_by, expires_at)
    values (
      ${workspaceId}, ${invite.role}, ${invite.mailed?.email ?? null}, ${sql.binary(invite.tokenHash)}, ${mailedHash},
      ${scope.userId}, now() + ${inviteLife}::interval
    )
    on conflict (workspace_id, email) where used_at is null do update set
      role = excluded.role, token_hash = excluded.token_hash, mailed_hash = excluded.mailed_hash,
      invited_by = excluded.invited_by, expires_at = excluded.expires_at, created_at = excluded.created_at
    returning ${columns}`);
}

/** Withdraws an invitation that waits, to a workspace of the scope that the caller has locked; null when there is none. */
export async function revokeInvite(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  inviteId: number,
): Promise<InviteRow | null> {
  return transaction.maybeOne(sql.type(inviteRow)`
    delete from workspace_invites
    where id = ${inviteId} and ${ofWorkspace(scope, workspaceId)} and ${open} returning ${columns}`);
}

const inviterRow = z.object({ id: z.number(), display_name: z.string().nullable(), locale: z.enum(['en', 'ru']) });

/** The scope's user, as a letter names them. */
export async function readInviter(scope: Scope, transaction: Transaction): Promise<z.output<typeof inviterRow>> {
  return transaction.one(sql.type(inviterRow)`
    select id, display_name, locale from users where id = ${scope.userId}`);
}

const accepted = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.enum(['joined', 'member']), workspace_id: z.number() }),
  z.object({ outcome: z.enum(refusals), workspace_id: z.null() }),
]);

/** Takes an invitation for the scope's user, who does not see its workspace before. */
export async function acceptInvite(
  _scope: Scope,
  transaction: Transaction,
  tokenHash: Buffer,
  origin: Origin,
): Promise<z.output<typeof accepted>> {
  return transaction.one(sql.type(accepted)`
    select outcome, workspace_id
    from identity_accept_invite(${sql.binary(tokenHash)}, ${mostMembers}::integer, ${origin.remoteAddress}, ${origin.requestId})`);
}

/** Whether an invitation would let a new account with that address in: null when it would. Before the tenant is known. */
export async function refusalOfInvite(
  pool: DatabasePool,
  tokenHash: Buffer,
  email: string,
): Promise<InviteRefusal | null> {
  const verdict = await pool.oneFirst(sql.type(z.object({ verdict: z.enum(['open', ...refusals]) }))`
    select identity_invite_verdict(${sql.binary(tokenHash)}, ${email}, ${mostMembers}::integer) as verdict`);
  return verdict === 'open' ? null : verdict;
}

const shownRow = z.discriminatedUnion('verdict', [
  z.object({
    verdict: z.enum(['open', 'full']),
    workspace: z.string(),
    role: z.enum(['editor', 'viewer']),
    email: z.string().nullable(),
    inviter_id: z.number().nullable(),
    inviter_name: z.string().nullable(),
  }),
  z.object({ verdict: z.enum(['unknown', 'used', 'expired']) }),
]);

/** What an invitation says of itself to who has its token. */
export type InviteShown =
  | {
      readonly verdict: 'open' | 'full';
      readonly workspace: string;
      readonly role: 'editor' | 'viewer';
      readonly email: string | null;
      /** null: the account was deleted. */
      readonly inviter: { readonly id: number; readonly display_name: string | null } | null;
    }
  | { readonly verdict: 'unknown' | 'used' | 'expired' };

/** Shows an invitation and uses nothing up. Before the tenant is known. */
export async function shownInvite(pool: DatabasePool, tokenHash: Buffer): Promise<InviteShown> {
  const row = await pool.one(sql.type(shownRow)`
    select verdict, workspace, role, email, inviter_id, inviter_name
    from identity_shown_invite(${sql.binary(tokenHash)}, ${mostMembers}::integer)`);
  if (!('workspace' in row)) return row;
  const { inviter_id: id, inviter_name: name, ...shown } = row;
  return { ...shown, inviter: id === null ? null : { id, display_name: name } };
}

const registered = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), user_id: z.number() }),
  z.object({ outcome: z.enum(['email_taken', 'setup_token_required']) }),
  z.object({ outcome: z.literal('refused'), refusal: z.enum(refusals) }),
]);

/** Makes an account with its default workspace and uses an invitation up for it, both or neither. Before the tenant is known. */
export async function registerInvited(
  pool: DatabasePool,
  account: { readonly email: string; readonly passwordHash: string; readonly plan: PlanName; readonly pingKey: string },
  tokenHash: Buffer,
  mayBeFirst: boolean,
  origin: Origin,
): Promise<z.output<typeof registered>> {
  return pool.one(sql.type(registered)`
    select outcome, user_id, refusal
    from identity_register_invited(
      ${account.email}, ${account.passwordHash}, ${account.plan}, ${account.pingKey}, ${sql.binary(tokenHash)},
      ${mostMembers}::integer, ${mayBeFirst}, ${origin.remoteAddress}, ${origin.requestId}
    )`);
}

/** Forgets invitations that ended long ago; until then who comes late is told why. */
export async function sweepInvites(worker: DatabasePool): Promise<void> {
  await worker.query(sql.unsafe`delete from workspace_invites where expires_at < now() - interval '30 days'`);
}
