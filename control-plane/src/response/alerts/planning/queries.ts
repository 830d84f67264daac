import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { severities } from '../alert.ts';
import type { Alert } from '../alert.ts';
import { changeKinds } from '../decide/occasion.ts';
import type { Change, Told } from '../decide/occasion.ts';
import { alertColumns, targetShape } from '../rules/row.ts';
import type { AlertColumns } from '../rules/row.ts';

const ms = z.number().nullable();
const at = (value: number | null) => (value === null ? null : sql.timestamp(new Date(value)));
const idArray = (ids: readonly number[]) => sql.array([...ids], 'int8');

const occasionRow = z.object({
  id: z.bigint(),
  workspace_id: z.number(),
  event: z.string(),
  severity: z.enum(severities),
  is_lasting: z.boolean(),
  started_at: z.number(),
  opened_at: z.number(),
  ended_at: ms,
  resolution: z.string().nullable(),
  acknowledged_at: ms,
  seq: z.number(),
  problem_seq: z.number(),
  pending: z.array(z.object({ seq: z.number(), kind: z.enum(changeKinds), reason: z.string().nullable() })),
  is_manual: z.boolean(),
  title: z.string(),
  is_obsolete: z.boolean(),
});
export type OccasionRow = Omit<z.output<typeof occasionRow>, 'id' | 'pending'> & {
  readonly id: number;
  readonly pending: readonly Change[];
};

/** The condition for an occasion that is due to be looked at. */
export const isPlannable = (nowMs: number) => sql.fragment`due_at <= ${at(nowMs)}`;

/** Whether there is an occasion to look at: to claim them takes PostgreSQL ten times as long to plan. */
export async function isAnyDue(pool: DatabasePool, nowMs: number): Promise<boolean> {
  return pool.exists(sql.unsafe`select from alert_occasions where ${isPlannable(nowMs)}`);
}

/** So many of those that are due are shared among workspaces in turn; what is due later waits until some of them are done. */
const shared = 10_000;

/**
 * Occasions that are to be looked at by now and that nobody else looks at, locked until the transaction ends: the oldest of each workspace first,
 * then the second of each, so that a flood of one of them holds up none of the others.
 */
export async function claimOccasions(transaction: Transaction, nowMs: number, most: number): Promise<OccasionRow[]> {
  const rows = await transaction.any(sql.type(occasionRow)`
    select o.id, o.workspace_id, o.event, o.severity, o.is_lasting, o.started_at, o.opened_at, o.ended_at, o.resolution, o.acknowledged_at, o.seq,
      o.problem_seq, o.pending, coalesce((o.facts ->> 'is_manual')::boolean, false) as is_manual, o.title,
      -- The end that it tells of has been moved since, as by a new certificate.
      case when o.event in ('certificate.expiring', 'domain.expiring') then coalesce((
        select monitor_expiry(m.id, split_part(o.event, '.', 1), m.probe_revision) > (o.facts ->> 'not_after')::timestamptz
        from monitors m where o.subject_type = 'monitor' and m.id = o.subject_id), false) else false end as is_obsolete
    from (
      select id, due_at, row_number() over (partition by workspace_id order by due_at, id) as turn from (
        select id, workspace_id, due_at from alert_occasions where due_at <= ${at(nowMs)} order by due_at, id limit ${shared}) due
      -- More than are wanted, as other replicas look at some of them.
      order by turn, due_at, id limit ${10 * most}) due
      join alert_occasions o on o.id = due.id
    where o.due_at <= ${at(nowMs)}
    order by due.turn, due.due_at, o.id limit ${most} for update of o skip locked`);
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

const alertRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  owner_id: z.number(),
  name: z.string(),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  events: z.array(z.string()),
  steps: z.unknown(),
  failover: z.unknown(),
  quiet_hours: z.unknown(),
  min_duration_seconds: z.number(),
  reminder_interval_seconds: z.number().nullable(),
  muted_until: ms,
  notify_on_recovery: z.boolean(),
  active_since: z.number(),
  monitor_ids: z.array(z.number()),
  group_ids: z.array(z.number()),
  heartbeat_ids: z.array(z.number()),
  webhook_check_ids: z.array(z.number()),
});

/**
 * Active alerts of workspaces, in the order of their numbers. One of which the JSON cannot be read is left out: it would hold up those of everybody.
 * @param onUnreadable is given what is wrong with one
 */
