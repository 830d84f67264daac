import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { subjectKey } from './facts.ts';
import type { StoredEvent } from './event.ts';
import type { Facts, SubjectFacts, SubjectKey } from './facts.ts';
import type { Memory, SourceRow } from './translate.ts';

/** After so many failures a row stays where it is, with its last error, and those behind it go on. */
export const mostAttempts = 20;

const inboxRow = z.object({
  id: z.bigint(),
  key: z.string(),
  kind: z.string(),
  payload: z.unknown(),
  at: z.number(),
  attempts: z.number(),
});

/** A state change that waits. */
export type InboxRow = SourceRow & { readonly id: bigint; readonly key: string; readonly attempts: number };

/**
 * The state changes that wait, in the order of the outbox for each of their keys. One process at a time makes events: the lock is held until the
 * transaction ends, and numbers need no lock of their own. @returns undefined while another one does
 */
export async function claimInbox(transaction: Transaction, limit: number): Promise<readonly InboxRow[] | undefined> {
  const isOurs = await transaction.oneFirst(sql.type(z.object({ ours: z.boolean() }))`
    select pg_try_advisory_xact_lock(hashtextextended('events of the inbox', 0)) as ours`);
  if (!isOurs) return undefined;
  const rows = await transaction.any(sql.type(inboxRow)`
    select i.id, i.key, i.kind, i.payload, i.at, i.attempts from event_inbox i
    where i.attempts < ${mostAttempts} and i.available_at <= now()
      and not exists (
        select from event_inbox elder
        where elder.key = i.key and elder.id < i.id and elder.attempts < ${mostAttempts} and elder.available_at > now())
    order by i.id limit ${limit}`);
  return rows.map(({ at: atMs, ...row }) => ({ ...row, atMs }));
}

/** Whether anything waits; one short statement, since mostly nothing does. */
export const somethingWaits = sql.unsafe`
  select from event_inbox where attempts < ${mostAttempts} and available_at <= now()`;

/** Removes what events were made of, and puts back what failed, each time for twice as long. */
export async function settleInbox(
  transaction: Transaction,
  done: readonly bigint[],
  failed: readonly { readonly id: bigint; readonly error: string }[],
): Promise<void> {
  await transaction.query(sql.unsafe`delete from event_inbox where id = any(${sql.array([...done], 'int8')})`);
  if (failed.length === 0) return;
  const rows = failed.map(({ id, error }) => [String(id), error.slice(0, 1_000)]);
  await transaction.query(sql.unsafe`
    update event_inbox i set attempts = i.attempts + 1, error = f.error,
      available_at = now() + make_interval(secs => least(300, power(2, least(i.attempts, 9))))
    from ${sql.unnest(rows, ['int8', 'text'])} as f (id, error) where i.id = f.id`);
}

const factsRow = z.object({
  type: z.string(),
  id: z.number(),
  name: z.string(),
  target: z.string().nullable(),
  tags: z.array(z.string()),
  group_ids: z.array(z.number()),
  is_flapping: z.boolean(),
  in_maintenance: z.boolean(),
  incident_id: z.number().nullable(),
});

/** A subject whose facts are wanted. */
export type Wanted = { readonly type: string; readonly id: number };

