import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { enqueue } from '../../../../platform/outbox/enqueue.ts';
import type { IncidentState, Message } from '../../folding/incident-state.ts';
import type { Settled } from '../../folding/settle.ts';
import { factsRow, messageEntry } from '../message-entry.ts';
import type { IncidentFacts } from '../message-entry.ts';

/** An incident without members. */
export type NewIncident = {
  readonly workspaceId: number;
  readonly title: string;
  readonly startedMs: number;
  readonly key: string | null;
  readonly detectedLate: boolean;
};

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Inserts an incident without members. @returns its number */
export async function insertIncident(transaction: Transaction, incident: NewIncident): Promise<number> {
  const [id] = await insertIncidents(transaction, [incident]);
  if (id === undefined) throw new Error('no number was drawn');
  return id;
}

/** The same for many in one statement. @returns their numbers, in the same order and ascending */
export async function insertIncidents(
  transaction: Transaction,
  incidents: readonly NewIncident[],
): Promise<readonly number[]> {
  if (incidents.length === 0) return [];
  const drawn = await transaction.anyFirst(sql.typeAlias('id')`
    select nextval('incidents_id_seq')::integer as id from generate_series(1, ${incidents.length})`);
  const ids = drawn.toSorted((a, b) => a - b);
  const rows = incidents.map((one, index) => ({
    id: ids[index],
    workspace_id: one.workspaceId,
    title: one.title,
    started_at: iso(one.startedMs),
    fold_key: one.key,
    detected_late: one.detectedLate,
  }));
  await transaction.query(sql.unsafe`
    insert into incidents (id, workspace_id, title, started_at, fold_key, detected_late) overriding system value
    select g.id, g.workspace_id, g.title, g.started_at, g.fold_key, g.detected_late
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (id integer, workspace_id integer, title text, started_at timestamptz, fold_key text,
      detected_late boolean)`);
  return ids;
}

/** Writes what was decided of an incident, and announces it. Who reads sees a new version where something that shows has changed. */
export async function writeIncident(
  transaction: Transaction,
  incident: IncidentState,
  messages: readonly Message[],
): Promise<void> {
  await writeIncidents(transaction, [{ incident, messages }]);
}

/** The same for many different ones, in a handful of statements. */
export async function writeIncidents(transaction: Transaction, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ incident: { told, ...one } }) => ({
    id: one.id,
    title: one.title,
    status: one.status,
    resolution: one.resolution,
    started_at: iso(one.startedMs),
    resolved_at: iso(one.resolvedMs),
    folded_into: one.foldedInto,
    told_seq: told.seq,
    told_at: iso(told.atMs),
    told_members: told.members,
    tell_at: iso(told.dueMs),
    held_at: iso(told.heldMs),
    awaits_recovery: told.awaitsRecovery,
  }));
  await transaction.query(sql.unsafe`
    update incidents i set title = g.title, status = g.status, resolution = g.resolution, started_at = g.started_at, resolved_at = g.resolved_at,
      folded_into = g.folded_into, told_seq = g.told_seq, told_at = g.told_at, told_members = g.told_members, tell_at = g.tell_at,
      held_at = g.held_at, awaits_recovery = g.awaits_recovery,
      detected_late = coalesce((
        select bool_and(u.detected_late) from incident_members u where u.incident_id = i.id and not u.is_manual), i.detected_late),
      version = i.version + 1, updated_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (id integer, title text, status text, resolution text, started_at timestamptz,
      resolved_at timestamptz, folded_into integer, told_seq integer, told_at timestamptz, told_members integer, tell_at timestamptz,
      held_at timestamptz, awaits_recovery boolean)
    where i.id = g.id`);
  await announce(
    transaction,
    settled.filter(({ messages }) => messages.length > 0),
  );
}

async function announce(transaction: Transaction, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
  const facts = await factsOfMany(
    transaction,
    settled.map(({ incident }) => incident.id),
  );
  const entries = settled.flatMap(({ incident, messages }) => {
    const known = facts.get(incident.id);
    const first = incident.told.seq - messages.length;
    return known === undefined ? [] : messages.map((message, index) => messageEntry(known, message, first + index + 1));
  });
  await enqueue(transaction, ...entries);
}

const namedMembers = 20;

/** What a message says of an incident: the first 20 names, and how many there are. */
export async function factsOf(transaction: Transaction, incidentId: number): Promise<IncidentFacts | null> {
  return (await factsOfMany(transaction, [incidentId])).get(incidentId) ?? null;
}

async function factsOfMany(
  transaction: Transaction,
  incidentIds: readonly number[],
): Promise<ReadonlyMap<number, IncidentFacts>> {
  const rows = await transaction.any(sql.type(factsRow)`
    select i.id, i.workspace_id, i.title, i.status, i.severity, i.resolution, i.started_at, i.resolved_at, i.detected_late, i.is_manual,
      i.has_own_title, i.folded_into, i.version,
      (select count(*)::integer from incident_members u where u.incident_id = i.id) as member_count,
      coalesce((
        select jsonb_agg(jsonb_build_object('type', first.subject_type, 'id', first.subject_id, 'name', first.name)
          order by first.started_at, first.id)
        from (select * from incident_members u where u.incident_id = i.id order by u.started_at, u.id limit ${namedMembers}) first
      ), '[]') as members
    from incidents i where i.id = any(${sql.array(incidentIds, 'int4')})`);
  return new Map(rows.map((row) => [row.id, row]));
}
