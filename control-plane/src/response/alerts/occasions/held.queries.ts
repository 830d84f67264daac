import type { DatabasePool } from 'slonik';
import { sql } from '../../../platform/database/pools.ts';

/* Incidents that a maintenance holds: they announce nothing until it is over, and the history says that they are held all the same. */

/** Incidents that a maintenance holds, and occasions of such. */
export const isHeld = sql.fragment`
  select from incidents where held_at is not null
  union all select from alert_occasions where seq = 0 and ended_at is null`;

/**
 * Notes incidents that are held as occasions that nothing was announced of (`seq` 0), which the planner holds, and ends those that are over or gone
 * by then. What is announced when the maintenance is over goes on with the same occasion.
 */
export async function noteHeld(pool: DatabasePool, nowMs: number): Promise<void> {
  if (!(await pool.exists(sql.unsafe`${isHeld}`))) return;
  const now = sql.timestamp(new Date(nowMs));
  const isLasting = sql.fragment`i.status <> 'resolved' and i.deleted_at is null`;
  await pool.query(sql.unsafe`
    insert into alert_occasions (workspace_id, key, event, incident_id, title, severity, is_lasting, started_at, opened_at, seq, problem_seq, due_at)
    select i.workspace_id, 'incident:' || i.id, 'incident.opened', i.id, i.title, i.severity, true, i.started_at, ${now}, 0, 0, ${now}
    from incidents i
    where i.held_at is not null and i.told_seq = 0 and ${isLasting} and not exists (
      select from alert_occasions o where o.workspace_id = i.workspace_id and o.key = 'incident:' || i.id)
    on conflict do nothing`);
  await pool.query(sql.unsafe`
    update alert_occasions o set ended_at = greatest(${now}, o.started_at), resolution = 'held', due_at = ${now}
    where o.seq = 0 and o.ended_at is null and not exists (
      select from incidents i where i.id = o.incident_id and i.workspace_id = o.workspace_id and ${isLasting})`);
}