/** What events say of subjects; in one statement. Those that are gone, and incidents, are left out. */
export async function subjectFacts(
  transaction: Transaction,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<SubjectKey, SubjectFacts>> {
  const rows = await transaction.any(sql.type(factsRow)`
    select r.type, r.id, coalesce(m.name, h.name, c.name) as name, m.url as target, coalesce(m.tags, h.tags, c.tags, '{}') as tags,
      array(
        select gm.group_id from monitor_group_members gm where r.type = 'monitor' and gm.monitor_id = r.id
        union
        select g.id from monitor_groups g where r.type = 'monitor' and g.workspace_id = m.workspace_id and g.tags && m.tags
        order by 1) as group_ids,
      exists (select from flapping f where r.type = 'monitor' and f.monitor_id = r.id and f.flapping_since is not null) as is_flapping,
      exists (
        select from maintenance_subjects x where x.subject_type = r.type and x.subject_id = r.id and x.ended_at is null) as in_maintenance,
      (select u.incident_id from incident_members u
        where u.subject_type = r.type and u.subject_id = r.id and u.ended_at is null and not u.is_manual) as incident_id
    from ${sql.unnest(
      wanted.map(({ type, id }) => [type, id]),
      ['text', 'int4'],
    )} as r (type, id)
      left join monitors m on r.type = 'monitor' and m.id = r.id
      left join heartbeats h on r.type = 'heartbeat' and h.id = r.id
      left join webhook_checks c on r.type = 'webhook_check' and c.id = r.id
    where coalesce(m.name, h.name, c.name) is not null`);
  return new Map(
    rows.map((row) => [
      subjectKey(row.type, row.id),
      {
        name: row.name,
        target: row.target,
        tags: row.tags,
        groupIds: row.group_ids,
        isFlapping: row.is_flapping,
        inMaintenance: row.in_maintenance,
        incidentId: row.incident_id,
      },
    ]),
  );
}

/** The workspaces of private probes. */
export async function workspacesOfProbes(
  transaction: Transaction,
  probeIds: readonly number[],
): Promise<Facts['workspaceOfProbe']> {
  if (probeIds.length === 0) return new Map();
  const rows = await transaction.any(sql.type(z.object({ id: z.number(), workspace_id: z.number() }))`
    select id, workspace_id from probes where id = any(${sql.array([...probeIds], 'int4')}) and workspace_id is not null`);
  return new Map(rows.map((row) => [row.id, row.workspace_id]));
}

/** What somebody wrote with messages of incidents. */
export async function writtenWith(
  transaction: Transaction,
  messages: readonly { readonly incidentId: number; readonly seq: number }[],
): Promise<Facts['written']> {
  if (messages.length === 0) return new Map();
  const rows = await transaction.any(
    sql.type(z.object({ incident_id: z.number(), seq: z.number(), body: z.string() }))`
    select distinct on (u.incident_id, u.told_seq) u.incident_id, u.told_seq as seq, u.body
    from ${sql.unnest(
      messages.map(({ incidentId, seq }) => [incidentId, seq]),
      ['int4', 'int4'],
    )} as g (incident_id, seq) join incident_updates u on u.incident_id = g.incident_id and u.told_seq = g.seq
    order by u.incident_id, u.told_seq, u.id desc`,
  );
  return new Map(rows.map((row) => [`${row.incident_id} ${row.seq}`, row.body]));
}

/** What is remembered of a subject in a workspace, with the number of its last event. */
export type Remembered = {
  readonly workspaceId: number;
  readonly type: string;
  readonly id: number;
  readonly name: string;
  readonly sequence: number;
  readonly memory: Memory;
  readonly endedMs: number | null;
};

const memoryRow = z.object({
  workspace_id: z.number(),
  subject_type: z.string(),
  subject_id: z.number(),
  name: z.string(),
  sequence: z.number(),
  outage_started_at: z.number().nullable(),
  outage_incident_id: z.number().nullable(),
  revised_at: z.number().nullable(),
  revised_since: z.number().nullable(),
});

/** Reads what is remembered of subjects. */
export async function remembered(
  transaction: Transaction,
  subjects: readonly { readonly workspaceId: number; readonly type: string; readonly id: number }[],
): Promise<readonly Remembered[]> {
  const rows = await transaction.any(sql.type(memoryRow)`
    select s.workspace_id, s.subject_type, s.subject_id, s.name, s.sequence, s.outage_started_at, s.outage_incident_id, s.revised_at, s.revised_since
    from ${sql.unnest(
      subjects.map(({ workspaceId, type, id }) => [workspaceId, type, id]),
      ['int4', 'text', 'int4'],
    )} as g (workspace_id, type, id)
      join event_subjects s on s.workspace_id = g.workspace_id and s.subject_type = g.type and s.subject_id = g.id`);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    type: row.subject_type,
    id: row.subject_id,
    name: row.name,
    sequence: row.sequence,
    memory: {
      outage:
        row.outage_started_at === null
          ? null
          : { startedMs: row.outage_started_at, incidentId: row.outage_incident_id },
      revised:
        row.revised_at === null || row.revised_since === null
          ? null
          : { atMs: row.revised_at, sinceMs: row.revised_since },
    },
    endedMs: null,
  }));
}

