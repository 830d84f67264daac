import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { isWaiting } from './bundling/queries.ts';
import { isHeld } from './occasions/held.queries.ts';
import { isPlannable } from './planning/queries.ts';
import { isDue } from './sending/claim/queries.ts';

const dueRow = z.object({ is_planning: z.boolean(), is_sending: z.boolean() });

/** What there is to do. */
export type Due = {
  /** Occasions to decide on, or decisions to make messages of. */
  readonly isPlanning: boolean;
  /** Messages to send. */
  readonly isSending: boolean;
};

/** Looks for work of every step in one statement. */
export async function findDue(pool: DatabasePool, nowMs: number): Promise<Due> {
  const row = await pool.one(sql.prepared('alerts-due', dueRow)`
    select exists (select from alert_occasions where ${isPlannable(nowMs)}) or exists (${isHeld})
        or exists (select from notifications where ${isWaiting(nowMs)}) as is_planning,
      exists (select from deliveries where ${isDue(nowMs)}) as is_sending`);
  return { isPlanning: row.is_planning, isSending: row.is_sending };
}

/** When time alone gives work next, a query of one instant; null where it does not. What a maintenance holds is work at any time. */
export const firstDue = sql.fragment`
  select least(
    (select min(due_at) from alert_occasions where due_at is not null),
    (select min(due_at) from notifications where status = 'queued' and delivery_id is null),
    (select min(greatest(next_attempt_at, coalesce(lease_until, next_attempt_at))) from (
      select next_attempt_at, lease_until from deliveries where status = 'queued' order by next_attempt_at limit 100) first))`;
