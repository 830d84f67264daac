import type pg from 'pg';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../control-plane/src/platform/database/pools.ts';
import {
  beginClaim,
  claimDeliveries,
  claimStatement,
} from '../../../control-plane/src/response/webhooks/sending/claim.queries.ts';
import { noteDeliveries } from '../../../control-plane/src/response/webhooks/sending/outcomes.queries.ts';
import { median, percentile } from '../agent/lateness.ts';
import { fillQueue } from './fill.ts';

const room = { all: 512, slow: 128, full: new Set<number>() };

/** What claims take while much waits, the outcome of each noted before the next. @throws Error when a claim reads a whole table */
export async function measureClaims(
  database: { readonly owner: pg.Pool; readonly worker: pg.Pool; readonly readers: DatabasePool },
  { queued, claims }: { readonly queued: number; readonly claims: number },
) {
  const { readers } = database;
  await fillQueue(database.worker, queued);
  await database.owner.query('analyze');
  const lines = await planOf(readers);
  const scan = lines.find((line) => line.includes('Seq Scan'));
  if (scan !== undefined) throw new Error(`a claim reads a whole table (${scan.trim()}):\n${lines.join('\n')}`);
  const times: number[] = [];
  let claimed = 0;
  for (let n = 0; n < claims; n += 1) {
    const beganMs = performance.now();
    const some = await claimDeliveries(readers, 'bench', Date.now(), room);
    times.push(performance.now() - beganMs);
    claimed += some.length;
    const atMs = Date.now();
    await noteDeliveries(
      readers,
      'bench',
      some.map((one) => ({
        id: one.id,
        workspaceId: one.workspace_id,
        webhookId: one.webhook_id,
        tries: one.tries,
        attempt: {
          atMs,
          durationMs: 5,
          statusCode: 200,
          errorCode: null,
          error: null,
          answer: 'ok',
          retryAfterMs: undefined,
        },
        outcome: { state: 'delivered' },
      })),
    );
  }
  return {
    claim_p99_ms: round(percentile(times, 0.99)),
    claim_p50_ms: round(median(times)),
    claimed: Math.round(claimed / claims),
  };
}

async function planOf(pool: DatabasePool): Promise<readonly string[]> {
  const plan = await pool.transaction(async (transaction) => {
    await transaction.query(beginClaim);
    return transaction.any(sql.type(z.object({ 'QUERY PLAN': z.string() }))`
      explain (costs off) ${claimStatement('bench', Date.now(), room)}`);
  });
  return plan.map((row) => row['QUERY PLAN']);
}

const round = (value: number): number => Math.round(value * 10) / 10;
