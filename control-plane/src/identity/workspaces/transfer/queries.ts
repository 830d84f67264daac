import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { standingColumns, standingRow } from '../../unconfirmed/index.ts';

/** Monitors named in an answer. */
const mostNamed = 100;

const newOwnerRow = z.object({
  plan: z.enum(['free', 'paid', 'self_hosted']),
  /** Only one that is known to be theirs: nobody else is written to. */
  verified_email: z.string().nullable(),
  locale: z.enum(['en', 'ru']),
  owned: z.number(),
  ...standingRow,
});
export type NewOwner = z.output<typeof newOwnerRow>;

/**
 * What a transfer must know of the new owner and the former one does not see. Read by the worker login; the caller has shown that the
 * user is a member of their workspace.
 */
export async function readNewOwner(worker: DatabasePool, userId: number): Promise<NewOwner | null> {
  return worker.maybeOne(sql.type(newOwnerRow)`
    select plan, case when email_verified then email end as verified_email, locale,
      (select count(*)::integer from workspaces w where w.owner_id = owner.id and w.deleted_at is null) as owned, ${standingColumns}
    from users owner where id = ${userId}`);
}

/**
 * Names of monitors in a workspace that another user has among their own too, in order; those of the workspace are known to the caller. Read
 * by the worker login for the same reason.
 */
export async function namesInCommon(
  worker: DatabasePool,
  workspaceId: number,
  userId: number,
): Promise<readonly string[]> {
  return worker.anyFirst(sql.type(z.object({ name: z.string() }))`
    select own.name from monitors own
    join monitors other on other.owner_id = ${userId} and other.name = own.name and other.deleted_at is null
    where own.workspace_id = ${workspaceId} and own.deleted_at is null
    order by own.name limit ${mostNamed}`);
}

/**
 * Makes a member the owner of a workspace that the caller has locked, and its owner an editor. The monitors follow by their foreign key.
 * @throws an error that `isNameInCommon` knows, when a monitor has a name that the new owner has elsewhere; the transaction is void then
 */
export async function moveOwnership(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  toUserId: number,
): Promise<void> {
  await transaction.query(sql.unsafe`
    update workspace_members set role = 'editor' where workspace_id = ${workspaceId} and user_id = ${scope.userId}`);
  await transaction.query(sql.unsafe`
    update workspace_members set role = 'owner' where workspace_id = ${workspaceId} and user_id = ${toUserId}`);
  await transaction.query(sql.unsafe`
    update workspaces set owner_id = ${toUserId}, was_handed_over = true, version = version + 1, updated_at = clock_timestamp()
    where id = ${workspaceId}`);
}

/** True for the error of `moveOwnership` when the new owner has a name elsewhere. */
export function isNameInCommon(error: unknown): boolean {
  return error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'monitors_name';
}

const slowMonitor = z.object({ id: z.number(), name: z.string(), interval_seconds: z.number() });

/** Monitors of a workspace of the scope whose interval is below a minimum: the first of them, and how many there are. */
export async function monitorsBelow(
  scope: Scope,
  transaction: Transaction,
  workspaceId: number,
  minimumIntervalSeconds: number,
): Promise<{ readonly rows: readonly z.output<typeof slowMonitor>[]; readonly total: number }> {
  const below = sql.fragment`from monitors
    where workspace_id = ${workspaceId} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})
      and deleted_at is null and interval_seconds < ${minimumIntervalSeconds}`;
  const total = await transaction.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${below}`,
  );
  const rows = await transaction.any(sql.type(slowMonitor)`
    select id, name, interval_seconds ${below} order by id limit ${mostNamed}`);
  return { rows, total };
}
