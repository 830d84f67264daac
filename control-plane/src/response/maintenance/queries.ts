import type { Maintenance, MaintenanceStatus } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { contains } from '../../platform/database/text-search.ts';
import { answerOf, maintenanceRow } from './answer.ts';
import { nextColumns, scheduleColumns } from './claims/queries.ts';
import type { Occurrence } from './recurrence/occurrences.ts';
import type { StoredSchedule } from './schedule.ts';
import { covers } from './scope/covers.ts';
import type { Covered } from './scope/given.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));
const ofScope = (scope: Scope) =>
  sql.fragment`x.deleted_at is null and x.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

const columns = sql.fragment`x.id, x.workspace_id, x.name, x.description, x.is_public, x.public_title,
  x.public_text, x.notify, x.status, x.covers_all, x.tags, x.version,
  x.created_at, x.updated_at, x.next_starts_at, x.next_ends_at, x.next_is_shifted, x.uid, ${scheduleColumns},
  (select coalesce(jsonb_agg(jsonb_build_object('type', s.type, 'id', s.id) order by s.place, s.id), '[]') from (
    select 1 as place, 'monitor' as type, t.monitor_id as id from maintenance_monitors t where t.maintenance_id = x.id
    union all
    select 2, 'heartbeat', t.heartbeat_id from maintenance_heartbeats t join heartbeats h on h.id = t.heartbeat_id
    where t.maintenance_id = x.id and h.deleted_at is null
    union all
    select 3, 'webhook_check', t.webhook_check_id from maintenance_webhook_checks t join webhook_checks c on c.id = t.webhook_check_id
    where t.maintenance_id = x.id and c.deleted_at is null) s) as subjects,
  array(select t.group_id from maintenance_groups t where t.maintenance_id = x.id order by t.group_id) as group_ids,
  o.id as occurrence_id, o.starts_at as occurrence_starts_at, o.ends_at as occurrence_ends_at`;
const currentJoin = sql.fragment`left join maintenance_occurrences o on o.maintenance_id = x.id and o.ended_at is null`;

/** Reads maintenance `x` with what belongs to it. @param rest conditions and order */
export function maintenanceRows(rest: ReturnType<typeof sql.fragment>) {
  return sql.type(maintenanceRow)`select ${columns} from maintenance x ${currentJoin} ${rest}`;
}

/** A maintenance of the scope as the API answers it, or null. */
export async function findMaintenance(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number,
): Promise<Maintenance | null> {
  const row = await connection.maybeOne(maintenanceRows(sql.fragment`where x.id = ${id} and ${ofScope(scope)}`));
  return row === null ? null : answerOf(row);
}

/** The same, locked until the transaction ends: writers and the clock go one after another. */
export async function lockMaintenance(scope: Scope, tx: Transaction, id: number): Promise<Maintenance | null> {
  await tx.query(sql.unsafe`select from maintenance x where x.id = ${id} and ${ofScope(scope)} for update`);
  return findMaintenance(scope, tx, id);
}

export type MaintenanceFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: MaintenanceStatus | undefined;
  readonly monitor_id?: number | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's maintenance: what lasts, then what comes next, then what is over, newest first; and how many match. */
export async function listMaintenance(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: MaintenanceFilter,
): Promise<{ readonly maintenance: readonly Maintenance[]; readonly total: number }> {
  const matching = sql.fragment`from maintenance x where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or x.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.status ?? null}::text is null or x.status = ${filter.status ?? null})
    and (${filter.monitor_id ?? null}::integer is null or exists (
      select from monitors m where m.id = ${filter.monitor_id ?? null} and ${covers}))
    and ${contains(filter.search, sql.fragment`x.name`, sql.fragment`x.description`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(maintenanceRow)`
    with page as (
      select x.id, row_number() over (
        order by case x.status when 'active' then 1 when 'scheduled' then 2 else 3 end,
          case when x.status in ('active', 'scheduled') then x.next_starts_at end nulls first, x.starts_at desc, x.id desc
      ) as place ${matching}
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select ${columns} from page join maintenance x on x.id = page.id ${currentJoin} order by page.place`);
  return { maintenance: rows.map(answerOf), total };
}