const at = (ms: number | null | undefined): string | null => (ms == null ? null : new Date(ms).toISOString());

/** Remembers subjects. Those of workspaces that are gone are left out. */
export async function remember(transaction: Transaction, subjects: readonly Remembered[]): Promise<void> {
  if (subjects.length === 0) return;
  const rows = subjects.map(({ workspaceId, type, id, name, sequence, memory, endedMs }) => [
    workspaceId,
    type,
    id,
    sequence,
    name,
    at(memory.outage?.startedMs),
    memory.outage?.incidentId ?? null,
    at(memory.revised?.atMs),
    at(memory.revised?.sinceMs),
    at(endedMs),
  ]);
  await transaction.query(sql.unsafe`
    insert into event_subjects (workspace_id, subject_type, subject_id, sequence, name, outage_started_at, outage_incident_id, revised_at,
      revised_since, ended_at)
    select g.* from ${sql.unnest(rows, [
      'int4',
      'text',
      'int4',
      'int4',
      'text',
      'timestamptz',
      'int4',
      'timestamptz',
      'timestamptz',
      'timestamptz',
    ])} as g (workspace_id, subject_type, subject_id, sequence, name, outage_started_at, outage_incident_id, revised_at, revised_since, ended_at)
      join workspaces w on w.id = g.workspace_id
    on conflict (workspace_id, subject_type, subject_id) do update set sequence = excluded.sequence, name = excluded.name,
      outage_started_at = excluded.outage_started_at, outage_incident_id = excluded.outage_incident_id,
      revised_at = excluded.revised_at, revised_since = excluded.revised_since, ended_at = excluded.ended_at`);
}

/** Stores events. @returns those whose workspace is still there */
export async function storeEvents(
  transaction: Transaction,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  if (events.length === 0) return [];
  const rows = events.map((event) => [
    event.eventId,
    event.workspaceId,
    event.type,
    event.subjectType,
    event.subjectId,
    event.sequence,
    event.body,
    at(event.atMs),
  ]);
  const stored = await transaction.anyFirst(sql.type(z.object({ event_id: z.string() }))`
    insert into events (event_id, workspace_id, type, subject_type, subject_id, sequence, body, at)
    select g.event_id, w.id, g.type, g.subject_type, g.subject_id, g.sequence, g.body, g.at
    from ${sql.unnest(rows, ['text', 'int4', 'text', 'text', 'int4', 'int4', 'text', 'timestamptz'])}
        with ordinality as g (event_id, workspace_id, type, subject_type, subject_id, sequence, body, at, position)
      join workspaces w on w.id = g.workspace_id
    order by g.position returning event_id`);
  const kept = new Set(stored);
  return events.filter(({ eventId }) => kept.has(eventId));
}

/** Removes what is older than it need be: events, and what is remembered of subjects that were gone by then. @returns how many events */
export async function forgetEvents(transaction: Transaction, beforeMs: number): Promise<number> {
  const before = at(beforeMs);
  await transaction.query(sql.unsafe`delete from event_subjects where ended_at < ${before}`);
  const done = await transaction.query(sql.unsafe`
    delete from events where (xid, id) in (select xid, id from events where at < ${before} limit 10000)`);
  return done.rowCount;
}
