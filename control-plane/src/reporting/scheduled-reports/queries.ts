import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { byName, contains } from '../../platform/database/text-search.ts';
import type { Covered } from '../../response/maintenance/index.ts';
import { reportRow } from './row.ts';
import type { ReportRow } from './row.ts';
import type { OwnDefaults, ReportValues } from './values.ts';

const columns = sql.fragment`r.id, r.workspace_id, r.owner_id, r.name, r.is_paused, r.next_run_at, r.covers_all, r.tags, r.slo_target,
  r.locale, r.frequency, r.timezone, r.week_starts, r.send_at, r.formats, r.compare, r.version, r.created_at, r.updated_at,
  exists (select from workspace_members m where m.workspace_id = r.workspace_id and m.user_id = r.owner_id) as has_owner,
  (select coalesce(jsonb_agg(jsonb_build_object('type', s.type, 'id', s.id) order by s.place, s.id), '[]') from (
    select 1 as place, 'monitor' as type, t.monitor_id as id from scheduled_report_subjects t
    where t.report_id = r.id and t.monitor_id is not null
    union all
    select 2, 'heartbeat', h.id from scheduled_report_subjects t join heartbeats h on h.id = t.heartbeat_id
    where t.report_id = r.id and h.deleted_at is null
    union all
    select 3, 'webhook_check', c.id from scheduled_report_subjects t join webhook_checks c on c.id = t.webhook_check_id
    where t.report_id = r.id and c.deleted_at is null) s) as subjects,
  array(select t.group_id from scheduled_report_subjects t where t.report_id = r.id and t.group_id is not null order by t.group_id) as group_ids`;

const ofScope = (scope: Scope) =>
  sql.fragment`r.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and r.deleted_at is null`;

/** A report of the scope, or null. */
export async function findReport(scope: Scope, connection: CommonQueryMethods, id: number): Promise<ReportRow | null> {
  return connection.maybeOne(sql.type(reportRow)`
    select ${columns} from scheduled_reports r where r.id = ${id} and ${ofScope(scope)}`);
}

/** A report of whatever workspace that is not deleted, or null. For the worker login. */
export async function findAnyReport(worker: CommonQueryMethods, id: number): Promise<ReportRow | null> {
  return worker.maybeOne(sql.type(reportRow)`
    select ${columns} from scheduled_reports r join workspaces w on w.id = r.workspace_id
    where r.id = ${id} and r.deleted_at is null and w.deleted_at is null`);
}

/** A report of the scope, locked until the transaction ends: changes go one after another. */
export async function lockReport(scope: Scope, tx: Transaction, id: number): Promise<ReportRow | null> {
  await tx.query(
    sql.unsafe`select from scheduled_reports r where r.id = ${id} and ${ofScope(scope)} for no key update`,
  );
  // In a statement of its own, which sees what the one waited for has done.
  return findReport(scope, tx, id);
}

