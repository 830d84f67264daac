import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { hashOf } from '../entry/secret-token.ts';
import { signInLife } from './provider.ts';

/** A sign-in that goes to a provider, by the secrets that its callback must bring. */
type SignInKey = {
  readonly state: string;
  readonly browser: string;
  readonly way: 'identity_provider_a' | 'identity_provider_b';
};

/**
 * Notes a sign-in that goes to a provider. Before the tenant is known.
 * @param link the account that the identity is for, and its session
 * @param inviteHash of the invitation that a new account would use up
 */
export async function beginProviderSignIn(
  pool: DatabasePool,
  { state, browser, way }: SignInKey,
  link: { readonly userId: number; readonly sessionId: string } | undefined,
  inviteHash: Buffer | undefined,
): Promise<void> {
  await pool.query(sql.unsafe`
    select identity_begin_sign_in(
      ${sql.binary(hashOf(state))}, ${sql.binary(hashOf(browser))}, ${way},
      ${link?.userId ?? null}, ${link?.sessionId ?? null}::uuid,
      ${inviteHash === undefined ? null : sql.binary(inviteHash)}::bytea, ${signInLife}::interval)`);
}

const takenRow = z.object({
  known: z.boolean(),
  for_user: z.number().nullable(),
  session_lives: z.boolean().nullable(),
  invite_hash: z.instanceof(Buffer).nullable(),
});

/** Takes a sign-in that came back, once and in the browser that began it. Before the tenant is known. */
export async function takeProviderSignIn(
  pool: DatabasePool,
  { state, browser, way }: SignInKey,
): Promise<z.output<typeof takenRow>> {
  return pool.one(sql.type(takenRow)`
    select known, for_user, session_lives, invite_hash
    from identity_take_sign_in(${sql.binary(hashOf(state))}, ${sql.binary(hashOf(browser))}, ${way})`);
}
