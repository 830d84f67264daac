import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import type { AlertTarget } from '../../alert.ts';
import type { Decision } from '../../decide/decide.ts';
import type { OccasionRow } from '../queries.ts';
import type { FoundSubject } from '../subjects/queries.ts';

/** What was decided of an occasion. */
export type Planned = {
  readonly occasion: OccasionRow;
  readonly decision: Decision;
  readonly subjects: readonly FoundSubject[];
};

/** What ends quiet hours waits so long for its company, which may be decided in another round. */
const quietGatherMs = 2_000;

const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
const at = (ms: number) => sql.timestamp(new Date(ms));

/** Writes what was decided. `names` are those of alerts. @returns how many notifications are to be sent */
export async function writeDecisions(
  transaction: Transaction,
  planned: readonly Planned[],
  names: ReadonlyMap<number, string>,
  maskTarget: (target: AlertTarget) => string,
  nowMs: number,
): Promise<number> {
  const rows = planned.flatMap((each) => notificationRows(each, names, maskTarget, nowMs));
  await removeReplaced(transaction, rows);
  await insertNotifications(transaction, rows, nowMs);
  await withdraw(transaction, planned, nowMs);
  await writeTold(transaction, planned);
  await transaction.query(sql.unsafe`
    update alert_occasions o set due_at = g.due_at, pending = g.pending
    from jsonb_to_recordset(${JSON.stringify(
      planned.map(({ occasion, decision }) => ({
        id: occasion.id,
        due_at: iso(decision.lookAtMs === null ? null : Math.max(decision.lookAtMs, nowMs + 1)),
        pending: decision.pending,
      })),
    )}::jsonb) as g (id bigint, due_at timestamptz, pending jsonb)
    where o.id = g.id`);
  return rows.filter(({ status }) => status === 'queued').length;
}

function notificationRows(
  { occasion, decision, subjects }: Planned,
  names: ReadonlyMap<number, string>,
  maskTarget: (target: AlertTarget) => string,
  nowMs: number,
) {
  const [first] = subjects;
  return decision.notifications.map((each) => ({
    workspace_id: occasion.workspace_id,
    occasion_id: occasion.id,
    alert_id: each.alertId,
    alert_name: names.get(each.alertId) ?? '',
    event: occasion.event === 'incident.opened' ? (first?.event ?? occasion.event) : occasion.event,
    kind: each.kind,
    seq: each.seq,
    subject_type: first?.type ?? null,
    subject_id: first?.id ?? null,
    title: occasion.title,
    target_key: each.targetKey,
    owner_id: each.ownerId,
    target: each.status === 'deduplicated' || each.status === 'suppressed' ? null : each.target,
    channel: each.target.channel,
    config_id: each.target.config_id,
    target_masked: maskTarget(each.target),
    status: each.status,
    reason: each.reason,
    due_at: each.status === 'queued' ? iso(each.afterQuiet ? nowMs + quietGatherMs : nowMs) : iso(each.untilMs),
    after_quiet: each.afterQuiet,
    done_at: each.status === 'queued' || each.status === 'held' ? null : iso(nowMs),
  }));
}

type NotificationRow = ReturnType<typeof notificationRows>[number];

/** One of each; what was held under the same name becomes what it is now. */
async function insertNotifications(
  transaction: Transaction,
  rows: readonly NotificationRow[],
  nowMs: number,
): Promise<void> {
  const insertion = (some: readonly NotificationRow[]) => sql.fragment`
    insert into notifications (workspace_id, occasion_id, alert_id, alert_name, event, kind, seq, subject_type, subject_id, title, target_key,
      owner_id, target, channel, config_id, target_masked, status, reason, due_at, after_quiet, done_at,
      created_at)
    select g.workspace_id, g.occasion_id, a.id, g.alert_name, g.event, g.kind, g.seq, g.subject_type, g.subject_id, g.title, g.target_key,
      g.owner_id, g.target, g.channel, g.config_id, g.target_masked, g.status, g.reason, g.due_at, g.after_quiet, g.done_at,
      ${at(nowMs)}
    from jsonb_to_recordset(${JSON.stringify(some.map((row, position) => ({ ...row, position })))}::jsonb) as g (workspace_id integer, occasion_id bigint, alert_id integer,
      alert_name text, event text, kind text, seq integer, subject_type text, subject_id integer, title text, target_key text, owner_id integer,
      target jsonb, channel text, config_id integer, target_masked text, status text, reason text, due_at timestamptz, after_quiet boolean,
      done_at timestamptz, position integer)
      left join alerts a on a.id = g.alert_id
    order by g.position`;
  const others = rows.filter(({ status }) => status === 'deduplicated');
  const own = rows.filter(({ status }) => status !== 'deduplicated');
  if (own.length > 0) {
    await transaction.query(sql.unsafe`${insertion(own)}
      on conflict (occasion_id, kind, seq, target_key) where status <> 'deduplicated' do update
        set status = excluded.status, reason = excluded.reason, due_at = excluded.due_at, after_quiet = excluded.after_quiet,
          alert_id = excluded.alert_id, alert_name = excluded.alert_name, owner_id = excluded.owner_id, target = excluded.target,
          channel = excluded.channel, config_id = excluded.config_id, target_masked = excluded.target_masked, done_at = excluded.done_at
        where notifications.status = 'held'`);
  }
  if (others.length > 0) await transaction.query(sql.unsafe`${insertion(others)} on conflict do nothing`);
}

