import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import type { PlanName } from '../../plans/index.ts';
import { inviteRefusals, mostMembers } from '../../workspaces/index.ts';

const ways = z.enum(['identity_provider_a', 'identity_provider_b', 'messenger']);

/** An account elsewhere, as its keeper vouches for it. */
export type OutsideIdentity = {
  readonly way: z.output<typeof ways>;
  readonly issuer: string;
  readonly subject: string;
  /** In the form of accounts; null when none was told. */
  readonly email: string | null;
  readonly emailVerified: boolean;
};

const opened = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.enum(['known', 'linked', 'created']), user_id: z.number() }),
  z.object({ outcome: z.enum(['account_exists', 'setup_token_required', 'closed']), user_id: z.null() }),
  z.object({ outcome: z.literal('refused'), user_id: z.null(), refusal: z.enum(inviteRefusals) }),
]);
export type Opened = z.output<typeof opened>;

/** The account that an identity opens, made where that is allowed. Before the tenant is known. */
export async function openOutsideIdentity(
  pool: DatabasePool,
  identity: OutsideIdentity,
  account: {
    readonly plan: PlanName;
    readonly pingKey: string;
    readonly mayCreate: boolean;
    /** Of the invitation that a new account uses up, and that it is refused without. */
    readonly inviteHash: Buffer | undefined;
    /** What a new account is called, and in which language it is told. */
    readonly profile?: { readonly name: string | null; readonly locale: 'en' | 'ru' | null } | undefined;
  },
  origin: Pick<RequestFacts, 'remoteAddress' | 'requestId'>,
): Promise<Opened> {
  const invite = account.inviteHash === undefined ? null : sql.binary(account.inviteHash);
  return pool.one(sql.type(opened)`
    select outcome, user_id, refusal
    from identity_of_person(
      ${identity.way}, ${identity.issuer}, ${identity.subject}, ${identity.email}, ${identity.emailVerified},
      ${account.plan}, ${account.pingKey}, ${account.mayCreate}, ${invite}::bytea, ${mostMembers}::integer,
      ${origin.remoteAddress}, ${origin.requestId}, ${account.profile?.name ?? null}, ${account.profile?.locale ?? null}
    )
  `);
}

const identityRow = z.object({
  id: z.number(),
  way: ways,
  issuer: z.string(),
  email: z.string().nullable(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
});
export type IdentityRow = z.output<typeof identityRow>;

/** The identities that let the scope's user in, oldest first. */
export async function listIdentities(scope: Scope, transaction: Transaction): Promise<readonly IdentityRow[]> {
  return transaction.any(sql.type(identityRow)`
    select id, way, issuer, email, created_at, last_used_at from identities where user_id = ${scope.userId} order by id`);
}

/** Links an identity to the scope's user: its number when that is new, `own` when it was linked before, `taken` when it lets another in. */
export async function linkIdentity(
  scope: Scope,
  transaction: Transaction,
  { way, issuer, subject, email }: OutsideIdentity,
): Promise<number | 'own' | 'taken'> {
  const made = await transaction.maybeOneFirst(sql.typeAlias('id')`
    insert into identities (user_id, way, issuer, subject, email)
    values (${scope.userId}, ${way}, ${issuer}, ${subject}, ${email})
    on conflict do nothing returning id`);
  if (made !== null) return made;
  const own = await transaction.exists(sql.unsafe`
    select from identities
    where user_id = ${scope.userId} and way = ${way} and issuer = ${issuer} and subject = ${subject}`);
  return own ? 'own' : 'taken';
}

/** Unlinks an identity of the scope's user. @returns its issuer; null when there is none of this number */
export async function removeIdentity(scope: Scope, transaction: Transaction, id: number): Promise<string | null> {
  return transaction.maybeOneFirst(sql.type(z.object({ issuer: z.string() }))`
    delete from identities where id = ${id} and user_id = ${scope.userId} returning issuer`);
}

/**
 * How many ways lead into the account of the scope's user: the password with its address, identities, passkeys. Locks the account until
 * the end of the transaction, so that two removals at once do not each leave the other's.
 */
export async function countWaysIn(scope: Scope, transaction: Transaction): Promise<number> {
  await transaction.query(sql.unsafe`select from users where id = ${scope.userId} for update`);
  return transaction.oneFirst(sql.type(z.object({ ways: z.number() }))`
    select (select count(*) from users where id = ${scope.userId} and password_hash is not null and email is not null)::integer
         + (select count(*) from identities where user_id = ${scope.userId})::integer
         + (select count(*) from passkeys where user_id = ${scope.userId})::integer as ways`);
}
