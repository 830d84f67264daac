import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { RowsOfMonitor } from '../monitors/index.ts';
import type { Occasion } from './due.ts';

const occasionRow = z.object({
  monitor_id: z.number(),
  workspace_id: z.number(),
  kind: z.enum(['certificate', 'domain']),
  not_after: z.number(),
  threshold_days: z.number(),
});

// The nearest threshold that was crossed; none when it or a nearer one was told of this end.
const dueRows = (nowMs: number) => sql.fragment`
  select m.id as monitor_id, m.workspace_id, due.kind, due.not_after, due.threshold_days
  from monitors m
  cross join lateral (
    select known.kind, known.not_after, (
      select min(days) from unnest(case known.kind
        when 'domain' then m.domain_thresholds_days else m.certificate_thresholds_days end) as days
      where known.not_after <= ${sql.timestamp(new Date(nowMs))} + make_interval(days => days)) as threshold_days
    from (
      select kind, monitor_expiry(m.id, kind, m.probe_revision) as not_after from (values ('certificate'), ('domain')) as k (kind)
    ) known
  ) due
  where due.threshold_days is not null and m.deleted_at is null and m.is_active
    and not exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null)
    and not exists (
      select from expiry_notices n
      where n.monitor_id = m.id and n.kind = due.kind and n.not_after = due.not_after and n.threshold_days <= due.threshold_days)`;

// Most ends are far away: only for those that some probe sees near is it worked out what counts.
const mayBeDue = (nowMs: number) => sql.fragment`
  select e.monitor_id from monitor_expiries e join monitors o on o.id = e.monitor_id and o.deleted_at is null and o.is_active
  where e.not_after <= ${sql.timestamp(new Date(nowMs))} + make_interval(days => (
    select max(days) from unnest(case e.kind
      when 'domain' then o.domain_thresholds_days else o.certificate_thresholds_days end) as days))`;

/**
 * Notes thresholds that were crossed, of at most so many monitors. A threshold that another transaction notes at the same time is waited for
 * and not returned: each comes once. The monitors are held: none is paused or deleted until the transaction ends.
 */
export async function noteOccasions(tx: Transaction, nowMs: number, limit: number): Promise<readonly Occasion[]> {
  const ids = await tx.anyFirst(sql.type(z.object({ monitor_id: z.number() }))`
    select distinct due.monitor_id from (${dueRows(nowMs)}
      and m.id in (${mayBeDue(nowMs)})) due order by 1 limit ${limit}`);
  if (ids.length === 0) return [];
  const among = sql.array([...ids], 'int4');
  await tx.query(sql.unsafe`select from monitors where id = any (${among}) order by id for key share`);
  const noted = await tx.any(sql.type(occasionRow)`
    with due as (${dueRows(nowMs)} and m.id = any (${among})),
    noted as (
      insert into expiry_notices (monitor_id, kind, not_after, threshold_days, told_at)
      select monitor_id, kind, not_after, threshold_days, ${sql.timestamp(new Date(nowMs))} from due order by 1, 2
      on conflict do nothing returning monitor_id, kind)
    select due.* from due join noted using (monitor_id, kind) order by due.monitor_id, due.kind`);
  return noted.map((row) => ({
    monitorId: row.monitor_id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    notAfterMs: row.not_after,
    thresholdDays: row.threshold_days,
  }));
}

/** Ends and notices go with a deleted monitor. A reset leaves them: they are no statistics, and what was told is not told again. */
export const removeExpiries: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  if (beforeMs !== null) return { wasAny: false, wasHeld: false, removed: {} };
  const ends = await worker.query(sql.unsafe`delete from monitor_expiries where monitor_id = ${monitorId}`);
  const notices = await worker.query(sql.unsafe`delete from expiry_notices where monitor_id = ${monitorId}`);
  return { wasAny: ends.rowCount + notices.rowCount > 0, wasHeld: false, removed: {} };
};
