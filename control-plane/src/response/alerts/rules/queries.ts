import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { byName, contains } from '../../../platform/database/text-search.ts';
import type { Covered } from '../../maintenance/index.ts';
import { alertRow } from './row.ts';
import type { AlertRow } from './row.ts';
import type { OwnDefaults } from './targets.ts';
import type { AlertValues } from './values.ts';

const columns = sql.fragment`a.id, a.workspace_id, a.owner_id, a.name, a.description, a.is_active, a.is_default, a.covers_all, a.tags, a.events,
  a.steps, a.failover, a.notify_on_recovery, a.min_duration_seconds, a.reminder_interval_seconds, a.quiet_hours, a.muted_until, a.version,
  a.created_at, a.updated_at,
  (select jsonb_build_object('id', m.user_id, 'display_name', m.display_name)
    from identity_members(a.workspace_id) m where m.user_id = a.owner_id) as owner,
  (select coalesce(jsonb_agg(jsonb_build_object('type', s.type, 'id', s.id) order by s.place, s.id), '[]') from (
    select 1 as place, 'monitor' as type, t.monitor_id as id from alert_subjects t where t.alert_id = a.id and t.monitor_id is not null
    union all
    select 2, 'heartbeat', h.id from alert_subjects t join heartbeats h on h.id = t.heartbeat_id
    where t.alert_id = a.id and h.deleted_at is null
    union all
    select 3, 'webhook_check', c.id from alert_subjects t join webhook_checks c on c.id = t.webhook_check_id
    where t.alert_id = a.id and c.deleted_at is null) s) as subjects,
  array(select t.group_id from alert_subjects t where t.alert_id = a.id and t.group_id is not null order by t.group_id) as group_ids`;

const ofScope = (scope: Scope) => sql.fragment`a.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

const instant = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));

/** An alert of the scope, or null. */
export async function findAlert(scope: Scope, connection: CommonQueryMethods, id: number): Promise<AlertRow | null> {
  return connection.maybeOne(sql.type(alertRow)`
    select ${columns} from alerts a where a.id = ${id} and ${ofScope(scope)}`);
}

/** Whether there is such an alert in the scope. */
export async function isAlertThere(scope: Scope, connection: CommonQueryMethods, id: number): Promise<boolean> {
  return connection.exists(sql.unsafe`select from alerts a where a.id = ${id} and ${ofScope(scope)}`);
}

/** An alert of the scope, locked until the transaction ends: whatever changes an alert goes one after another. */
export async function lockAlert(scope: Scope, tx: Transaction, id: number): Promise<AlertRow | null> {
  await tx.query(sql.unsafe`select from alerts a where a.id = ${id} and ${ofScope(scope)} for update`);
  // In a statement of its own, which sees what the one waited for has done.
  return findAlert(scope, tx, id);
}

export type AlertFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly is_active?: boolean | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's alerts by name, and how many match. */
export async function listAlerts(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: AlertFilter,
): Promise<{ readonly rows: readonly AlertRow[]; readonly total: number }> {
  const matching = sql.fragment`from alerts a where ${ofScope(scope)}
    and (${filter.workspace_id ?? null}::integer is null or a.workspace_id = ${filter.workspace_id ?? null})
    and (${filter.is_active ?? null}::boolean is null or a.is_active = ${filter.is_active ?? null})
    and ${contains(filter.search, sql.fragment`a.name`, sql.fragment`a.description`)}`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(alertRow)`
    with page as (
      select a.id, row_number() over (order by ${byName(sql.fragment`a.name`)}, a.id) as place ${matching}
      order by place limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size})
    select ${columns} from page join alerts a on a.id = page.id order by page.place`);
  return { rows, total };
}

/** How many alerts a workspace of the scope has; until the transaction ends nobody else makes one there. */
export async function lockCount(scope: Scope, tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended('alerts of ' || ${workspaceId}::integer, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from alerts a where a.workspace_id = ${workspaceId} and ${ofScope(scope)}`);
}

