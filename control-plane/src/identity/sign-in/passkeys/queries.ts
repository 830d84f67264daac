import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';

const bytes = z.instanceof(Buffer);
const passkeyRow = z.object({
  id: z.number(),
  name: z.string(),
  credential_id: bytes,
  transports: z.array(z.string()),
  backed_up: z.boolean(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
});
export type PasskeyRow = z.output<typeof passkeyRow>;

const columns = sql.fragment`id, name, credential_id, transports, backed_up, created_at, last_used_at`;

/** The passkeys of the scope's user, oldest first. */
export async function listPasskeys(scope: Scope, transaction: Transaction): Promise<readonly PasskeyRow[]> {
  return transaction.any(sql.type(passkeyRow)`
    select ${columns} from passkeys where user_id = ${scope.userId} order by id`);
}

/** Keeps a passkey of the scope's user; null when the credential is known, to whomever. */
export async function insertPasskey(
  scope: Scope,
  transaction: Transaction,
  passkey: {
    readonly name: string;
    readonly credentialId: Uint8Array;
    readonly publicKey: Uint8Array;
    readonly counter: number;
    readonly transports: readonly string[];
    readonly backedUp: boolean;
  },
): Promise<PasskeyRow | null> {
  return transaction.maybeOne(sql.type(passkeyRow)`
    insert into passkeys (user_id, name, credential_id, public_key, counter, transports, backed_up)
    values (
      ${scope.userId}, ${passkey.name}, ${sql.binary(Buffer.from(passkey.credentialId))},
      ${sql.binary(Buffer.from(passkey.publicKey))}, ${passkey.counter}, ${sql.array([...passkey.transports], 'text')}, ${passkey.backedUp}
    )
    on conflict do nothing
    returning ${columns}`);
}

/** Removes a passkey of the scope's user. False when there is none of this number. */
export async function removePasskey(scope: Scope, transaction: Transaction, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    delete from passkeys where id = ${id} and user_id = ${scope.userId}`);
  return rowCount > 0;
}

const knownPasskey = z.object({
  id: z.number().nullable(),
  user_id: z.number().nullable(),
  public_key: bytes.nullable(),
  counter: z.coerce.number().nullable(),
  transports: z.array(z.string()).nullable(),
});

/** The passkey of a credential, whosever it is; nulls when it is not known. Before the tenant is known. */
export async function findPasskey(
  pool: DatabasePool,
  credentialId: Uint8Array,
): Promise<z.output<typeof knownPasskey>> {
  return pool.one(sql.type(knownPasskey)`
    select id, user_id, public_key, counter, transports from identity_passkey(${sql.binary(Buffer.from(credentialId))})`);
}

/**
 * Notes the use of a passkey. False when its counter was reached before, by a copy or by the same answer (Web Authentication, section 6.1.1);
 * an authenticator that does not count stays at zero.
 */
export async function usePasskey(
  scope: Scope,
  transaction: Transaction,
  id: number,
  counter: number,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update passkeys set counter = ${counter}, last_used_at = now()
    where id = ${id} and user_id = ${scope.userId} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`);
  return rowCount > 0;
}