/** What was held before anything of its incident was announced is told, or held, under a number of its own from then on. */
async function removeReplaced(transaction: Transaction, rows: readonly NotificationRow[]): Promise<void> {
  const first = rows.filter(({ kind, seq }) => seq > 0 && (kind === 'opened' || kind === 'escalated'));
  if (first.length === 0) return;
  await transaction.query(sql.unsafe`
    delete from notifications n
    using ${sql.unnest(
      first.map((row) => [String(row.occasion_id), row.target_key]),
      ['int8', 'text'],
    )} as g (occasion_id, target_key)
    where n.occasion_id = g.occasion_id and n.target_key = g.target_key and n.seq = 0 and n.kind in ('opened', 'escalated')
      and n.status in ('held', 'suppressed')`);
}

const deliveryId = z.object({ delivery_id: z.bigint().nullable() });

/** What is void: it was held and is said otherwise now, or it waits and is over before anybody began to send it. */
async function withdraw(transaction: Transaction, planned: readonly Planned[], nowMs: number): Promise<void> {
  const rows = planned.flatMap(({ occasion, decision }) =>
    [...decision.withdrawn].map(([targetKey, mode]) => ({
      occasion_id: occasion.id,
      target_key: targetKey,
      is_unsent: mode === 'unsent',
      but: decision.notifications
        .filter((each) => each.targetKey === targetKey && each.status !== 'deduplicated')
        .map(({ kind, seq }) => `${kind}:${seq}`),
    })),
  );
  if (rows.length === 0) return;
  const withdrawn = await transaction.anyFirst(sql.type(deliveryId)`
    update notifications n set status = 'suppressed', reason = 'over', done_at = ${at(nowMs)}, target = null
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (occasion_id bigint, target_key text, is_unsent boolean, but text[])
    where n.occasion_id = g.occasion_id and n.target_key = g.target_key and n.kind || ':' || n.seq <> all(g.but)
      and (n.status = 'held' or (g.is_unsent and n.status = 'queued' and not exists (
        select from deliveries d where d.id = n.delivery_id and (d.status <> 'queued' or d.lease_until is not null))))
    returning n.delivery_id`);
  const ids = withdrawn.filter((id) => id !== null);
  await transaction.query(sql.unsafe`
    update deliveries d set status = 'cancelled', done_at = ${at(nowMs)}, target = null, lease_until = null, leased_by = null
    where d.id = any(${sql.array([...new Set(ids)], 'int8')}) and d.status = 'queued'
      and not exists (select from notifications n where n.delivery_id = d.id and n.status = 'queued')`);
}

async function writeTold(transaction: Transaction, planned: readonly Planned[]): Promise<void> {
  const rows = planned.flatMap(({ occasion, decision }) =>
    [...decision.told].map(([targetKey, told]) => ({
      workspace_id: occasion.workspace_id,
      occasion_id: occasion.id,
      target_key: targetKey,
      alert_id: told.alertId,
      owner_id: told.ownerId,
      target: told.target,
      state: told.state,
      problem_seq: told.problemSeq,
      step: told.step,
      reminders: told.reminders,
      told_seq: told.toldSeq,
      last_at: iso(told.lastMs),
      queued_at: iso(told.queuedMs),
      sent_at: iso(told.sentMs),
      lost_at: iso(told.lostMs),
      held_at: iso(told.heldMs),
      held_by: told.heldBy,
      snoozed_until: iso(told.snoozedUntilMs),
    })),
  );
  if (rows.length === 0) return;
  await transaction.query(sql.unsafe`
    insert into alert_told
    select g.* from jsonb_populate_recordset(null::alert_told, ${JSON.stringify(rows)}::jsonb) g
    on conflict (occasion_id, target_key) do update set alert_id = excluded.alert_id, owner_id = excluded.owner_id, target = excluded.target,
      state = excluded.state, problem_seq = excluded.problem_seq, step = excluded.step, reminders = excluded.reminders,
      told_seq = excluded.told_seq, last_at = excluded.last_at, queued_at = excluded.queued_at, sent_at = excluded.sent_at,
      lost_at = excluded.lost_at, held_at = excluded.held_at, held_by = excluded.held_by, snoozed_until = excluded.snoozed_until`);
}
