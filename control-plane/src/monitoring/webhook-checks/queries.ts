import { webhookCheckStatuses } from '@parallax/api-contract';
import type { WebhookCheckStatus } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { byName, contains } from '../../platform/database/text-search.ts';
import { checkRow } from './row.ts';
import type { CheckRow } from './row.ts';
import type { State } from './state.ts';

const columns = sql.fragment`c.id, c.workspace_id, c.name, c.description, c.tags, c.sealed_slug, c.signature, c.custom_hmac, c.sealed_secret,
  c.sealed_previous, c.previous_until, c.expected_interval_seconds, c.grace_period_seconds, c.rules, c.status, c.status_since, c.reason,
  c.last_received_at, c.expects_from, c.next_expected_at, c.deadline_at, c.version, c.created_at, c.updated_at`;

const ofScope = (scope: Scope) =>
  sql.fragment`c.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and c.deleted_at is null`;

const instant = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));

/** A check of the scope, or null. */
export async function findCheck(
  scope: Scope,
  connection: CommonQueryMethods,
  checkId: number,
): Promise<CheckRow | null> {
  return connection.maybeOne(sql.type(checkRow)`
    select ${columns} from webhook_checks c where c.id = ${checkId} and ${ofScope(scope)}`);
}

/** The same, locked until the transaction ends: whatever changes a check goes one after another. */
export async function lockCheck(scope: Scope, tx: Transaction, checkId: number): Promise<CheckRow | null> {
  return tx.maybeOne(sql.type(checkRow)`
    select ${columns} from webhook_checks c where c.id = ${checkId} and ${ofScope(scope)} for update`);
}

export type CheckFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: WebhookCheckStatus | undefined;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
};

const statusAt = (nowMs: number) => sql.fragment`case
  when c.status in ('up', 'degraded') and c.next_expected_at <= ${instant(nowMs)} then 'late' else c.status end`;

/** How many checks of the scope have each status; a status that none has is left out. */
export async function countWebhookChecksByStatus(
  scope: Scope,
  connection: CommonQueryMethods,
  nowMs: number,
): Promise<readonly { readonly status: WebhookCheckStatus; readonly n: number }[]> {
  return connection.any(sql.type(z.object({ status: z.enum(webhookCheckStatuses), n: z.number() }))`
    select ${statusAt(nowMs)} as status, count(*)::integer as n from webhook_checks c where ${ofScope(scope)} group by 1`);
}

/** A page of the scope's checks by name, and how many match. */
export async function listChecks(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: CheckFilter,
  nowMs: number,
): Promise<{ readonly rows: readonly CheckRow[]; readonly total: number }> {
  const matching = sql.fragment`from webhook_checks c where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or c.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.tag ?? null}::text is null or ${filter.tag ?? null} = any (c.tags))
    and (${filter.status ?? null}::text is null or ${filter.status ?? null} = ${statusAt(nowMs)})
    and ${contains(filter.search, sql.fragment`c.name`, sql.fragment`c.description`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(checkRow)`
    select ${columns} ${matching} order by ${byName(sql.fragment`c.name`)}, c.id
    limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { rows, total };
}

/** How many checks a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtextextended('webhook checks of ' || ${workspaceId}::integer, 0))`,
  );
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from webhook_checks c where c.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

/** The number of a check that is to be made: what it seals is bound to it. */
export async function nextCheckId(tx: Transaction): Promise<number> {
  return tx.oneFirst(sql.typeAlias('id')`select nextval('webhook_checks_id_seq')::integer as id`);
}

/** What of a check is written by a route. */
export type CheckValues = Pick<
  CheckRow,
  | 'name'
  | 'description'
  | 'tags'
  | 'signature'
  | 'custom_hmac'
  | 'sealed_secret'
  | 'sealed_previous'
  | 'previous_until'
  | 'expected_interval_seconds'
  | 'grace_period_seconds'
  | 'rules'
>;

const bytes = (value: Buffer | null) => (value === null ? null : sql.binary(value));
const json = (value: unknown) => sql.fragment`${value === null ? null : JSON.stringify(value)}::jsonb`;

