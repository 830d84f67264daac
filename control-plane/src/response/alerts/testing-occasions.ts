import { z } from 'zod';
import type { Database } from '../../platform/database/pools.ts';
import { sql } from '../../platform/database/pools.ts';

const bigId = z.object({ id: z.bigint() });

/** For tests: something that lasts, as the engine notes it. @returns its number */
export async function addOccasion(
  database: Database,
  given: {
    readonly workspaceId: number;
    readonly key?: string;
    readonly title?: string;
    readonly incidentId?: number;
    readonly subject?: { readonly type: string; readonly id: number };
    readonly startedMs?: number;
  },
): Promise<number> {
  const at = sql.timestamp(new Date(given.startedMs ?? Date.now() - 60_000));
  return Number(
    await database.worker.oneFirst(sql.type(bigId)`
      insert into alert_occasions (workspace_id, key, event, subject_type, subject_id, incident_id, title, severity, is_lasting, started_at,
        opened_at, seq, problem_seq)
      values (${given.workspaceId}, ${given.key ?? `test:${(made += 1)}`}, 'monitor.down', ${given.subject?.type ?? null},
        ${given.subject?.id ?? null}, ${given.incidentId ?? null}, ${given.title ?? 'Shop is down'}, 'major', true, ${at}, ${at}, 1, 1)
      returning id`),
  );
}

/** For tests: that a target was told of it by an alert, and what became of that. */
export async function addNotification(
  database: Database,
  given: {
    readonly workspaceId: number;
    readonly occasionId: number;
    readonly alertId: number;
    readonly ownerId: number;
    readonly status?: 'held' | 'queued' | 'sent' | 'failed' | 'suppressed' | 'deduplicated';
    readonly channel?: string;
    readonly targetKey?: string;
    readonly target?: { readonly locale: string; readonly timezone: string; readonly target?: string };
    readonly subject?: { readonly type: string; readonly id: number };
    readonly atMs?: number;
  },
): Promise<void> {
  const { workspaceId, occasionId, alertId, ownerId, status = 'sent', channel = 'email' } = given;
  const key = given.targetKey ?? `target ${(made += 1)}`;
  const at = sql.timestamp(new Date(given.atMs ?? Date.now()));
  await database.worker.query(sql.unsafe`
    with message as (
      insert into deliveries (workspace_id, owner_id, target_key, channel, target_masked, kind, status, attempts, latency_ms, text, done_at)
      select ${workspaceId}, ${ownerId}, ${key}, ${channel}, 'o…r@example.com', 'opened', 'sent', 2, 41, 'Shop is down', ${at}
      where ${status} = 'sent' returning id)
    insert into notifications (workspace_id, occasion_id, alert_id, alert_name, event, kind, seq, subject_type, subject_id, title, target_key,
      owner_id, channel, target_masked, status, reason, delivery_id, created_at)
    select ${workspaceId}, ${occasionId}, ${alertId}, 'alert', 'monitor.down', 'opened', 1, ${given.subject?.type ?? null},
      ${given.subject?.id ?? null}, 'Shop is down', ${key}, ${ownerId}, ${channel}, 'o…r@example.com', ${status},
      ${status === 'held' ? 'quiet_hours' : null}, (select id from message), ${at}`);
  await database.worker.query(sql.unsafe`
    insert into alert_told (workspace_id, occasion_id, target_key, alert_id, owner_id, target, state, problem_seq)
    values (${workspaceId}, ${occasionId}, ${key}, ${alertId}, ${ownerId},
      ${JSON.stringify(given.target ?? {})}::jsonb, 'problem', 1) on conflict do nothing`);
}

let made = 0;
