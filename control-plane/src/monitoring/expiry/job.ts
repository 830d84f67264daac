import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Context } from '../../context.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { repeat } from '../../platform/repeat.ts';
import type { RunningService } from '../../platform/running-service.ts';
import { expiryNotice } from './due.ts';
import { noteOccasions } from './queries.ts';

/** Thresholds are whole days. */
const lookMs = 60_000;
const atOnce = 500;

/** Tells when a certificate or a domain comes near its end: only time says so. */
export async function startExpiryNotices(context: Context, log: Logger): Promise<RunningService> {
  return repeat({
    everyMs: lookMs,
    work: async (isStopped) => {
      while (!isStopped() && (await tellOnce(context.database.worker, context.now())).ends > 0);
    },
    onError: (error) => log.warn({ err: error }, 'what ends soon was not looked for; tried again'),
  });
}

/** One batch. @returns how many ends it looked at, and how many notices it told */
export async function tellOnce(
  pool: DatabasePool,
  nowMs: number,
): Promise<{ readonly ends: number; readonly told: number }> {
  return pool.transaction(async (transaction) => {
    const { ends, occasions } = await noteOccasions(transaction, nowMs, atOnce);
    await enqueue(transaction, ...occasions.map(expiryNotice));
    return { ends, told: occasions.length };
  });
}