/** Inserts a new check. The workspace is held, so that it is not deleted meanwhile. */
export async function insertCheck(
  tx: Transaction,
  place: { readonly id: number; readonly workspaceId: number; readonly slugHash: Buffer; readonly sealedSlug: Buffer },
  values: CheckValues,
  nowMs: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into webhook_checks (
      id, workspace_id, name, description, tags, slug_hash, sealed_slug, signature, custom_hmac, sealed_secret,
      expected_interval_seconds, grace_period_seconds, rules, status_since)
    values (
      ${place.id}, ${place.workspaceId}, ${values.name}, ${values.description}, ${sql.array(values.tags, 'text')},
      ${sql.binary(place.slugHash)}, ${sql.binary(place.sealedSlug)}, ${values.signature}, ${json(values.custom_hmac)},
      ${bytes(values.sealed_secret)}, ${values.expected_interval_seconds}, ${values.grace_period_seconds}, ${json(values.rules)},
      ${instant(nowMs)})`);
}

/** Writes values as the next version of a check that the caller has locked. */
export async function writeCheck(tx: Transaction, checkId: number, values: CheckValues): Promise<void> {
  await tx.query(sql.unsafe`
    update webhook_checks set
      name = ${values.name}, description = ${values.description}, tags = ${sql.array(values.tags, 'text')},
      signature = ${values.signature}, custom_hmac = ${json(values.custom_hmac)}, sealed_secret = ${bytes(values.sealed_secret)},
      sealed_previous = ${bytes(values.sealed_previous)}, previous_until = ${instant(values.previous_until)},
      expected_interval_seconds = ${values.expected_interval_seconds}, grace_period_seconds = ${values.grace_period_seconds},
      rules = ${json(values.rules)}, version = version + 1, updated_at = clock_timestamp()
    where id = ${checkId}`);
}

/** Counts a change of a check's switch as one of its versions. */
export async function countVersion(tx: Transaction, checkId: number): Promise<void> {
  await tx.query(sql.unsafe`
    update webhook_checks set version = version + 1, updated_at = clock_timestamp() where id = ${checkId}`);
}

/**
 * Writes the state of a check that the caller has locked, and of its ranges what follows from it: one is open exactly while the check is up,
 * degraded or down.
 */
export async function writeState(
  tx: Transaction,
  check: { readonly id: number; readonly workspace_id: number },
  before: State,
  state: State,
): Promise<void> {
  await tx.query(sql.unsafe`
    update webhook_checks set status = ${state.status}, status_since = ${instant(state.statusSinceMs)}, reason = ${state.reason},
      last_received_at = ${instant(state.lastReceivedMs)}, expects_from = ${instant(state.expectsFromMs)},
      next_expected_at = ${instant(state.nextExpectedMs)}, deadline_at = ${instant(state.deadlineMs)}
    where id = ${check.id}`);
  await writeRange(tx, check, before, state);
}

/** The same of the ranges alone. */
export async function writeRange(
  tx: Transaction,
  check: { readonly id: number; readonly workspace_id: number },
  before: State,
  state: State,
): Promise<void> {
  if (state.status === before.status && state.reason === before.reason) return;
  const at = instant(state.statusSinceMs);
  await tx.query(sql.unsafe`
    update webhook_check_ranges set ended_at = greatest(${at}, started_at) where check_id = ${check.id} and ended_at is null`);
  if (state.status === 'new' || state.status === 'paused') return;
  // Two changes of one instant: the later one counts.
  await tx.query(sql.unsafe`
    insert into webhook_check_ranges (check_id, workspace_id, started_at, status, reason)
    values (${check.id}, ${check.workspace_id}, ${at}, ${state.status}, ${state.reason})
    on conflict (check_id, started_at) do update set status = excluded.status, reason = excluded.reason, ended_at = null`);
}

/** Marks a check as deleted, without its secrets. Its slug stays as a hash, so that no other gets it. */
export async function markDeleted(tx: Transaction, checkId: number): Promise<void> {
  await tx.query(sql.unsafe`${marking} where id = ${checkId}`);
}

const marking = sql.fragment`update webhook_checks set deleted_at = clock_timestamp(), name = 'deleted', description = '', tags = '{}', rules = '[]',
  sealed_slug = null, sealed_secret = null, sealed_previous = null, previous_until = null, next_expected_at = null, deadline_at = null`;

/** Hook of a deleted workspace whose monitors are gone. For the worker login. */
export async function removeWebhookChecksOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`${marking} where workspace_id = ${workspaceId} and deleted_at is null`);
}

/**
 * Removes a batch of what deleted checks have left, and those of which nothing is left. @returns how many rows went
 * @param limit events of one batch
 */
export async function removeDeleted(worker: DatabasePool, limit: number): Promise<number> {
  const events = await worker.query(sql.unsafe`
    delete from webhook_check_events where id in (
      select e.id from webhook_checks c join webhook_check_events e on e.check_id = c.id where c.deleted_at is not null limit ${limit})`);
  if (events.rowCount > 0) return events.rowCount;
  // After a minute, when no delivery that began before it was deleted can still bring something.
  const gone = sql.fragment`select c.id from webhook_checks c where c.deleted_at < now() - interval '1 minute'
    and not exists (select from webhook_check_events e where e.check_id = c.id) order by c.id limit 100`;
  return worker.transaction(async (tx) => {
    const ids = sql.array(await tx.anyFirst(sql.typeAlias('id')`${gone} for update`), 'int4');
    await tx.query(sql.unsafe`delete from webhook_check_ranges where check_id = any (${ids})`);
    const checks = await tx.query(sql.unsafe`delete from webhook_checks where id = any (${ids})`);
    return checks.rowCount;
  });
}
