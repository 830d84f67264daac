import { incidentResolutions, incidentStatuses } from '@parallax/api-contract';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { noneUnlisted } from '../folding/incident-state.ts';
import type { IncidentState, Message } from '../folding/incident-state.ts';
import { settle } from '../folding/settle.ts';
import { membersOf } from './decisive/queries.ts';
import type { Onset, Wanted } from './decisive/queries.ts';
import { factsRow, messageEntry } from './message-entry.ts';
import type { IncidentFacts } from './message-entry.ts';

/* Incidents as the decisions see them. Rows are locked, so decisions about one incident go one after another. */

const ms = z.number().nullable();
const stateRow = z.object({
  id: z.number(),
  fold_key: z.string().nullable(),
  title: z.string(),
  has_own_title: z.boolean(),
  status: z.enum(incidentStatuses),
  resolution: z.enum(incidentResolutions).nullable(),
  is_acknowledged: z.boolean(),
  is_manual: z.boolean(),
  is_deleted: z.boolean(),
  started_at: z.number(),
  resolved_at: ms,
  folded_into: z.number().nullable(),
  told_seq: z.number(),
  told_at: ms,
  told_members: z.number(),
  tell_at: ms,
  held_at: ms,
  awaits_recovery: z.boolean(),
});

const columns = sql.fragment`i.id, i.fold_key, i.title, i.has_own_title, i.status, i.resolution, i.acknowledged_at is not null as is_acknowledged,
  i.is_manual, i.deleted_at is not null as is_deleted, i.started_at, i.resolved_at, i.folded_into, i.told_seq, i.told_at, i.told_members, i.tell_at,
  i.held_at, i.awaits_recovery`;

/** Incidents with their members, locked until the transaction ends; in the order of their numbers, which every caller locks them in. */
export async function lockIncidents(
  transaction: Transaction,
  ids: readonly number[],
  wanted: Wanted = 'all',
): Promise<IncidentState[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.any(sql.type(stateRow)`
    select ${columns} from incidents i where i.id = any(${sql.array(ids, 'int4')}) order by i.id for update`);
  // In a statement of its own, which sees what the one waited for has written.
  const members = await membersOf(transaction, ids, wanted);
  return rows.map((row) => ({
    id: row.id,
    key: row.fold_key,
    title: row.title,
    hasOwnTitle: row.has_own_title,
    status: row.status,
    resolution: row.resolution,
    isAcknowledged: row.is_acknowledged,
    isManual: row.is_manual,
    isDeleted: row.is_deleted,
    startedMs: row.started_at,
    resolvedMs: row.resolved_at,
    foldedInto: row.folded_into,
    ...(members.get(row.id) ?? { members: [], unlisted: noneUnlisted }),
    told: {
      seq: row.told_seq,
      atMs: row.told_at,
      members: row.told_members,
      dueMs: row.tell_at,
      heldMs: row.held_at,
      awaitsRecovery: row.awaits_recovery,
    },
  }));
}

const idRow = z.object({ id: z.number() });

/**
 * Incidents of a workspace that an outage of a cause may belong to, with the members that decide it. Others that look for the same cause wait until this transaction ends, so that
 * two that begin at once do not open one each.
 */
