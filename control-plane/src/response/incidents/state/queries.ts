import { incidentResolutions, incidentStatuses } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { noneUnlisted } from '../folding/incident-state.ts';
import type { IncidentState } from '../folding/incident-state.ts';
import { settle } from '../folding/settle.ts';
import { membersOf } from './decisive/queries.ts';
import type { Onset, Wanted } from './decisive/queries.ts';
import { writeIncidents } from './writing/queries.ts';

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

/** Locks incidents until the transaction ends, in the order of their numbers, which every caller locks them in. */
export async function lockRows(transaction: Transaction, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await transaction.query(sql.unsafe`
    select from incidents where id = any(${sql.array(ids, 'int4')}) order by id for update`);
}

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
const iso = (ms: number): string => new Date(ms).toISOString();

const ofCauseRow = z.object({ id: z.number(), workspace_id: z.number() });

/**
 * Numbers of the incidents that outages may belong to, with their workspaces. Others that look for the same causes wait until this transaction ends,
 * so that two outages that begin at once do not open one each; all do so in the order of the names of the causes.
 */
export async function incidentsOfCauses(
  transaction: Transaction,
  onsets: readonly Onset[],
): Promise<ReadonlyMap<number, number>> {
  if (onsets.length === 0) return new Map();
  const causes = [...Map.groupBy(onsets, ({ workspaceId, key }) => `incident ${workspaceId} ${key}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, [first, ...others]]) => ({
      name,
      workspace_id: first?.workspaceId,
      key: first?.key,
      started_at: iso(Math.min(...[first, ...others].map((onset) => onset?.startedMs ?? Infinity))),
    }));
  const names = causes.map(({ name }) => name);
  await transaction.query(sql.unsafe`
    select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest(${sql.array(names, 'text')}) as name`);
  const rows = await transaction.any(sql.type(ofCauseRow)`
    select i.id, i.workspace_id
    from jsonb_to_recordset(${JSON.stringify(causes)}::jsonb) as c (workspace_id integer, key text, started_at timestamptz)
      -- With an offset each cause is looked up by itself: in a storm nobody has analysed the table, and it would be read whole.
      cross join lateral (
        select i.id, i.workspace_id from incidents i
        where i.workspace_id = c.workspace_id and i.fold_key = c.key and i.folded_into is null and i.deleted_at is null
          and (i.status <> 'resolved' or i.resolved_at > c.started_at) offset 0) i`);
  return new Map(rows.map((row) => [row.id, row.workspace_id]));
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
  if (subjects.length === 0) return new Set();
  const pairs = subjects.map((subject) => subject.split(':'));
  const found = await transaction.anyFirst(sql.type(subjectRow)`
    select h.subject_type || ':' || h.subject_id as subject
    from ${sql.unnest(pairs, ['text', 'int4'])} as asked (subject_type, subject_id)
      join maintenance_subjects h on h.subject_type = asked.subject_type and h.subject_id = asked.subject_id and h.ended_at is null
    order by h.id for share of h`);
  return new Set(found);
}

/** Whether a maintenance covers all that lasts of an incident; of one that is over, all of it. What a person opens is meant to be told. */
export async function isHeld(transaction: Transaction, incident: IncidentState): Promise<boolean> {
  return (await heldOf(transaction, [incident])).has(incident.id);
}

/** Numbers of those incidents of which that is so. */
async function heldOf(transaction: Transaction, incidents: readonly IncidentState[]): Promise<ReadonlySet<number>> {
  const decisive = incidents
    .filter(({ isManual, members }) => !isManual && members.length > 0)
    .map(({ id, members }) => {
      const lasting = members.filter(({ endedMs }) => endedMs === null);
      return { id, subjects: (lasting.length > 0 ? lasting : members).map(({ subject }) => subject) };
    });
  const held = await heldSubjects(transaction, [...new Set(decisive.flatMap(({ subjects }) => subjects))]);
  return new Set(decisive.filter(({ subjects }) => subjects.every((one) => held.has(one))).map(({ id }) => id));
}

/** Brings an incident to what its members say, and announces what is due. Repeating it changes nothing that shows. */
export async function settleIncident(transaction: Transaction, incidentId: number, nowMs: number): Promise<void> {
  await settleIncidents(transaction, [incidentId], nowMs);
}

/** The same for many, in a handful of statements. */
export async function settleIncidents(
  transaction: Transaction,
  incidentIds: readonly number[],
  nowMs: number,
): Promise<void> {
  const before = await lockIncidents(transaction, [...new Set(incidentIds)], 'decisive');
  const mayBeHeld = await heldOf(transaction, before);
  // Where those that decide are held, all members are asked for.
  const cut = before.filter(({ id, unlisted }) => unlisted.outages > 0 && mayBeHeld.has(id)).map(({ id }) => id);
  const whole = await heldOf(transaction, await lockIncidents(transaction, cut));
  const isHeldNow = (id: number): boolean => mayBeHeld.has(id) && (whole.has(id) || !cut.includes(id));
  await writeIncidents(
    transaction,
    before.map((one) => settle(one, nowMs, isHeldNow(one.id))),
  );
}

const isToBeTold = (nowMs: number) => sql.fragment`tell_at <= ${sql.timestamp(new Date(nowMs))}`;

/** Whether something is to be told by now of any incident: asked twice a second, mostly for nothing. */
export async function isAnyToBeTold(connection: CommonQueryMethods, nowMs: number): Promise<boolean> {
  return connection.exists(sql.unsafe`select from incidents where ${isToBeTold(nowMs)}`);
}

/** Incidents of which something is to be told by now, held by nobody else, with their locks. */
export async function dueIncidents(transaction: Transaction, nowMs: number, most: number): Promise<readonly number[]> {
  return transaction.anyFirst(sql.type(idRow)`
    select id from incidents where ${isToBeTold(nowMs)} order by tell_at, id limit ${most} for update skip locked`);
}

/** Incidents of a workspace whose first message is held back. */
export async function heldIncidents(transaction: Transaction, workspaceId: number): Promise<readonly number[]> {
  return transaction.anyFirst(sql.type(idRow)`
    select id from incidents where workspace_id = ${workspaceId} and held_at is not null order by id`);
}
