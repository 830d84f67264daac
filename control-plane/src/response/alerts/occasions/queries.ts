import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { OccasionChange } from './change.ts';

const at = (ms: number) => sql.timestamp(new Date(ms));
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Writes what has changed of occasions, at most one change of each; a change that was written before changes nothing. */
export async function writeChanges(
  transaction: Transaction,
  changes: readonly OccasionChange[],
  nowMs: number,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes
    .map((change) => ({
      workspace_id: change.workspaceId,
      key: change.key,
      event: change.event,
      subject_type: change.subject?.type ?? null,
      subject_id: change.subject?.id ?? null,
      incident_id: change.incidentId,
      title: change.title,
      facts: change.facts,
      severity: change.severity,
      is_lasting: change.isLasting,
      started_at: iso(change.startedMs),
      ended_at: iso(change.endedMs),
      resolution: change.resolution,
      is_acknowledged: change.isAcknowledged,
      seq: change.seq,
      is_problem: change.isProblem,
      pending: [{ seq: change.seq, kind: change.kind, reason: change.reason, at: iso(nowMs) }],
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const given = sql.fragment`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (workspace_id integer, key text, event text,
    subject_type text, subject_id integer, incident_id integer, title text, facts jsonb, severity text, is_lasting boolean, started_at timestamptz,
    ended_at timestamptz, resolution text, is_acknowledged boolean, seq integer, is_problem boolean, pending jsonb)`;
  // What was written before an incident moved to another workspace opens nothing where it was.
  const isThere = sql.fragment`
    not exists (select from incidents i where i.id = g.incident_id and i.workspace_id <> g.workspace_id)`;
  await transaction.query(sql.unsafe`
    insert into alert_occasions (workspace_id, key, event, subject_type, subject_id, incident_id, title, facts, severity, is_lasting, started_at,
      opened_at, ended_at, resolution, acknowledged_at, seq, problem_seq, pending, due_at)
    select g.workspace_id, g.key, g.event, g.subject_type, g.subject_id, g.incident_id, g.title, g.facts, g.severity, g.is_lasting, g.started_at,
      -- An end whose beginning was never read here, as of long ago, is no news.
      case when g.is_problem then least(${at(nowMs)}, g.ended_at) else ${at(nowMs)} end, g.ended_at, g.resolution, case when g.is_acknowledged then ${at(nowMs)} end, g.seq, g.seq, g.pending, ${at(nowMs)}
    from ${given} join workspaces w on w.id = g.workspace_id and w.deleted_at is null
    where ${isThere}
    order by g.key
    on conflict (workspace_id, key) do nothing`);
  await transaction.query(sql.unsafe`
    update alert_occasions o set title = g.title, facts = g.facts, severity = g.severity, started_at = g.started_at, ended_at = g.ended_at,
      resolution = g.resolution, seq = g.seq,
      acknowledged_at = case when g.is_acknowledged then coalesce(o.acknowledged_at, ${at(nowMs)}) end,
      problem_seq = case when g.is_problem then g.seq else o.problem_seq end,
      -- What was over before its beginning was read here was known by then.
      opened_at = least(case when g.is_problem then ${at(nowMs)} else o.opened_at end, g.ended_at),
      pending = o.pending || g.pending, due_at = ${at(nowMs)}
    from ${given}
    where o.workspace_id = g.workspace_id and o.key = g.key and g.seq > o.seq and ${isThere}`);
}

/** Which lasting occasions end. */
export type Ending = {
  readonly subject: { readonly type: string; readonly id: number };
  /** Those of these events; undefined: all. */
  readonly events?: readonly string[];
  /** Only of this list, of those that blocklists make. */
  readonly provider?: string;
  readonly atMs: number;
  readonly resolution: 'auto' | 'paused' | 'corrected' | 'deleted' | 'reset';
};

/** Ends occasions of subjects. Those of incidents end with their incident. */
export async function endOccasions(
  connection: CommonQueryMethods,
  endings: readonly Ending[],
  nowMs: number,
): Promise<void> {
  if (endings.length === 0) return;
  const rows = endings.map(({ subject, events, provider, atMs, resolution }) => ({
    subject_type: subject.type,
    subject_id: subject.id,
    events: events ?? null,
    provider: provider ?? null,
    ended_at: iso(atMs),
    resolution,
  }));
  await connection.query(sql.unsafe`
    update alert_occasions o set ended_at = greatest(g.ended_at, o.started_at), resolution = g.resolution, seq = o.seq + 1,
      opened_at = least(o.opened_at, greatest(g.ended_at, o.started_at)),
      pending = o.pending || jsonb_build_array(jsonb_build_object('seq', o.seq + 1, 'kind', 'resolved', 'reason', null, 'at', ${iso(nowMs)}::text)),
      due_at = ${at(nowMs)}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (subject_type text, subject_id integer, events text[], provider text,
      ended_at timestamptz, resolution text)
    where o.subject_type = g.subject_type and o.subject_id = g.subject_id and o.ended_at is null and o.is_lasting
      and (g.events is null or o.event = any(g.events)) and (g.provider is null or o.facts ->> 'provider' = g.provider)`);
}

/** Ends all that lasts of a subject but its incidents, which end by themselves: hook of what is deleted or reset. */
export async function endOccasionsOf(
  connection: CommonQueryMethods,
  subject: { readonly type: string; readonly id: number },
  resolution: Ending['resolution'],
  nowMs: number,
): Promise<void> {
  await endOccasions(connection, [{ subject, atMs: nowMs, resolution }], nowMs);
}

/** Has all that lasts in a workspace looked at again: after a change of its alerts, so that what fails already is told at once. */
export async function lookAgain(connection: CommonQueryMethods, workspaceId: number, nowMs: number): Promise<void> {
  await connection.query(sql.unsafe`
    update alert_occasions set due_at = least(due_at, ${at(nowMs)})
    where id = any(array(
      select id from alert_occasions
      where workspace_id = ${workspaceId} and (ended_at is null and is_lasting or due_at is not null) order by id for update))`);
}

/** Has what a kind of hold keeps back in workspaces looked at again, when such a hold may have ended. */
export async function lookAtHeld(
  connection: CommonQueryMethods,
  workspaceIds: readonly number[],
  heldBy: 'maintenance' | 'flapping',
  nowMs: number,
): Promise<void> {
  await connection.query(sql.unsafe`
    update alert_occasions set due_at = ${at(nowMs)}
    where id = any(array(
      select o.id from alert_occasions o
      where o.workspace_id = any(${sql.array([...workspaceIds], 'int4')}) and o.due_at is not null
        and exists (select from alert_told t where t.occasion_id = o.id and t.held_by = ${heldBy})
      order by o.id for update))`);
}

/**
 * A target wants to hear nothing more of an occasion until then but its end. The occasion is locked before what was told of it, as the planner
 * does. @returns whether there is such a target
 */
export async function snooze(
  transaction: Transaction,
  occasionId: number,
  targetKey: string,
  untilMs: number,
): Promise<boolean> {
  await transaction.query(sql.unsafe`
    update alert_occasions set due_at = least(due_at, ${at(untilMs)}) where id = ${occasionId}`);
  const { rowCount } = await transaction.query(sql.unsafe`
    update alert_told set snoozed_until = ${at(untilMs)} where occasion_id = ${occasionId} and target_key = ${targetKey}`);
  return rowCount > 0;
}

const monitorRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  name: z.string(),
  is_watched: z.boolean(),
  has_incident: z.boolean(),
  reset_at: z.number().nullable(),
  open_events: z.array(z.string()),
});

/** What a change of status must know of monitors, by number. */
export async function monitorsOf(transaction: Transaction, ids: readonly number[]) {
  const rows = await transaction.any(sql.type(monitorRow)`
    select m.id, m.workspace_id, m.name, m.deleted_at is null and m.is_active as is_watched, m.reset_at,
      exists (
        select from incident_members u where u.subject_type = 'monitor' and u.subject_id = m.id and u.ended_at is null and not u.is_manual
      ) as has_incident,
      array(
        select o.event from alert_occasions o
        where o.subject_type = 'monitor' and o.subject_id = m.id and o.ended_at is null and o.is_lasting) as open_events
    from monitors m where m.id = any(${sql.array([...new Set(ids)], 'int4')})`);
  return new Map(rows.map((row) => [row.id, row]));
}

const probeRow = z.object({ id: z.number(), workspace_id: z.number() });

/** Workspaces of private probes, by probe. */
export async function workspacesOfProbes(
  transaction: Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await transaction.any(sql.type(probeRow)`
    select id, workspace_id from probes where id = any(${sql.array([...ids], 'int4')}) and workspace_id is not null`);
  return new Map(rows.map((row) => [row.id, row.workspace_id]));
}
