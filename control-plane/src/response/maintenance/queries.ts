import { maintenanceSchema } from '@parallax/api-contract';
import type { Maintenance } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

type Fragment = ReturnType<typeof sql.fragment>;

const iso = (column: Fragment) =>
  sql.fragment`to_char((${column}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const idsOf = (type: string) => sql.fragment`coalesce((
  select jsonb_agg(c.subject_id order by c.subject_id) from maintenance_scopes c where c.window_id = w.id and c.subject_type = ${type}), '[]')`;

const json = sql.fragment`jsonb_build_object(
  'id', w.id, 'workspace_id', w.workspace_id, 'title', w.title, 'description', w.description, 'status', w.status,
  'scope', jsonb_build_object('all', w.is_for_all, 'monitor_ids', ${idsOf('monitor')}, 'heartbeat_ids', ${idsOf('heartbeat')},
    'webhook_check_ids', ${idsOf('webhook_check')},
    'group_ids', coalesce((select jsonb_agg(c.group_id order by c.group_id) from maintenance_scopes c where c.window_id = w.id and c.group_id is not null), '[]'),
    'tags', coalesce((select jsonb_agg(c.tag order by c.tag) from maintenance_scopes c where c.window_id = w.id and c.tag is not null), '[]')),
  'starts_at', ${iso(sql.fragment`w.starts_at`)}, 'ends_at', ${iso(sql.fragment`w.starts_at + make_interval(secs => w.duration_seconds)`)},
  'duration_seconds', w.duration_seconds, 'rrule', w.rrule, 'timezone', w.timezone,
  'exdates', coalesce((select jsonb_agg(${iso(sql.fragment`e`)} order by e) from unnest(w.exdates) e), '[]'),
  'next_occurrence', case when w.next_starts_at is not null and w.status in ('scheduled', 'active') then
    jsonb_build_object('starts_at', ${iso(sql.fragment`w.next_starts_at`)}, 'ends_at', ${iso(sql.fragment`w.next_ends_at`)}) end,
  'occurrences', coalesce((
    select jsonb_agg(jsonb_build_object('id', o.id, 'starts_at', ${iso(sql.fragment`o.starts_at`)}, 'ends_at', ${iso(sql.fragment`o.ends_at`)},
      'ended_at', ${iso(sql.fragment`o.ended_at`)}) order by o.starts_at desc)
    from (select * from maintenance_occurrences p where p.window_id = w.id order by p.starts_at desc limit 20) o), '[]'),
  'created_at', ${iso(sql.fragment`w.created_at`)}, 'updated_at', ${iso(sql.fragment`w.updated_at`)}, 'version', w.version
)`;

const ofScope = (scope: Scope) =>
  sql.fragment`w.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and w.deleted_at is null`;

// ICU's root collation folds case beyond ASCII whatever locale the database was made with.
const folded = (text: Fragment) => sql.fragment`lower(${text} collate "und-x-icu")`;

const namesMonitor = (monitorId: number) => sql.fragment`exists (
  select from monitors m where m.id = ${monitorId} and m.workspace_id = w.workspace_id and m.deleted_at is null and (
    w.is_for_all or exists (
      select from maintenance_scopes c where c.window_id = w.id and (
        (c.subject_type = 'monitor' and c.subject_id = m.id) or c.tag = any(m.tags)
        or exists (
          select from monitor_group_members gm join monitor_groups g on g.id = gm.group_id
          where gm.monitor_id = m.id and (g.id = c.group_id or c.tag = any(g.tags)))))))`;

export type MaintenanceFilter = {
  readonly page: number;
  readonly page_size: number;
  readonly workspace_id?: number | undefined;
  readonly status?: string | undefined;
  readonly monitor_id?: number | undefined;
  readonly search?: string | undefined;
};

/** A page of the scope's windows, the latest first, and how many match. */
export async function listWindows(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: MaintenanceFilter,
): Promise<{ readonly windowsJson: string; readonly total: number }> {
  const search = (filter.search ?? '').normalize('NFC');
  const has = (column: Fragment) => sql.fragment`strpos(${folded(column)}, ${folded(sql.fragment`${search}`)}) > 0`;
  const given = [
    ofScope(scope),
    filter.workspace_id === undefined ? undefined : sql.fragment`w.workspace_id = ${filter.workspace_id}`,
    filter.status === undefined ? undefined : sql.fragment`w.status = ${filter.status}`,
    filter.monitor_id === undefined ? undefined : namesMonitor(filter.monitor_id),
    search === '' ? undefined : sql.fragment`(${has(sql.fragment`w.title`)} or ${has(sql.fragment`w.description`)})`,
  ];
  const conditions = sql.join(
    given.filter((one) => one !== undefined),
    sql.fragment` and `,
  );
  const found = await connection.one(sql.type(z.object({ windows: z.string(), total: z.number() }))`
    select (select count(*)::integer from maintenance_windows w where ${conditions}) as total, coalesce((
      select jsonb_agg(${json} order by w.starts_at desc, w.id desc) from (
        select w.* from maintenance_windows w where ${conditions}
        order by w.starts_at desc, w.id desc limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}
      ) w), '[]')::text as windows`);
  return { windowsJson: found.windows, total: found.total };
}

/** A window of the scope, or null. */
export async function readWindow(
  scope: Scope,
  connection: CommonQueryMethods,
  windowId: number,
): Promise<Maintenance | null> {
  return connection.maybeOneFirst(sql.type(z.object({ found: maintenanceSchema }))`
    select ${json} as found from maintenance_windows w where w.id = ${windowId} and ${ofScope(scope)}`);
}

/** The same, locked until the transaction ends, so that its clock and its writers go one after another. */
export async function lockWindow(scope: Scope, tx: Transaction, windowId: number): Promise<Maintenance | null> {
  await tx.query(
    sql.unsafe`select from maintenance_windows w where w.id = ${windowId} and ${ofScope(scope)} for update`,
  );
  // In a statement of its own, which sees what the one waited for has written.
  return readWindow(scope, tx, windowId);
}

export type WindowTimes = {
  readonly startsMs: number;
  readonly durationSeconds: number;
  readonly rrule: string | null;
  readonly zone: string;
  readonly exceptMs: readonly number[];
  readonly next: { readonly startsMs: number; readonly endsMs: number } | null;
};

const at = (ms: number) => sql.timestamp(new Date(ms));
const atOrNull = (ms: number | undefined) => (ms === undefined ? sql.fragment`null::timestamptz` : at(ms));
const instants = (list: readonly number[]) =>
  sql.array(
    list.map((ms) => new Date(ms).toISOString()),
    'timestamptz',
  );

export type NewWindow = WindowTimes & {
  readonly workspaceId: number;
  readonly title: string;
  readonly description: string;
  readonly isForAll: boolean;
  readonly uid: string | null;
  readonly userId: number;
};

/** Inserts a window without its scope. @returns its number, null where one of the workspace has the same UID */
export async function insertWindow(tx: Transaction, window: NewWindow): Promise<number | null> {
  return tx.maybeOneFirst(sql.typeAlias('id')`
    insert into maintenance_windows (workspace_id, title, description, is_for_all, starts_at, duration_seconds, rrule, timezone, exdates,
      next_starts_at, next_ends_at, ics_uid, created_by)
    values (${window.workspaceId}, ${window.title}, ${window.description}, ${window.isForAll}, ${at(window.startsMs)},
      ${window.durationSeconds}, ${window.rrule}, ${window.zone}, ${instants(window.exceptMs)}, ${atOrNull(window.next?.startsMs)},
      ${atOrNull(window.next?.endsMs)}, ${window.uid}, ${window.userId})
    on conflict (workspace_id, ics_uid) where ics_uid is not null and deleted_at is null do nothing
    returning id`);
}

/** Windows of a workspace that are not over; its row is locked, so that two requests count one after another. */
export async function countWindows(tx: Transaction, workspaceId: number): Promise<number> {
  await tx.query(sql.unsafe`select pg_advisory_xact_lock(hashtextextended(${`maintenance of ${workspaceId}`}, 0))`);
  return tx.oneFirst(sql.type(z.object({ n: z.number() }))`
    select count(*)::integer as n from maintenance_windows
    where workspace_id = ${workspaceId} and status in ('scheduled', 'active') and deleted_at is null`);
}

export type WindowChange = {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly isForAll?: boolean | undefined;
  readonly times?: WindowTimes | undefined;
};

/** Writes what is given as the next version of a locked window. */
export async function writeWindow(tx: Transaction, windowId: number, change: WindowChange): Promise<void> {
  const { times } = change;
  const timed =
    times === undefined
      ? sql.fragment``
      : sql.fragment`starts_at = ${at(times.startsMs)}, duration_seconds = ${times.durationSeconds}, rrule = ${times.rrule},
          timezone = ${times.zone}, exdates = ${instants(times.exceptMs)}, next_starts_at = ${atOrNull(times.next?.startsMs)},
          next_ends_at = ${atOrNull(times.next?.endsMs)},`;
  await tx.query(sql.unsafe`
    update maintenance_windows set ${timed} title = coalesce(${change.title ?? null}, title),
      description = coalesce(${change.description ?? null}, description),
      is_for_all = coalesce(${change.isForAll ?? null}, is_for_all), version = version + 1, updated_at = clock_timestamp()
    where id = ${windowId}`);
}

/** Marks a locked window as cancelled, or deletes it: its clock stands still. */
export async function stopWindow(tx: Transaction, windowId: number, how: 'cancelled' | 'deleted'): Promise<void> {
  await tx.query(sql.unsafe`
    update maintenance_windows set next_starts_at = null, next_ends_at = null, version = version + 1, updated_at = clock_timestamp(),
      status = case when status in ('scheduled', 'active') then 'cancelled' else status end,
      deleted_at = case when ${how === 'deleted'} then clock_timestamp() end
    where id = ${windowId}`);
}

const heldRow = z.object({ incident_id: z.number(), title: z.string(), started_at: z.string() });

/** Incidents of a workspace that began within one of some times, all of whose members are among some subjects (`type:id`); newest first. */
export async function incidentsWithin(
  connection: CommonQueryMethods,
  workspaceId: number,
  times: readonly { readonly startsMs: number; readonly endsMs: number }[],
  subjects: readonly string[],
  most: number,
): Promise<z.output<typeof heldRow>[]> {
  if (times.length === 0 || subjects.length === 0) return [];
  const rows = times.map(({ startsMs, endsMs }) => [new Date(startsMs).toISOString(), new Date(endsMs).toISOString()]);
  const found = await connection.any(sql.type(heldRow)`
    select i.id as incident_id, i.title, ${iso(sql.fragment`i.started_at`)} as started_at from incidents i
    where i.workspace_id = ${workspaceId} and i.deleted_at is null and i.folded_into is null and not i.is_manual
      and exists (
        select from ${sql.unnest(rows, ['timestamptz', 'timestamptz'])} as held (starts_at, ends_at)
        where i.started_at >= held.starts_at and i.started_at < held.ends_at)
      and exists (select from incident_members u where u.incident_id = i.id)
      and not exists (
        select from incident_members u
        where u.incident_id = i.id and u.subject_type || ':' || u.subject_id <> all(${sql.array(subjects, 'text')}))
    order by i.started_at desc, i.id desc limit ${most}`);
  return [...found];
}

/** What a calendar shows of the windows of a workspace: those that are not over, and those that were within 90 days. */
export async function windowsOfCalendar(scope: Scope, connection: CommonQueryMethods): Promise<readonly Maintenance[]> {
  return connection.anyFirst(sql.type(z.object({ found: maintenanceSchema }))`
    select ${json} as found from maintenance_windows w
    where ${ofScope(scope)} and (
      w.status in ('scheduled', 'active') or w.starts_at + make_interval(secs => w.duration_seconds) > now() - interval '90 days'
      or w.updated_at > now() - interval '90 days')
    order by w.id limit 2000`);
}

/** Whether the transaction sees a workspace: what is answered without a row of it rests on more than the caller's role. */
export async function seesWorkspace(tx: Transaction, workspaceId: number): Promise<boolean> {
  return tx.exists(sql.unsafe`select from workspaces where id = ${workspaceId} and deleted_at is null`);
}