/** What status pages tell of a maintenance. */
export type PublicTexts = Pick<Maintenance, 'is_public' | 'public_title' | 'public_text' | 'notify'>;

/** What is written of a maintenance. */
export type NewMaintenance = {
  readonly workspaceId: number;
  readonly name: string;
  readonly description: string;
  /** What status pages tell; absent: its word alone. */
  readonly told?: PublicTexts;
  readonly covered: Covered;
  readonly stored: StoredSchedule;
  readonly next: Occurrence;
  readonly uid?: string | null;
};

const timestamps = (ms: readonly number[]) =>
  sql.array(
    ms.map((each) => new Date(each).toISOString()),
    'timestamptz',
  );

/** Inserts a maintenance with what it covers. @returns its identifier; null when the workspace has one of that UID */
export async function insertMaintenance(tx: Transaction, given: NewMaintenance): Promise<number | null> {
  const { stored, next, covered, told } = given;
  const id = await tx.maybeOneFirst(sql.typeAlias('id')`
    insert into maintenance (workspace_id, name, description, covers_all, tags, starts_at, duration_seconds, rrule, timezone, exdates,
      next_starts_at, next_ends_at, next_is_shifted, uid, is_public, public_title, public_text, notify)
    values (${given.workspaceId}, ${given.name}, ${given.description}, ${covered.all}, ${sql.array(covered.tags, 'text')},
      ${at(stored.startsMs)}, ${stored.durationSeconds}, ${stored.rrule}, ${stored.timezone}, ${timestamps(stored.exdatesMs)},
      ${at(next.startsMs)}, ${at(next.endsMs)}, ${next.isShifted}, ${given.uid ?? null},
      ${told?.is_public ?? true}, ${told?.public_title ?? null}, ${told?.public_text ?? null}, ${told?.notify ?? true})
    on conflict (workspace_id, uid) where deleted_at is null do nothing returning id`);
  if (id !== null) await writeCovered(tx, { id, workspace_id: given.workspaceId }, covered);
  return id;
}

