import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import type { RowsOfMonitor } from '../monitors/index.ts';
import type { Occasion } from './due.ts';

const occasionRow = z.object({
  monitor_id: z.number(),
  workspace_id: z.number(),
  kind: z.enum(['certificate', 'domain']),
  not_after: z.number(),
  threshold_days: z.number(),
});

const instant = (ms: number) => sql.timestamp(new Date(ms));

const isWatched = sql.fragment`m.deleted_at is null and m.is_active
    and not exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null)`;

// The nearest threshold that was crossed; none when it or a nearer one was told of this end.
const dueRows = (nowMs: number) => sql.fragment`
  select m.id as monitor_id, m.workspace_id, due.kind, due.not_after, due.threshold_days
  from monitors m
  cross join lateral (
    select known.kind, known.not_after, (
      select min(days) from unnest(case known.kind
        when 'domain' then m.domain_thresholds_days else m.certificate_thresholds_days end) as days
      where known.not_after <= ${instant(nowMs)} + make_interval(days => days)) as threshold_days
    from (
      select kind, monitor_expiry(m.id, kind, m.probe_revision) as not_after from (values ('certificate'), ('domain')) as k (kind)
    ) known
  ) due
  where due.threshold_days is not null and ${isWatched}
    and not exists (
      select from expiry_notices n
      where n.monitor_id = m.id and n.kind = due.kind and n.not_after = due.not_after and n.threshold_days <= due.threshold_days)`;

const lookRow = z.object({ monitor_id: z.number(), kind: z.enum(['certificate', 'domain']), probe_id: z.number() });

/** What a look came to: how many ends it looked at, and what is to be told. */
export type Looked = { readonly ends: number; readonly occasions: readonly Occasion[] };

/**
 * Looks at ends that are due, at most so many, and notes thresholds that were crossed. The ends are held: who pauses, changes or deletes such a
 * monitor waits for the end of the transaction, and what another process looks at is left to it. Each threshold comes once, whoever is first.
 */
export async function noteOccasions(tx: Transaction, nowMs: number, limit: number): Promise<Looked> {
  const held = await tx.any(sql.type(lookRow)`
    select monitor_id, kind, probe_id from monitor_expiries
    where look_at <= ${instant(nowMs)} and look_at < 'infinity' order by look_at limit ${limit} for update skip locked`);
  if (held.length === 0) return { ends: 0, occasions: [] };
  const among = sql.array([...new Set(held.map((row) => row.monitor_id))], 'int4');
  const noted = await tx.any(sql.type(occasionRow)`
    with due as (${dueRows(nowMs)} and m.id = any (${among})),
    noted as (
      insert into expiry_notices (monitor_id, kind, not_after, threshold_days, told_at)
      select monitor_id, kind, not_after, threshold_days, ${instant(nowMs)} from due order by 1, 2
      on conflict do nothing returning monitor_id, kind)
    select due.* from due join noted using (monitor_id, kind) order by due.monitor_id, due.kind`);
  await lookLater(tx, held, nowMs);
  const occasions = noted.map((row) => ({
    monitorId: row.monitor_id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    notAfterMs: row.not_after,
    thresholdDays: row.threshold_days,
  }));
  return { ends: held.length, occasions };
}

// Of a monitor that is paused or deleted nothing is due: what ends that makes its ends due.
async function lookLater(tx: Transaction, held: readonly z.output<typeof lookRow>[], nowMs: number): Promise<void> {
  const rows = held.map((row) => [row.monitor_id, row.kind, row.probe_id]);
  await tx.query(sql.unsafe`
    update monitor_expiries e set look_at = coalesce((
        select min(known.not_after - make_interval(days => days))
        from (select monitor_expiry(m.id, e.kind, m.probe_revision) as not_after) known, unnest(case e.kind
          when 'domain' then m.domain_thresholds_days else m.certificate_thresholds_days end) as days
        where ${isWatched} and known.not_after - make_interval(days => days) > ${instant(nowMs)}), 'infinity')
    from ${sql.unnest(rows, ['int4', 'text', 'int4'])} as held (monitor_id, kind, probe_id)
    left join monitors m on m.id = held.monitor_id
    where (e.monitor_id, e.kind, e.probe_id) = (held.monitor_id, held.kind, held.probe_id)`);
}

/** Ends and notices go with a deleted monitor. A reset leaves them: they are no statistics, and what was told is not told again. */
export const removeExpiries: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  if (beforeMs !== null) return { wasAny: false, wasHeld: false, removed: {} };
  const ends = await worker.query(sql.unsafe`delete from monitor_expiries where monitor_id = ${monitorId}`);
  const notices = await worker.query(sql.unsafe`delete from expiry_notices where monitor_id = ${monitorId}`);
  return { wasAny: ends.rowCount + notices.rowCount > 0, wasHeld: false, removed: {} };
};

const endRow = z.object({ ends_at: z.number().nullable() });

/** When the certificate of a monitor of the scope ends, as its probes see it; null: they saw none. @returns undefined: there is no such monitor */
export async function certificateEnd(
  scope: Scope,
  connection: CommonQueryMethods,
  monitorId: number,
): Promise<number | null | undefined> {
  const found = await connection.maybeOne(sql.type(endRow)`
    select monitor_expiry(m.id, 'certificate', m.probe_revision) as ends_at from monitors m
    where m.id = ${monitorId} and m.workspace_id = any(${sql.array([...scope.workspaceIds], 'int4')}) and m.deleted_at is null`);
  return found?.ends_at;
}