/** How many alerts there are in the scope's workspaces. */
export async function countAlerts(scope: Scope, connection: CommonQueryMethods): Promise<number> {
  return connection.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from alerts a where ${ofScope(scope)}`);
}

const stateRow = z.object({ active: z.number(), muted: z.number(), inactive: z.number() });

/** How many alerts of the scope are in each state; a muted one is switched on. */
export async function countAlertsByState(
  scope: Scope,
  connection: CommonQueryMethods,
  nowMs: number,
): Promise<z.output<typeof stateRow>> {
  const isMuted = sql.fragment`coalesce(a.muted_until > ${sql.timestamp(new Date(nowMs))}, false)`;
  return connection.one(sql.type(stateRow)`
    select count(*) filter (where a.is_active and not ${isMuted})::integer as active,
      count(*) filter (where a.is_active and ${isMuted})::integer as muted, count(*) filter (where not a.is_active)::integer as inactive
    from alerts a where ${ofScope(scope)}`);
}

const ownRow = z.object({ email: z.string().nullable() });

/** What targets of the scope's user are given that name nothing else. */
export async function ownDefaults(scope: Scope, connection: CommonQueryMethods): Promise<OwnDefaults> {
  return connection.one(sql.type(ownRow)`select email from users where id = ${scope.userId}`);
}

const json = (value: unknown) => sql.fragment`${value === null ? null : JSON.stringify(value)}::jsonb`;

/** Inserts an alert with what it covers, which was found in its workspace. @returns its identifier */
export async function insertAlert(
  tx: Transaction,
  place: { readonly workspaceId: number; readonly ownerId: number },
  values: AlertValues,
  covered: Covered,
): Promise<number> {
  const id = await tx.oneFirst(sql.typeAlias('id')`
    insert into alerts (
      workspace_id, owner_id, name, description, is_active, covers_all, tags, events, steps, failover, notify_on_recovery,
      min_duration_seconds, reminder_interval_seconds, quiet_hours, muted_until)
    values (
      ${place.workspaceId}, ${place.ownerId}, ${values.name}, ${values.description}, ${values.is_active}, ${covered.all},
      ${sql.array(covered.tags, 'text')}, ${sql.array(values.events, 'text')}, ${json(values.steps)}, ${json(values.failover)},
      ${values.notify_on_recovery}, ${values.min_duration_seconds}, ${values.reminder_interval_seconds}, ${json(values.quiet_hours)},
      ${instant(values.muted_until)})
    returning id`);
  await insertCovered(tx, { id, workspace_id: place.workspaceId }, covered);
  return id;
}

/** What of an alert is written; what is absent stays. */
export type AlertChange = Partial<AlertValues> & {
  readonly covered?: Covered;
  readonly ownerId?: number;
  /** Steps are counted from now on where something fails already. */
  readonly beginsAnew?: boolean;
};

/** Writes a change as the next version of an alert that the caller has locked. */
export async function writeAlert(
  tx: Transaction,
  alert: Pick<AlertRow, 'id' | 'workspace_id'>,
  change: AlertChange,
): Promise<void> {
  const { covered } = change;
  const set = [
    change.name === undefined ? undefined : sql.fragment`name = ${change.name}`,
    change.description === undefined ? undefined : sql.fragment`description = ${change.description}`,
    change.is_active === undefined ? undefined : sql.fragment`is_active = ${change.is_active}`,
    change.events === undefined ? undefined : sql.fragment`events = ${sql.array(change.events, 'text')}`,
    change.steps === undefined ? undefined : sql.fragment`steps = ${json(change.steps)}`,
    change.failover === undefined ? undefined : sql.fragment`failover = ${json(change.failover)}`,
    change.notify_on_recovery === undefined
      ? undefined
      : sql.fragment`notify_on_recovery = ${change.notify_on_recovery}`,
    change.min_duration_seconds === undefined
      ? undefined
      : sql.fragment`min_duration_seconds = ${change.min_duration_seconds}`,
    change.reminder_interval_seconds === undefined
      ? undefined
      : sql.fragment`reminder_interval_seconds = ${change.reminder_interval_seconds}`,
    change.quiet_hours === undefined ? undefined : sql.fragment`quiet_hours = ${json(change.quiet_hours)}`,
    change.muted_until === undefined ? undefined : sql.fragment`muted_until = ${instant(change.muted_until)}`,
    change.ownerId === undefined ? undefined : sql.fragment`owner_id = ${change.ownerId}, is_default = false`,
    change.beginsAnew === true ? sql.fragment`active_since = clock_timestamp()` : undefined,
    covered === undefined
      ? undefined
      : sql.fragment`covers_all = ${covered.all}, tags = ${sql.array(covered.tags, 'text')}`,
    sql.fragment`version = version + 1, updated_at = clock_timestamp()`,
  ];
  await tx.query(sql.unsafe`
    update alerts set ${sql.join(
      set.filter((one) => one !== undefined),
      sql.fragment`, `,
    )} where id = ${alert.id}`);
  if (covered === undefined) return;
  await tx.query(sql.unsafe`delete from alert_subjects where alert_id = ${alert.id}`);
  await insertCovered(tx, alert, covered);
}

async function insertCovered(
  tx: Transaction,
  { id, workspace_id: workspaceId }: Pick<AlertRow, 'id' | 'workspace_id'>,
  covered: Covered,
): Promise<void> {
  const rows = [
    ...covered.monitorIds.map((one) => ['monitor', one]),
    ...covered.groupIds.map((one) => ['group', one]),
    ...covered.heartbeatIds.map((one) => ['heartbeat', one]),
    ...covered.webhookCheckIds.map((one) => ['webhook_check', one]),
  ];
  await tx.query(sql.unsafe`
    insert into alert_subjects (workspace_id, alert_id, monitor_id, group_id, heartbeat_id, webhook_check_id)
    select ${workspaceId}, ${id}, case given.type when 'monitor' then given.id end, case given.type when 'group' then given.id end,
      case given.type when 'heartbeat' then given.id end, case given.type when 'webhook_check' then given.id end
    from ${sql.unnest(rows, ['text', 'int4'])} as given (type, id)`);
}

/** Removes an alert that the caller has locked; its history stays. */
export async function removeAlert(tx: Transaction, id: number): Promise<void> {
  await tx.query(sql.unsafe`delete from alerts where id = ${id}`);
}