export async function lockIncidentsOfCause(
  transaction: Transaction,
  workspaceId: number,
  key: string,
  onset: Onset,
): Promise<IncidentState[]> {
  await transaction.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended(${`incident ${workspaceId} ${key}`}, 0))`);
  const ids = await transaction.anyFirst(sql.type(idRow)`
    select id from incidents
    where workspace_id = ${workspaceId} and fold_key = ${key} and folded_into is null and deleted_at is null
      and (status <> 'resolved' or resolved_at > ${sql.timestamp(new Date(onset.startedMs))})`);
  return lockIncidents(transaction, ids, onset);
}

/** Inserts an incident without members. @returns its number */
export async function insertIncident(
  transaction: Transaction,
  incident: {
    readonly workspaceId: number;
    readonly title: string;
    readonly startedMs: number;
    readonly key: string | null;
    readonly detectedLate: boolean;
  },
): Promise<number> {
  return transaction.oneFirst(sql.type(idRow)`
    insert into incidents (workspace_id, title, started_at, fold_key, detected_late)
    values (${incident.workspaceId}, ${incident.title}, ${sql.timestamp(new Date(incident.startedMs))}, ${incident.key},
      ${incident.detectedLate}) returning id`);
}

const at = (value: number | null) => (value === null ? null : sql.timestamp(new Date(value)));

/** Writes what was decided of an incident, and announces it. Who reads sees a new version where something that shows has changed. */
export async function writeIncident(
  transaction: Transaction,
  incident: IncidentState,
  messages: readonly Message[],
): Promise<void> {
  const { told } = incident;
  await transaction.query(sql.unsafe`
    update incidents i set title = ${incident.title}, status = ${incident.status}, resolution = ${incident.resolution},
      started_at = ${at(incident.startedMs)}, resolved_at = ${at(incident.resolvedMs)}, folded_into = ${incident.foldedInto},
      told_seq = ${told.seq}, told_at = ${at(told.atMs)}, told_members = ${told.members}, tell_at = ${at(told.dueMs)},
      held_at = ${at(told.heldMs)}, awaits_recovery = ${told.awaitsRecovery},
      detected_late = coalesce((
        select bool_and(u.detected_late) from incident_members u where u.incident_id = i.id and not u.is_manual), i.detected_late),
      version = i.version + 1, updated_at = clock_timestamp()
    where i.id = ${incident.id}`);
  const facts = messages.length === 0 ? null : await factsOf(transaction, incident.id);
  if (facts === null) return;
  const first = told.seq - messages.length;
  await enqueue(transaction, ...messages.map((message, index) => messageEntry(facts, message, first + index + 1)));
}

const namedMembers = 20;

/** What a message says of an incident: the first 20 names, and how many there are. */
export async function factsOf(transaction: Transaction, incidentId: number): Promise<IncidentFacts | null> {
  return transaction.maybeOne(sql.type(factsRow)`
    select i.id, i.workspace_id, i.title, i.status, i.severity, i.resolution, i.started_at, i.resolved_at, i.detected_late, i.is_manual,
      i.folded_into, i.version,
      (select count(*)::integer from incident_members u where u.incident_id = i.id) as member_count,
      coalesce((
        select jsonb_agg(jsonb_build_object('type', first.subject_type, 'id', first.subject_id, 'name', first.name)
          order by first.started_at, first.id)
        from (select * from incident_members u where u.incident_id = i.id order by u.started_at, u.id limit ${namedMembers}) first
      ), '[]') as members
    from incidents i where i.id = ${incidentId}`);
}

const subjectRow = z.object({ subject: z.string() });

/**
 * Of some subjects (`type:id`) those that lie in a maintenance now. Until the transaction ends nobody releases them: who does so later sees what was
 * decided by this answer.
 */
export async function heldSubjects(
  transaction: Transaction,
  subjects: readonly string[],
): Promise<ReadonlySet<string>> {
  const pairs = subjects.map((subject) => subject.split(':'));
  const found = await transaction.anyFirst(sql.type(subjectRow)`
    select h.subject_type || ':' || h.subject_id as subject
    from ${sql.unnest(pairs, ['text', 'int4'])} as asked (subject_type, subject_id)
      join maintenance_subjects h on h.subject_type = asked.subject_type and h.subject_id = asked.subject_id and h.ended_at is null
    order by h.id for share of h`);
  return new Set(found);
}

/** Whether a maintenance covers all that lasts of an incident; of one that is over, all of it. What a person opens is meant to be told. */
export async function isHeld(transaction: Transaction, { members, isManual }: IncidentState): Promise<boolean> {
  if (isManual) return false;
  const lasting = members.filter(({ endedMs }) => endedMs === null);
  const subjects = (lasting.length > 0 ? lasting : members).map(({ subject }) => subject);
  if (subjects.length === 0) return false;
  const held = await heldSubjects(transaction, subjects);
  return subjects.every((subject) => held.has(subject));
}

/** As `isHeld`, of an incident that may come without all of its members: they are asked for only where those that are there are held. */
async function isWhollyHeld(transaction: Transaction, incident: IncidentState): Promise<boolean> {
  if (!(await isHeld(transaction, incident))) return false;
  if (incident.unlisted.outages === 0) return true;
  const [whole] = await lockIncidents(transaction, [incident.id]);
  return whole !== undefined && isHeld(transaction, whole);
}

/** Brings an incident to what its members say, and announces what is due. Repeating it changes nothing that shows. */
export async function settleIncident(transaction: Transaction, incidentId: number, nowMs: number): Promise<void> {
  const [before] = await lockIncidents(transaction, [incidentId], 'decisive');
  if (before === undefined) return;
  const { incident, messages } = settle(before, nowMs, await isWhollyHeld(transaction, before));
  await writeIncident(transaction, incident, messages);
}

/** Incidents of which something is to be told by now, held by nobody else, with their locks. */
export async function dueIncidents(transaction: Transaction, nowMs: number, most: number): Promise<readonly number[]> {
  return transaction.anyFirst(sql.type(idRow)`
    select id from incidents where tell_at <= ${at(nowMs)} order by tell_at, id limit ${most} for update skip locked`);
}

/** Incidents of a workspace whose first message is held back. */
export async function heldIncidents(transaction: Transaction, workspaceId: number): Promise<readonly number[]> {
  return transaction.anyFirst(sql.type(idRow)`
    select id from incidents where workspace_id = ${workspaceId} and held_at is not null order by id`);
}
