import { incidentResolutions } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { groupMonitorsOf, liveMembers } from '../../../monitoring/groups/check/index.ts';
import type { MemberResolution } from '../folding/incident-state.ts';
import type { Amendment, KnownIncident } from '../revision.ts';
import { ofMonitor } from '../subject.ts';
import type { Subject } from '../subject.ts';
import type { EndedIncident, MonitorState, OpenIncident } from '../transition.ts';

/* Outages of one subject. Whoever changes one settles its incident afterwards, in the same transaction. */

const measuredOf = ({ type, id }: Subject) =>
  sql.fragment`u.subject_type = ${type} and u.subject_id = ${id} and not u.is_manual`;
const at = (ms: number) => sql.timestamp(new Date(ms));

const idsOf = z.object({ incident_id: z.number() });

export type MemberRow = { readonly memberId: number; readonly incidentId: number };

/** What is known of the outages of a subject. */
export type KnownOutages = {
  readonly open: (OpenIncident & MemberRow & { readonly causes: unknown }) | undefined;
  /** The latest that ended by itself. */
  readonly ended: EndedIncident | undefined;
};

const knownOutagesRow = z.object({
  id: z.number(),
  incident_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  causes: z.unknown(),
});

/** The open outage of a subject, and the latest that ended by itself. */
export async function knownOutages(transaction: Transaction, subject: Subject): Promise<KnownOutages> {
  const rows = await transaction.any(sql.type(knownOutagesRow)`
    (select id, incident_id, started_at, ended_at, causes from incident_members u where ${measuredOf(subject)} and ended_at is null)
    union all
    (select id, incident_id, started_at, ended_at, null from incident_members u
     where ${measuredOf(subject)} and resolution = 'auto' order by ended_at desc limit 1)`);
  const open = rows.find((row) => row.ended_at === null);
  const ended = rows.find((row) => row.ended_at !== null);
  return {
    open:
      open === undefined
        ? undefined
        : { memberId: open.id, incidentId: open.incident_id, startedMs: open.started_at, causes: open.causes },
    ended:
      ended?.ended_at == null ? undefined : { id: ended.id, startedMs: ended.started_at, resolvedMs: ended.ended_at },
  };
}

const monitorRow = z.object({
  name: z.string(),
  workspace_id: z.number(),
  interval_seconds: z.number(),
  is_paused: z.boolean(),
  is_deleted: z.boolean(),
  reset_at: z.number().nullable(),
});

/** A monitor as a transition finds it. */
export type LockedMonitor = MonitorState & {
  /** As it is now: since the change was written it may have been moved. */
  readonly workspaceId: number;
  readonly intervalSeconds: number;
  /** The last reset of its statistics, milliseconds; null for none. */
  readonly resetMs: number | null;
};

/**
 * A monitor as a transition finds it; null when there is no such monitor. The row is locked against being paused, moved or deleted until
 * the incident is written (those lock it for update), and not against the ingest, which writes its status.
 */
export async function lockMonitor(transaction: Transaction, monitorId: number): Promise<LockedMonitor | null> {
  await transaction.query(sql.unsafe`select from monitors where id = ${monitorId} for key share`);
  const row = await transaction.maybeOne(sql.type(monitorRow)`
    select m.name, m.workspace_id, m.interval_seconds, m.deleted_at is not null as is_deleted, m.reset_at,
      not m.is_active or exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null) as is_paused
    from monitors m where m.id = ${monitorId}`);
  if (row === null) return null;
  return {
    name: row.name,
    workspaceId: row.workspace_id,
    intervalSeconds: row.interval_seconds,
    isPaused: row.is_paused,
    isDeleted: row.is_deleted,
    resetMs: row.reset_at,
  };
}

/** A cause as it is stored and answered. */
export type StoredCause = {
  readonly at: string;
  readonly status: 'DOWN' | 'TIMEOUT' | 'missed' | 'failed';
  readonly evidence: Readonly<Record<string, unknown>>;
};

export type NewMember = {
  readonly workspaceId: number;
  readonly incidentId: number;
  readonly subject: Subject;
  readonly name: string;
  readonly title: string;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly windowSeconds: number;
  readonly cause: StoredCause;
  readonly detectedLate: boolean;
};

/** Writes an outage. @returns whether it was written: not where the subject has one that lasts, which the unique index tells */
export async function insertMember(transaction: Transaction, member: NewMember): Promise<boolean> {
  const { rowCount } = await transaction.query(sql.unsafe`
    insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution,
      window_seconds, causes, detected_late)
    values (${member.workspaceId}, ${member.incidentId}, ${member.subject.type}, ${member.subject.id}, ${member.name}, ${member.title},
      ${at(member.startedMs)}, ${member.endedMs === null ? null : at(member.endedMs)}, ${member.endedMs === null ? null : 'auto'},
      ${member.windowSeconds}, ${JSON.stringify([member.cause])}::jsonb, ${member.detectedLate})
    on conflict (subject_type, subject_id) where ended_at is null and not is_manual do nothing`);
  return rowCount === 1;
}

/** Gives the outages of one incident to another. */
export async function moveMembers(transaction: Transaction, fromId: number, toId: number): Promise<void> {
  await transaction.query(sql.unsafe`update incident_members set incident_id = ${toId} where incident_id = ${fromId}`);
}

/**
 * Locks the incidents of outages before those are changed, as all do that give members of one incident to another: else each of the two could
 * wait for the other.
 */
async function lockIncidentOf(transaction: Transaction, condition: ReturnType<typeof measuredOf>): Promise<void> {
  await transaction.query(sql.unsafe`
    select from incidents where id in (select u.incident_id from incident_members u where ${condition}) order by id for update`);
}