/** Writes which subjects and groups a maintenance covers; they have been found in its workspace. */
async function writeCovered(
  tx: Transaction,
  { id, workspace_id: workspaceId }: { readonly id: number; readonly workspace_id: number },
  { monitorIds, heartbeatIds, webhookCheckIds, groupIds }: Covered,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into maintenance_monitors (workspace_id, maintenance_id, monitor_id)
    select ${workspaceId}, ${id}, given.id from unnest(${sql.array(monitorIds, 'int4')}) as given (id)`);
  await tx.query(sql.unsafe`
    insert into maintenance_heartbeats (workspace_id, maintenance_id, heartbeat_id)
    select ${workspaceId}, ${id}, given.id from unnest(${sql.array(heartbeatIds, 'int4')}) as given (id)`);
  await tx.query(sql.unsafe`
    insert into maintenance_webhook_checks (workspace_id, maintenance_id, webhook_check_id)
    select ${workspaceId}, ${id}, given.id from unnest(${sql.array(webhookCheckIds, 'int4')}) as given (id)`);
  await tx.query(sql.unsafe`
    insert into maintenance_groups (workspace_id, maintenance_id, group_id)
    select ${workspaceId}, ${id}, given.id from unnest(${sql.array(groupIds, 'int4')}) as given (id)`);
}

/** What of a maintenance is changed; what is absent stays. */
export type MaintenanceChange = {
  readonly name?: string;
  readonly description?: string;
  readonly is_public?: boolean;
  readonly public_title?: string | null;
  readonly public_text?: string | null;
  readonly notify?: boolean;
  readonly covered?: Covered;
  readonly schedule?: { readonly stored: StoredSchedule; readonly next: Occurrence | undefined };
  readonly status?: MaintenanceStatus;
  /** The next occurrence, where that alone changes; null for none. */
  readonly next?: Occurrence | null;
};

/** Writes a change as the next version of a maintenance that the caller has locked. */
export async function writeMaintenance(
  tx: Transaction,
  maintenance: Pick<Maintenance, 'id' | 'workspace_id'>,
  change: MaintenanceChange,
): Promise<void> {
  const { covered, schedule } = change;
  const parts = [
    ...(change.name === undefined ? [] : [sql.fragment`name = ${change.name}`]),
    ...(change.description === undefined ? [] : [sql.fragment`description = ${change.description}`]),
    ...(change.is_public === undefined ? [] : [sql.fragment`is_public = ${change.is_public}`]),
    ...(change.public_title === undefined ? [] : [sql.fragment`public_title = ${change.public_title}`]),
    ...(change.public_text === undefined ? [] : [sql.fragment`public_text = ${change.public_text}`]),
    ...(change.notify === undefined ? [] : [sql.fragment`notify = ${change.notify}`]),
    ...(change.status === undefined ? [] : [sql.fragment`status = ${change.status}`]),
    ...(covered === undefined
      ? []
      : [sql.fragment`covers_all = ${covered.all}, tags = ${sql.array(covered.tags, 'text')}`]),
    ...(schedule === undefined ? [] : [scheduleValues(schedule.stored), nextColumns(schedule.next)]),
    ...(change.next === undefined ? [] : [nextColumns(change.next ?? undefined)]),
    sql.fragment`version = version + 1, updated_at = clock_timestamp()`,
  ];
  await tx.query(sql.unsafe`update maintenance set ${sql.join(parts, sql.fragment`, `)} where id = ${maintenance.id}`);
  if (covered === undefined) return;
  await tx.query(sql.unsafe`delete from maintenance_monitors where maintenance_id = ${maintenance.id}`);
  await tx.query(sql.unsafe`delete from maintenance_heartbeats where maintenance_id = ${maintenance.id}`);
  await tx.query(sql.unsafe`delete from maintenance_webhook_checks where maintenance_id = ${maintenance.id}`);
  await tx.query(sql.unsafe`delete from maintenance_groups where maintenance_id = ${maintenance.id}`);
  await writeCovered(tx, maintenance, covered);
}

const scheduleValues = (stored: StoredSchedule) =>
  sql.fragment`starts_at = ${at(stored.startsMs)}, duration_seconds = ${stored.durationSeconds}, rrule = ${stored.rrule},
    timezone = ${stored.timezone}, exdates = ${timestamps(stored.exdatesMs)}`;

/** Hides a maintenance that the caller has locked; the job removes its rows when nothing is held by it. */
export async function hideMaintenance(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`
    update maintenance set deleted_at = clock_timestamp(), status = 'cancelled', ${nextColumns(undefined)} where id = ${id}`);
}

/** How many of a workspace are scheduled or active. Those who add to them wait for each other until the transaction ends. */
export async function countToCome(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(
    sql.unsafe`select pg_advisory_xact_lock(hashtextextended('maintenance ' || ${String(workspaceId)}, 0))`,
  );
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from maintenance x
    where ${ofScope(scope)} and x.workspace_id = ${workspaceId} and x.status in ('scheduled', 'active')`);
}

/** The maintenance of a workspace that has one of these UIDs. */
export async function findByUid(
  scope: Scope,
  connection: CommonQueryMethods,
  workspaceId: number,
  uids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.any(sql.type(z.object({ id: z.number(), uid: z.string() }))`
    select x.id, x.uid from maintenance x
    where ${ofScope(scope)} and x.workspace_id = ${workspaceId} and x.uid = any(${sql.array(uids, 'text')})`);
  return new Map(rows.map((row) => [row.uid, row.id]));
}
