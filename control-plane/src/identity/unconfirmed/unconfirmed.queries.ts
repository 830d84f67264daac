import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { AddressStanding, UnconfirmedOwner } from './unconfirmed.ts';

/** Columns of a row of `users` under the name `owner`, as `standingOf` reads them. */
export const standingColumns = sql.fragment`
  owner.email is not null and not owner.email_verified as is_unconfirmed, owner.is_administrator as is_administrator`;

export const standingRow = { is_unconfirmed: z.boolean(), is_administrator: z.boolean() };

/** What the limits look at, of a row with `standingColumns`. */
export function standingOf(row: {
  readonly is_unconfirmed: boolean;
  readonly is_administrator: boolean;
}): AddressStanding {
  return { isUnconfirmed: row.is_unconfirmed, isAdministrator: row.is_administrator };
}

/** Reads the own account. */
export async function readStanding(scope: Scope, connection: CommonQueryMethods): Promise<AddressStanding> {
  const row = await connection.one(sql.type(z.object(standingRow))`
    select ${standingColumns} from users owner where owner.id = ${scope.userId}`);
  return standingOf(row);
}

const ownerRow = z.object({
  is_administrator: z.boolean(),
  added: z.number(),
  monitors: z.number(),
  heartbeats: z.number(),
  webhook_checks: z.number(),
});

/**
 * Locks the owners whose address is not confirmed, and reads what they have.
 * @param adding how many are to be added, by workspace
 */
export async function lockUnconfirmedOwners(
  tx: Transaction,
  adding: ReadonlyMap<number, number>,
): Promise<readonly UnconfirmedOwner[]> {
  const rows = await tx.any(sql.type(ownerRow)`
    select is_administrator, added, monitors, heartbeats, webhook_checks
    from identity_unconfirmed_owners(${sql.array([...adding.keys()], 'int4')}, ${sql.array([...adding.values()], 'int4')})`);
  return rows.map(({ is_administrator: isAdministrator, ...counts }) => ({ isAdministrator, ...counts }));
}
