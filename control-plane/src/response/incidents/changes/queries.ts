import type { UpdateIncident } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { FilledIncident } from '../templates/fill.ts';

/* What people write of incidents. */

const lockedRow = z.object({ id: z.number(), workspace_id: z.number(), version: z.number(), title: z.string() });
export type LockedIncident = z.output<typeof lockedRow>;

/** An incident of the scope, locked until the transaction ends; null when there is none. */
export async function lockIncident(
  scope: Scope,
  transaction: Transaction,
  incidentId: number,
): Promise<LockedIncident | null> {
  return transaction.maybeOne(sql.type(lockedRow)`
    select id, workspace_id, version, title from incidents
    where id = ${incidentId} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and deleted_at is null for update`);
}

/** When an incident by hand began, and when it was over; null: it lasts. Milliseconds since the epoch. */
export type ManualTimes = { readonly startedMs: number; readonly resolvedMs: number | null };

/** Inserts an incident by hand, due to be announced unless it is over. @returns its number */
export async function insertManual(
  transaction: Transaction,
  body: FilledIncident,
  { startedMs, resolvedMs }: ManualTimes,
  by: { readonly userId: number; readonly nowMs: number },
): Promise<number> {
  const at = (ms: number | null) => (ms === null ? null : sql.timestamp(new Date(ms)));
  const isOver = resolvedMs !== null;
  return transaction.oneFirst(sql.typeAlias('id')`
    insert into incidents (workspace_id, title, description, severity, started_at, assignee_id, is_manual, has_own_title, tell_at,
      status, resolved_at, resolution, resolved_by, visibility, public_title)
    values (${body.workspace_id}, ${body.title}, ${body.description ?? ''}, ${body.severity}, ${at(startedMs)},
      ${body.assignee_id ?? null}, true, true, ${at(isOver ? null : by.nowMs)},
      ${isOver ? 'resolved' : 'open'}, ${at(resolvedMs)}, ${isOver ? 'manual' : null}, ${isOver ? by.userId : null},
      ${body.visibility ?? 'auto'}, ${body.public_title ?? null})
    returning id`);
}

/** Names monitors of the workspace as members of an incident by hand. @returns those that are there */
export async function insertManualMembers(
  transaction: Transaction,
  incident: { readonly id: number; readonly workspaceId: number; readonly title: string; readonly startedMs: number },
  monitorIds: readonly number[],
): Promise<readonly number[]> {
  return transaction.anyFirst(sql.typeAlias('id')`
    insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, is_manual)
    select ${incident.workspaceId}, ${incident.id}, 'monitor', m.id, m.name, ${incident.title},
      ${sql.timestamp(new Date(incident.startedMs))}, true
    from monitors m
    where m.workspace_id = ${incident.workspaceId} and m.deleted_at is null and m.id = any(${sql.array(monitorIds, 'int4')})
    returning subject_id as id`);
}

/** Ends the members that nobody measures, with their incident. */
export async function endManualMembers(transaction: Transaction, incidentId: number, endedMs: number): Promise<void> {
  await transaction.query(sql.unsafe`
    update incident_members set ended_at = greatest(started_at, ${sql.timestamp(new Date(endedMs))}), resolution = 'manual'
    where incident_id = ${incidentId} and is_manual and ended_at is null`);
}

const fieldsRow = z.object({
  has_own_title: z.boolean(),
  is_manual: z.boolean(),
  ...({
    title: z.string(),
    description: z.string(),
    severity: z.string(),
    assignee_id: z.number().nullable(),
    postmortem: z.string().nullable(),
    visibility: z.string(),
    public_title: z.string().nullable(),
    postmortem_public: z.boolean(),
    postmortem_notify: z.boolean(),
  } satisfies Readonly<Record<keyof UpdateIncident, z.ZodType>>),
});

/**
 * What a change says otherwise than a locked incident that is there. A title that is sent back as it was shown goes on being made from the members.
 */
export async function differingFields(
  transaction: Transaction,
  incidentId: number,
  change: UpdateIncident,
): Promise<UpdateIncident> {
  const { has_own_title, is_manual, ...present } = await transaction.one(sql.type(fieldsRow)`
    select title, has_own_title, is_manual, description, severity, assignee_id, postmortem, visibility, public_title, postmortem_public,
      postmortem_notify
    from incidents where id = ${incidentId}`);
  const isSame = (name: string, value: unknown): boolean => {
    if (name === 'title' && value === null) return has_own_title === is_manual;
    return (name === 'description' ? (value ?? '') : value) === present[name as keyof typeof present];
  };
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => !isSame(name, value)));
}