/** Appends what an outage changed to. */
export async function appendCause(transaction: Transaction, memberId: number, cause: StoredCause): Promise<void> {
  await lockIncidentOf(transaction, sql.fragment`u.id = ${memberId}`);
  await transaction.query(sql.unsafe`
    update incident_members set causes = causes || ${JSON.stringify([cause])}::jsonb where id = ${memberId}`);
}

/** Ends the open outage of a subject, not before it began. `atMs` undefined: now. @returns its incident */
export async function endMember(
  transaction: Transaction,
  subject: Subject,
  resolution: MemberResolution,
  atMs: number | undefined,
): Promise<number | null> {
  await lockIncidentOf(transaction, sql.fragment`${measuredOf(subject)} and u.ended_at is null`);
  const end = atMs === undefined ? sql.fragment`clock_timestamp()` : at(atMs);
  const row = await transaction.maybeOne(sql.type(idsOf)`
    update incident_members u set ended_at = greatest(${end}, started_at), resolution = ${resolution}
    where ${measuredOf(subject)} and ended_at is null returning incident_id`);
  return row?.incident_id ?? null;
}

/** Opens an outage again that had not ended, unless another one lasts. @returns its incident */
export async function reopenMember(
  transaction: Transaction,
  memberId: number,
  startedMs: number,
): Promise<number | null> {
  await lockIncidentOf(transaction, sql.fragment`u.id = ${memberId}`);
  const row = await transaction.maybeOne(sql.type(idsOf)`
    update incident_members u set ended_at = null, resolution = null, detected_late = false, started_at = ${at(startedMs)}
    where id = ${memberId} and not exists (
      select from incident_members other
      where other.subject_type = u.subject_type and other.subject_id = u.subject_id and other.ended_at is null and not other.is_manual)
    returning incident_id`);
  return row?.incident_id ?? null;
}

/** Dates the open outage of a subject back; never forward. @returns its incident */
export async function moveOnset(transaction: Transaction, subject: Subject, startedMs: number): Promise<number | null> {
  await lockIncidentOf(transaction, sql.fragment`${measuredOf(subject)} and u.ended_at is null`);
  const row = await transaction.maybeOne(sql.type(idsOf)`
    update incident_members u set started_at = ${at(startedMs)}
    where ${measuredOf(subject)} and ended_at is null and started_at > ${at(startedMs)} returning incident_id`);
  return row?.incident_id ?? null;
}

const knownRow = z.object({
  id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  resolution: z.enum(incidentResolutions).exclude(['folded']).nullable(),
});

/** The outages of a subject that last still or ended at a time or later, oldest first. */
export async function outagesSince(
  transaction: Transaction,
  subject: Subject,
  sinceMs: number,
): Promise<KnownIncident[]> {
  const rows = await transaction.any(sql.type(knownRow)`
    select id, started_at, ended_at, resolution from incident_members u
    where ${measuredOf(subject)} and (ended_at is null or ended_at >= ${at(sinceMs)})
    order by started_at, id`);
  return rows.map((row) => ({
    id: row.id,
    startedMs: row.started_at,
    resolvedMs: row.ended_at,
    resolution: row.resolution,
  }));
}

/** Takes an outage back, or moves it to when it was. @returns its incident */
export async function amendMember(
  transaction: Transaction,
  amendment: Exclude<Amendment, { kind: 'record' }>,
): Promise<number | null> {
  const change =
    amendment.kind === 'correct'
      ? sql.fragment`resolution = 'corrected', ended_at = greatest(${at(amendment.atMs)}, started_at)`
      : sql.fragment`started_at = ${at(amendment.startedMs)},
          ended_at = ${amendment.resolvedMs === null ? null : at(amendment.resolvedMs)}`;
  await lockIncidentOf(transaction, sql.fragment`u.id = ${amendment.incidentId}`);
  const row = await transaction.maybeOne(sql.type(idsOf)`
    update incident_members set ${change} where id = ${amendment.incidentId} returning incident_id`);
  return row?.incident_id ?? null;
}

/** Removes all outages of a subject. @returns their incidents */
export async function removeMembers(transaction: Transaction, { type, id }: Subject): Promise<readonly number[]> {
  const rows = await transaction.any(sql.type(idsOf)`
    delete from incident_members where subject_type = ${type} and subject_id = ${id} returning incident_id`);
  return [...new Set(rows.map((row) => row.incident_id))];
}

/**
 * Has the outage of a group monitor name those of its members: called when one of a monitor began, it brings up to date that of the monitor
 * itself and those of the group monitors that contain it. So neither has to be the first. Repeating it changes nothing.
 */
export async function nameMemberIncidents(transaction: Transaction, monitorId: number): Promise<void> {
  const { id } = ofMonitor(monitorId);
  const concerned = [id, ...(await groupMonitorsOf(transaction, id))];
  await transaction.query(sql.unsafe`
    update incident_members u set causes = jsonb_set(u.causes, '{0,incidents}', found.incidents)
    from (
      select own.id, jsonb_agg(jsonb_build_object('incident_id', member.incident_id, 'monitor_id', m.id, 'name', m.name)
        order by member.incident_id, m.id) as incidents
      from incident_members own
        join monitors g on g.id = own.subject_id and g.protocol = 'group'
        join monitors m on ${liveMembers}
        join incident_members member on member.subject_type = 'monitor' and member.subject_id = m.id and not member.is_manual
          and (member.ended_at is null or member.ended_at > own.started_at)
      where own.subject_type = 'monitor' and own.subject_id = any(${sql.array(concerned, 'int4')}) and own.ended_at is null
        and not own.is_manual
      group by own.id
    ) found
    where u.id = found.id and u.causes -> 0 -> 'incidents' is distinct from found.incidents`);
}