export async function alertsOf(
  transaction: Transaction,
  workspaceIds: readonly number[],
  onUnreadable: (error: unknown, alertId: number) => void,
): Promise<Alert[]> {
  const ids = (column: string) =>
    sql.fragment`coalesce(s.${sql.identifier([column])}, '{}') as ${sql.identifier([column])}`;
  const rows = await transaction.any(sql.type(alertRow)`
    select a.id, a.workspace_id, a.owner_id, a.name, a.covers_all, a.tags, a.events, a.steps, a.failover, a.min_duration_seconds,
      a.reminder_interval_seconds, a.quiet_hours, a.muted_until, a.notify_on_recovery, a.active_since,
      ${ids('monitor_ids')}, ${ids('group_ids')}, ${ids('heartbeat_ids')}, ${ids('webhook_check_ids')}
    from alerts a left join lateral (
      select array_agg(monitor_id) filter (where monitor_id is not null) as monitor_ids,
        array_agg(group_id) filter (where group_id is not null) as group_ids,
        array_agg(heartbeat_id) filter (where heartbeat_id is not null) as heartbeat_ids,
        array_agg(webhook_check_id) filter (where webhook_check_id is not null) as webhook_check_ids
      from alert_subjects t where t.alert_id = a.id) s on true
    where a.workspace_id = any(${sql.array([...workspaceIds], 'int4')}) and a.is_active order by a.id`);
  return rows.flatMap((row) => {
    const read = alertColumns.safeParse(row);
    if (read.success) return [alertOf(row, read.data)];
    onUnreadable(read.error, row.id);
    return [];
  });
}

function alertOf(row: z.output<typeof alertRow>, { steps, failover, quiet_hours: quietHours }: AlertColumns): Alert {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    ownerId: row.owner_id,
    name: row.name,
    scope: {
      all: row.covers_all,
      tags: row.tags,
      monitorIds: new Set(row.monitor_ids),
      groupIds: new Set(row.group_ids),
      heartbeatIds: new Set(row.heartbeat_ids),
      webhookCheckIds: new Set(row.webhook_check_ids),
    },
    events: new Set(row.events),
    steps,
    failover,
    minDurationSeconds: row.min_duration_seconds,
    reminderIntervalSeconds: row.reminder_interval_seconds,
    quietHours,
    mutedUntilMs: row.muted_until,
    notifyOnRecovery: row.notify_on_recovery,
    activeSinceMs: row.active_since,
  };
}

const toldRow = z.object({
  occasion_id: z.bigint(),
  target_key: z.string(),
  alert_id: z.number(),
  owner_id: z.number(),
  target: targetShape,
  state: z.enum(['none', 'problem', 'over']),
  problem_seq: z.number(),
  step: z.number(),
  reminders: z.number(),
  told_seq: z.number(),
  last_at: ms,
  queued_at: ms,
  sent_at: ms,
  lost_at: ms,
  held_at: ms,
  held_by: z.string().nullable(),
  snoozed_until: ms,
});

const unsentRow = z.object({ occasion_id: z.bigint(), target_key: z.string() });

export type ToldOfOccasion = {
  readonly told: Map<string, Told>;
  /** Targets whose first message of the problem nobody has begun to send. */
  readonly withdrawable: Set<string>;
};

/**
 * What targets were told of occasions, locked: the sender notes here what arrived. What may be withdrawn of `overIds` is locked before, so that
 * nobody begins to send it; in that order, in which the sender locks too.
 */
export async function toldOf(
  transaction: Transaction,
  occasionIds: readonly number[],
  overIds: readonly number[],
): Promise<ReadonlyMap<number, ToldOfOccasion>> {
  const found = new Map<number, ToldOfOccasion>(
    occasionIds.map((id) => [id, { told: new Map(), withdrawable: new Set() }]),
  );
  if (overIds.length > 0) {
    await transaction.query(sql.unsafe`
      select from deliveries where id in (
        select n.delivery_id from notifications n where n.occasion_id = any(${idArray(overIds)}) and n.status = 'queued')
      order by id for update`);
    const unsent = await transaction.any(sql.type(unsentRow)`
      select distinct n.occasion_id, n.target_key from notifications n left join deliveries d on d.id = n.delivery_id
      where n.occasion_id = any(${idArray(overIds)}) and n.status = 'queued' and n.kind in ('opened', 'escalated')
        and (d.id is null or (d.status = 'queued' and d.lease_until is null))`);
    for (const row of unsent) found.get(Number(row.occasion_id))?.withdrawable.add(row.target_key);
  }
  const rows = await transaction.any(sql.type(toldRow)`
    select occasion_id, target_key, alert_id, owner_id, target, state, problem_seq, step, reminders, told_seq, last_at, queued_at, sent_at, lost_at,
      held_at, held_by, snoozed_until
    from alert_told where occasion_id = any(${idArray(occasionIds)}) order by occasion_id, target_key for update`);
  for (const row of rows) {
    found.get(Number(row.occasion_id))?.told.set(row.target_key, {
      alertId: row.alert_id,
      ownerId: row.owner_id,
      target: row.target,
      state: row.state,
      problemSeq: row.problem_seq,
      step: row.step,
      reminders: row.reminders,
      toldSeq: row.told_seq,
      lastMs: row.last_at,
      queuedMs: row.queued_at,
      sentMs: row.sent_at,
      lostMs: row.lost_at,
      heldMs: row.held_at,
      heldBy: row.held_by,
      snoozedUntilMs: row.snoozed_until,
    });
  }
  return found;
}