/** Writes what is given of a locked incident as its next version; null clears. */
export async function changeIncident(
  transaction: Transaction,
  incidentId: number,
  change: UpdateIncident,
): Promise<void> {
  const sets = [
    ...(change.title === undefined
      ? []
      : change.title === null
        ? [sql.fragment`has_own_title = is_manual`]
        : [sql.fragment`title = ${change.title}, has_own_title = true`]),
    ...(change.description === undefined ? [] : [sql.fragment`description = ${change.description ?? ''}`]),
    ...(change.severity === undefined ? [] : [sql.fragment`severity = ${change.severity}`]),
    ...(change.assignee_id === undefined ? [] : [sql.fragment`assignee_id = ${change.assignee_id}`]),
    ...(change.postmortem === undefined ? [] : [sql.fragment`postmortem = ${change.postmortem}`]),
    ...(change.visibility === undefined ? [] : [sql.fragment`visibility = ${change.visibility}`]),
    ...(change.public_title === undefined ? [] : [sql.fragment`public_title = ${change.public_title}`]),
    ...(change.postmortem_public === undefined ? [] : [sql.fragment`postmortem_public = ${change.postmortem_public}`]),
    ...(change.postmortem_notify === undefined ? [] : [sql.fragment`postmortem_notify = ${change.postmortem_notify}`]),
  ];
  if (sets.length === 0) return;
  await transaction.query(sql.unsafe`
    update incidents set ${sql.join(sets, sql.fragment`, `)}, version = version + 1, updated_at = clock_timestamp()
    where id = ${incidentId}`);
  if (change.postmortem === undefined && change.postmortem_public === undefined) return;
  await transaction.query(sql.unsafe`
    update incidents set postmortem_public_at =
      case when postmortem_public and postmortem is not null then coalesce(postmortem_public_at, clock_timestamp()) end
    where id = ${incidentId}`);
}

/** Acknowledges an incident that is open. @returns whether it was */
export async function acknowledge(
  transaction: Transaction,
  incidentId: number,
  userId: number | null,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    update incidents set status = 'acknowledged', acknowledged_at = clock_timestamp(), acknowledged_by = ${userId},
      version = version + 1, updated_at = clock_timestamp()
    where id = ${incidentId} and status = 'open'`);
  return rowCount === 1;
}

/** Notes who resolved an incident. */
export async function noteResolver(transaction: Transaction, incidentId: number, userId: number): Promise<void> {
  await transaction.query(sql.unsafe`update incidents set resolved_by = ${userId} where id = ${incidentId}`);
}

const countRow = z.object({ n: z.number() });

/** Updates of a locked incident. */
export async function countUpdates(transaction: Transaction, incidentId: number): Promise<number> {
  return transaction.oneFirst(sql.type(countRow)`
    select count(*)::integer as n from incident_updates where incident_id = ${incidentId}`);
}

export type NewUpdate = {
  readonly kind: string;
  readonly body: string;
  readonly is_public: boolean;
  readonly notify: boolean;
  readonly impacts?: readonly { readonly component_id: string; readonly status: string }[];
  /** ISO 8601. */
  readonly display_at?: string | null | undefined;
};

/** Adds what somebody says of an incident. @returns its number */
export async function insertUpdate(
  transaction: Transaction,
  incident: Pick<LockedIncident, 'id' | 'workspace_id'>,
  update: NewUpdate,
  authorId: number,
): Promise<number> {
  const id = await transaction.oneFirst(sql.typeAlias('id')`
    insert into incident_updates (workspace_id, incident_id, kind, body, is_public, notify, impacts, display_at, author_id)
    values (${incident.workspace_id}, ${incident.id}, ${update.kind}, ${update.body}, ${update.is_public}, ${update.notify},
      ${sql.jsonb((update.impacts ?? []).map(({ component_id, status }) => ({ component_id, status })))},
      ${update.display_at == null ? null : sql.timestamp(new Date(update.display_at))}, ${authorId})
    returning id`);
  await transaction.query(sql.unsafe`
    update incidents set version = version + 1, updated_at = clock_timestamp() where id = ${incident.id}`);
  return id;
}

/** Components of status pages of a workspace among those that are named. */
export async function knownComponents(
  transaction: Transaction,
  workspaceId: number,
  componentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (componentIds.length === 0) return new Set();
  const found = await transaction.anyFirst(sql.type(z.object({ component_id: z.string() }))`
    select component_id from status_page_items
    where workspace_id = ${workspaceId} and component_id = any(${sql.array([...componentIds], 'text')})`);
  return new Set(found);
}

/** Notes by which message of its incident an update is announced, so that the message can carry its words. */
export async function noteAnnounced(transaction: Transaction, updateId: number, seq: number): Promise<void> {
  await transaction.query(sql.unsafe`update incident_updates set told_seq = ${seq} where id = ${updateId}`);
}

/**
 * Hides an incident, and removes what people wrote of it. Its outages stay known, so they open no other; who was told of them and still waits for
 * their end is told of it.
 */
export async function hideIncident(transaction: Transaction, incidentId: number): Promise<void> {
  await transaction.query(sql.unsafe`
    delete from incident_updates where incident_id in (select id from incidents where id = ${incidentId} or folded_into = ${incidentId})`);
  await transaction.query(sql.unsafe`
    update incidents i set deleted_at = clock_timestamp(), description = '', postmortem = null, assignee_id = null,
      tell_at = null, held_at = null, version = version + 1, updated_at = clock_timestamp(),
      awaits_recovery = awaits_recovery or (told_seq > 0 and status <> 'resolved' and not is_manual and exists (
        select from incident_members u where u.incident_id = i.id and u.ended_at is null and not u.is_manual)),
      title = case when has_own_title then 'deleted' else title end, public_title = null, visibility = 'hidden'
    where id = ${incidentId} or folded_into = ${incidentId}`);
}

/** Whether somebody is a member of a workspace, in any role. */
export async function isMember(transaction: Transaction, workspaceId: number, userId: number): Promise<boolean> {
  return transaction.exists(sql.unsafe`select from identity_members(${workspaceId}) m where m.user_id = ${userId}`);
}

/** Counts one more message of an incident. @returns its number */
export async function nextMessage(transaction: Transaction, incidentId: number): Promise<number> {
  return transaction.oneFirst(sql.type(countRow)`
    update incidents set told_seq = told_seq + 1 where id = ${incidentId} returning told_seq as n`);
}
