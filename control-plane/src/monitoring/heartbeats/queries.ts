import { downReasons, heartbeatStatuses } from '@parallax/api-contract';
import type { HeartbeatStatus } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { byName, contains } from '../../platform/database/text-search.ts';
import type { HeartbeatRow } from './answer.ts';

const heartbeatRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  slug: z.string(),
  schedule_type: z.enum(['period', 'cron', 'on_calendar']),
  schedule: z.string().nullable(),
  timezone: z.string(),
  expected_interval_seconds: z.number(),
  grace_period_seconds: z.number(),
  max_runtime_seconds: z.number().nullable(),
  min_runtime_seconds: z.number().nullable(),
  failures_before_alert: z.number(),
  require_secret: z.boolean(),
  resume_on_ping: z.boolean(),
  methods: z.enum(['any', 'post']),
  status: z.enum(heartbeatStatuses),
  status_since: z.number(),
  reason: z.enum(downReasons).nullable(),
  is_running: z.boolean(),
  consecutive_failures: z.number(),
  last_ping_at: z.number().nullable(),
  last_duration_ms: z
    .bigint()
    .nullable()
    .transform((ms) => (ms === null ? null : Number(ms))),
  next_expected_at: z.number().nullable(),
  deadline_at: z.number().nullable(),
  ping_key: z.string(),
  uuid_hash: z.instanceof(Buffer),
  sealed_uuid: z.instanceof(Buffer),
  created_at: z.number(),
  updated_at: z.number(),
  version: z.number(),
});

/** `late` is told by the clock. */
const status = sql.fragment`case when h.status = 'up' and h.next_expected_at <= clock_timestamp() then 'late' else h.status end`;

const columns = sql.fragment`h.id, h.workspace_id, h.name, h.description, h.tags, h.slug, h.schedule_type, h.schedule, h.timezone,
  h.expected_interval_seconds, h.grace_period_seconds, h.max_runtime_seconds, h.min_runtime_seconds, h.failures_before_alert, h.require_secret,
  h.resume_on_ping, h.methods, ${status} as status, h.status_since, h.reason, jsonb_array_length(h.runs) > 0 as is_running,
  h.failures as consecutive_failures, h.last_ping_at, h.last_duration_ms, h.next_expected_at, h.deadline_at, w.ping_key, h.uuid_hash,
  h.sealed_uuid, h.created_at, h.updated_at, h.version`;

const ofScope = (scope: Scope) =>
  sql.fragment`h.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and h.deleted_at is null`;

/** A heartbeat of the scope, or null. */
export async function findHeartbeat(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number,
): Promise<HeartbeatRow | null> {
  return connection.maybeOne(sql.type(heartbeatRow)`
    select ${columns} from heartbeats h join workspaces w on w.id = h.workspace_id where h.id = ${id} and ${ofScope(scope)}`);
}

export type HeartbeatFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: HeartbeatStatus | undefined;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's heartbeats by name, and how many match. */
export async function listHeartbeats(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: HeartbeatFilter,
): Promise<{ readonly rows: readonly HeartbeatRow[]; readonly total: number }> {
  const matching = sql.fragment`from heartbeats h join workspaces w on w.id = h.workspace_id where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or h.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.status ?? null}::text is null or ${status} = ${filter.status ?? null})
    and (${filter.tag ?? null}::text is null or ${filter.tag ?? null} = any(h.tags))
    and ${contains(filter.search, sql.fragment`h.name`, sql.fragment`h.description`, sql.fragment`h.slug`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(heartbeatRow)`
    select ${columns} ${matching} order by ${byName(sql.fragment`h.name`)}, h.id
    limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { rows, total };
}

/** What of a heartbeat is written when it is made. */
export type NewHeartbeat = Pick<
  HeartbeatRow,
  | 'workspace_id'
  | 'name'
  | 'description'
  | 'tags'
  | 'slug'
  | 'schedule_type'
  | 'schedule'
  | 'timezone'
  | 'expected_interval_seconds'
  | 'grace_period_seconds'
  | 'max_runtime_seconds'
  | 'min_runtime_seconds'
  | 'failures_before_alert'
  | 'require_secret'
  | 'resume_on_ping'
  | 'methods'
  | 'uuid_hash'
  | 'sealed_uuid'
> & { readonly secret_hash: Buffer; readonly push_hash: Buffer | null; readonly is_paused: boolean };

/**
 * Inserts a heartbeat. @returns its identifier; null when its slug, uuid or token is taken, of whichever heartbeat
 */
export async function insertHeartbeat(tx: Transaction, given: NewHeartbeat): Promise<number | null> {
  return tx.maybeOneFirst(sql.typeAlias('id')`
    insert into heartbeats (
      workspace_id, name, description, tags, slug, schedule_type, schedule, timezone, expected_interval_seconds, grace_period_seconds,
      max_runtime_seconds, min_runtime_seconds, failures_before_alert, require_secret, resume_on_ping, methods, uuid_hash, sealed_uuid,
      secret_hash, push_hash, status)
    values (
      ${given.workspace_id}, ${given.name}, ${given.description}, ${sql.array(given.tags, 'text')}, ${given.slug}, ${given.schedule_type},
      ${given.schedule}, ${given.timezone}, ${given.expected_interval_seconds}, ${given.grace_period_seconds}, ${given.max_runtime_seconds},
      ${given.min_runtime_seconds}, ${given.failures_before_alert}, ${given.require_secret}, ${given.resume_on_ping}, ${given.methods},
      ${sql.binary(given.uuid_hash)}, ${sql.binary(given.sealed_uuid)}, ${sql.binary(given.secret_hash)},
      ${given.push_hash === null ? null : sql.binary(given.push_hash)}, ${given.is_paused ? 'paused' : 'new'})
    on conflict do nothing returning id`);
}

