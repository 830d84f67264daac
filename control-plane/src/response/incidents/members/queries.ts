import { incidentResolutions } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { MemberResolution } from '../folding/incident-state.ts';
import type { Amendment, KnownIncident } from '../revision.ts';
import type { Subject } from '../subject.ts';
import type { EndedIncident, OpenIncident } from '../transition.ts';

/* Outages of one subject. Whoever changes one settles its incident afterwards, in the same transaction. */

const measuredOf = ({ type, id }: Subject) =>
  sql.fragment`u.subject_type = ${type} and u.subject_id = ${id} and not u.is_manual`;
const at = (ms: number) => sql.timestamp(new Date(ms));
const iso = (ms: number): string => new Date(ms).toISOString();

const idsOf = z.object({ incident_id: z.number() });

export type MemberRow = { readonly memberId: number; readonly incidentId: number };

/** What is known of the outages of a subject. */
export type KnownOutages = {
  readonly open: (OpenIncident & MemberRow & { readonly causes: unknown }) | undefined;
  /** The latest that ended by itself. */
  readonly ended: EndedIncident | undefined;
};

const knownOutagesRow = z.object({
  subject_id: z.number(),
  id: z.number(),
  incident_id: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  causes: z.array(z.record(z.string(), z.unknown())).nullable(),
});

/** The open outage of a subject, and the latest that ended by itself. */
export async function knownOutages(transaction: Transaction, subject: Subject): Promise<KnownOutages> {
  return (await knownOutagesOf(transaction, subject.type, [subject.id])).get(subject.id) ?? noOutages;
}

const noOutages: KnownOutages = { open: undefined, ended: undefined };

/** The same of many subjects of a type, by number; without an entry for one that never failed. */
export async function knownOutagesOf(
  transaction: Transaction,
  type: Subject['type'],
  ids: readonly number[],
): Promise<ReadonlyMap<number, KnownOutages>> {
  const rows = await transaction.any(sql.type(knownOutagesRow)`
    select s.id as subject_id, k.id, k.incident_id, k.started_at, k.ended_at, k.causes
    from unnest(${sql.array(ids, 'int4')}) as s (id) cross join lateral (
      (select u.id, u.incident_id, u.started_at, u.ended_at, u.causes from incident_members u
       where u.subject_type = ${type} and u.subject_id = s.id and not u.is_manual and u.ended_at is null)
      union all
      (select u.id, u.incident_id, u.started_at, u.ended_at, null from incident_members u
       where u.subject_type = ${type} and u.subject_id = s.id and not u.is_manual and u.resolution = 'auto' order by u.ended_at desc limit 1)) k`);
  return new Map([...Map.groupBy(rows, (row) => row.subject_id)].map(([id, own]) => [id, knownOf(own)]));
}

function knownOf(rows: readonly z.infer<typeof knownOutagesRow>[]): KnownOutages {
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

/**
 * Writes outages of different subjects in one statement.
 * @returns how many were written: not where a subject has one that lasts, which the unique index tells
 */
export async function insertMembers(transaction: Transaction, members: readonly NewMember[]): Promise<number> {
  if (members.length === 0) return 0;
  const rows = members.map((member) => ({
    workspace_id: member.workspaceId,
    incident_id: member.incidentId,
    subject_type: member.subject.type,
    subject_id: member.subject.id,
    name: member.name,
    title: member.title,
    started_at: iso(member.startedMs),
    ended_at: member.endedMs === null ? null : iso(member.endedMs),
    window_seconds: member.windowSeconds,
    causes: [member.cause],
    detected_late: member.detectedLate,
  }));
  const { rowCount } = await transaction.query(sql.unsafe`
    insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution,
      window_seconds, causes, detected_late)
    select g.workspace_id, g.incident_id, g.subject_type, g.subject_id, g.name, g.title, g.started_at, g.ended_at,
      case when g.ended_at is not null then 'auto' end, g.window_seconds, g.causes, g.detected_late
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (workspace_id integer, incident_id integer, subject_type text, subject_id integer,
      name text, title text, started_at timestamptz, ended_at timestamptz, window_seconds integer, causes jsonb, detected_late boolean)
    order by g.subject_type, g.subject_id
    on conflict (subject_type, subject_id) where ended_at is null and not is_manual do nothing`);
  return rowCount;
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

/** Which outage ends. */
export type MemberEnd = {
  readonly subject: Subject;
  readonly resolution: MemberResolution;
  /** undefined: now. */
  readonly atMs: number | undefined;
};

/** Ends the open outage of a subject, not before it began. `atMs` undefined: now. @returns its incident */
export async function endMember(
  transaction: Transaction,
  subject: Subject,
  resolution: MemberResolution,
  atMs: number | undefined,
): Promise<number | null> {
  return (await endMembers(transaction, [{ subject, resolution, atMs }]))[0] ?? null;
}

/** The same for many subjects. @returns their incidents, each once */
export async function endMembers(transaction: Transaction, ends: readonly MemberEnd[]): Promise<readonly number[]> {
  if (ends.length === 0) return [];
  const rows = ends.map(({ subject, resolution, atMs }) => [
    subject.type,
    subject.id,
    atMs === undefined ? null : iso(atMs),
    resolution,
  ]);
  const given = sql.fragment`${sql.unnest(rows, ['text', 'int4', 'timestamptz', 'text'])} as g (type, id, at, resolution)`;
  const isOpen = sql.fragment`u.subject_type = g.type and u.subject_id = g.id and not u.is_manual and u.ended_at is null`;
  await transaction.query(sql.unsafe`
    select from incidents where id in (select u.incident_id from ${given} join incident_members u on ${isOpen}) order by id for update`);
  const ended = await transaction.any(sql.type(idsOf)`
    update incident_members u set ended_at = greatest(coalesce(g.at, clock_timestamp()), u.started_at), resolution = g.resolution
    from ${given} where ${isOpen} returning u.incident_id`);
  return [...new Set(ended.map((row) => row.incident_id))];
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