export type ReportFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: 'active' | 'paused' | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's reports by name, and how many match. */
export async function listReports(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: ReportFilter,
): Promise<{ readonly rows: readonly ReportRow[]; readonly total: number }> {
  const matching = sql.fragment`from scheduled_reports r where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or r.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.status ?? null}::text is null or r.is_paused = (${filter.status ?? null} = 'paused'))
    and ${contains(filter.search, sql.fragment`r.name`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(reportRow)`
    with page as (
      select r.id, row_number() over (order by ${byName(sql.fragment`r.name`)}, r.id) as place ${matching}
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select ${columns} from page join scheduled_reports r on r.id = page.id order by page.place`);
  return { rows, total };
}

/** How many reports a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('scheduled reports of ' || ${workspaceId}::integer, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from scheduled_reports r where r.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

const ownRow = z.object({ email: z.string().nullable(), locale: z.enum(['en', 'ru']), timezone: z.string() });

/** What the scope's user has set for themselves. */
export async function ownDefaults(scope: Scope, connection: CommonQueryMethods): Promise<OwnDefaults> {
  return connection.one(sql.type(ownRow)`select email, locale, timezone from users where id = ${scope.userId}`);
}

/** The address of the owner of a report, whose row no other request may read. For the worker login. */
export async function addressOfOwner(worker: DatabasePool, ownerId: number | null): Promise<string | null> {
  return worker.maybeOneFirst(sql.type(z.object({ email: z.string().nullable() }))`
    select email from users where id = ${ownerId} and deleted_at is null`);
}

const at = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));

/** Inserts a report with what it covers, which was found in its workspace. @returns its identifier */
export async function insertReport(
  tx: Transaction,
  place: { readonly workspaceId: number; readonly ownerId: number; readonly nextRunMs: number },
  values: ReportValues,
  covered: Covered,
): Promise<number> {
  const id = await tx.oneFirst(sql.typeAlias('id')`
    insert into scheduled_reports (
      workspace_id, owner_id, name, covers_all, tags, slo_target, locale, frequency, timezone, week_starts, send_at, formats, compare,
      next_run_at)
    values (
      ${place.workspaceId}, ${place.ownerId}, ${values.name}, ${covered.all}, ${sql.array(covered.tags, 'text')}, ${values.slo_target},
      ${values.locale}, ${values.frequency}, ${values.timezone}, ${values.week_starts}, ${values.send_at},
      ${sql.array(values.formats, 'text')}, ${values.compare}, ${at(place.nextRunMs)})
    returning id`);
  await insertCovered(tx, { id, workspaceId: place.workspaceId }, covered);
  return id;
}

/** What a change writes beside the plain fields. */
export type ReportChange = {
  /** Absent: as it stands. */
  readonly nextRunMs?: number | null;
  readonly ownerId?: number;
  readonly covered?: Covered;
};

/** Writes values as the next version of a report that the caller has locked. */
export async function writeReport(
  tx: Transaction,
  row: ReportRow,
  values: ReportValues,
  { nextRunMs = row.next_run_at, ownerId, covered }: ReportChange,
): Promise<void> {
  await tx.query(sql.unsafe`
    update scheduled_reports set
      name = ${values.name}, slo_target = ${values.slo_target}, locale = ${values.locale}, frequency = ${values.frequency},
      timezone = ${values.timezone}, week_starts = ${values.week_starts}, send_at = ${values.send_at},
      formats = ${sql.array(values.formats, 'text')}, compare = ${values.compare}, is_paused = ${nextRunMs === null},
      next_run_at = ${at(nextRunMs)}, owner_id = ${ownerId ?? row.owner_id}, version = version + 1, updated_at = clock_timestamp()
    where id = ${row.id}`);
  if (covered === undefined) return;
  await tx.query(sql.unsafe`
    update scheduled_reports set covers_all = ${covered.all}, tags = ${sql.array(covered.tags, 'text')} where id = ${row.id}`);
  await tx.query(sql.unsafe`delete from scheduled_report_subjects where report_id = ${row.id}`);
  await insertCovered(tx, { id: row.id, workspaceId: row.workspace_id }, covered);
}

/** A report is gone at once; a job removes its runs and files. */
export async function markDeleted(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from scheduled_report_subjects where report_id = ${id}`);
  await tx.query(sql.unsafe`delete from scheduled_report_recipients where report_id = ${id}`);
  await tx.query(sql.unsafe`
    update scheduled_reports set deleted_at = clock_timestamp(), is_paused = true, next_run_at = null where id = ${id}`);
}

async function insertCovered(
  tx: Transaction,
  { id, workspaceId }: { readonly id: number; readonly workspaceId: number },
  covered: Covered,
): Promise<void> {
  const rows = [
    ...covered.monitorIds.map((one) => ['monitor', one]),
    ...covered.groupIds.map((one) => ['group', one]),
    ...covered.heartbeatIds.map((one) => ['heartbeat', one]),
    ...covered.webhookCheckIds.map((one) => ['webhook_check', one]),
  ];
  await tx.query(sql.unsafe`
    insert into scheduled_report_subjects (workspace_id, report_id, monitor_id, group_id, heartbeat_id, webhook_check_id)
    select ${workspaceId}, ${id}, case given.type when 'monitor' then given.id end, case given.type when 'group' then given.id end,
      case given.type when 'heartbeat' then given.id end, case given.type when 'webhook_check' then given.id end
    from ${sql.unnest(rows, ['text', 'int4'])} as given (type, id)`);
}