/**
 * How many heartbeats a workspace of the scope has, and the slugs among the given beginnings. Holds up others that make some there, so that the count holds.
 */
export async function lockSlugs(
  scope: Scope,
  tx: Transaction,
  workspaceId: number,
): Promise<{ readonly count: number; readonly slugs: ReadonlySet<string> }> {
  await tx.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtextextended('heartbeats of ' || ${workspaceId}::integer, 0))`,
  );
  const slugs = await tx.anyFirst(sql.type(z.object({ slug: z.string() }))`
    select h.slug from heartbeats h where h.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
  return { count: slugs.length, slugs: new Set(slugs) };
}

/** What of a heartbeat is written when it is changed. */
export type HeartbeatChange = Partial<
  Pick<
    HeartbeatRow,
    | 'name'
    | 'description'
    | 'tags'
    | 'slug'
    | 'schedule_type'
    | 'schedule'
    | 'timezone'
    | 'expected_interval_seconds'
    | 'grace_period_seconds'
    | 'max_runtime_seconds'
    | 'min_runtime_seconds'
    | 'failures_before_alert'
    | 'require_secret'
    | 'resume_on_ping'
    | 'methods'
  >
>;

/** Writes the configuration of a heartbeat that the caller has locked, as its next version. @throws a unique violation of `heartbeats_slug` */
export async function writeConfiguration(tx: Transaction, row: HeartbeatRow, change: HeartbeatChange): Promise<void> {
  const next = { ...row, ...change };
  await tx.query(sql.unsafe`
    update heartbeats set name = ${next.name}, description = ${next.description}, tags = ${sql.array(next.tags, 'text')}, slug = ${next.slug},
      schedule_type = ${next.schedule_type}, schedule = ${next.schedule}, timezone = ${next.timezone},
      expected_interval_seconds = ${next.expected_interval_seconds}, grace_period_seconds = ${next.grace_period_seconds},
      max_runtime_seconds = ${next.max_runtime_seconds}, min_runtime_seconds = ${next.min_runtime_seconds},
      failures_before_alert = ${next.failures_before_alert}, require_secret = ${next.require_secret}, resume_on_ping = ${next.resume_on_ping},
      methods = ${next.methods}, version = version + 1, updated_at = clock_timestamp()
    where id = ${row.id}`);
}

/** Writes the secret of a heartbeat that the caller has locked; the version is counted with the URLs, which are exchanged with it. */
export async function writeSecret(tx: Transaction, id: number, secretHash: Buffer): Promise<void> {
  await tx.query(sql.unsafe`
    update heartbeats set secret_hash = ${sql.binary(secretHash)} where id = ${id}`);
}

/** A change of the configuration beside its fields: paused or resumed. */
export async function nextVersion(tx: Transaction, id: number): Promise<void> {
  await tx.query(
    sql.unsafe`update heartbeats set version = version + 1, updated_at = clock_timestamp() where id = ${id}`,
  );
}

/** Marks a heartbeat that the caller has locked as deleted: its addresses are nobody's from the commit on; its signals go by batches. */
export async function markDeleted(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`
    update heartbeats set deleted_at = clock_timestamp(), deadline_at = null, next_expected_at = null, runs = '[]' where id = ${id}`);
}

/** Hook of a deleted workspace: its heartbeats are deleted as if by hand. For the worker login. */
export async function removeHeartbeatsOfWorkspace(worker: DatabasePool, workspaceId: number): Promise<void> {
  await worker.query(sql.unsafe`
    update heartbeats set deleted_at = clock_timestamp(), deadline_at = null, next_expected_at = null, runs = '[]'
    where workspace_id = ${workspaceId} and deleted_at is null`);
}

/** The time zone of an account. */
export async function zoneOfUser(scope: Scope, tx: Transaction): Promise<string> {
  return tx.oneFirst(
    sql.type(z.object({ timezone: z.string() }))`select timezone from users where id = ${scope.userId}`,
  );
}

/** How many heartbeats of the scope have each status; a status that none has is left out. */
export async function countHeartbeatsByStatus(
  scope: Scope,
  connection: CommonQueryMethods,
): Promise<readonly { readonly status: HeartbeatStatus; readonly n: number }[]> {
  return connection.any(sql.type(z.object({ status: z.enum(heartbeatStatuses), n: z.number() }))`
    select ${status} as status, count(*)::integer as n from heartbeats h where ${ofScope(scope)} group by 1`);
}

/** How many heartbeats the workspaces of the scope have. */
export async function countHeartbeats(scope: Scope, connection: CommonQueryMethods): Promise<number> {
  return connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from heartbeats h where ${ofScope(scope)}`,
  );
}
