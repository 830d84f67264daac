import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

/** Notes that a room is being chosen. */
export async function insertRequest(
  scope: Scope,
  tx: Transaction,
  request: {
    readonly stateHash: Buffer;
    readonly browserHash: Buffer;
    readonly sessionId: string;
    readonly lifeMs: number;
  },
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into team_chat_requests (state_hash, browser_hash, user_id, session_id, expires_at)
    values (${sql.binary(request.stateHash)}, ${sql.binary(request.browserHash)}, ${scope.userId}, ${request.sessionId}::uuid,
      now() + ${request.lifeMs} * interval '1 millisecond')`);
}

/** Takes a request that came back, once, in the browser that began it. @returns the user, null when there is none. Before the tenant is known. */
export async function takeRequest(pool: DatabasePool, stateHash: Buffer, browserHash: Buffer): Promise<number | null> {
  return pool.oneFirst(sql.type(z.object({ user_id: z.number().nullable() }))`
    select identity_take_team_chat_request(${sql.binary(stateHash)}, ${sql.binary(browserHash)}) as user_id`);
}

const owner = z.object({ plan: z.enum(['free', 'paid', 'self_hosted']) });

/** The plan of the scope's user. */
export async function planOf(scope: Scope, tx: Transaction): Promise<z.output<typeof owner>['plan']> {
  return tx.oneFirst(sql.type(owner)`select plan from users where id = ${scope.userId}`);
}

/** Removes requests that nobody came back from. */
export async function sweepRequests(worker: DatabasePool): Promise<void> {
  await worker.query(sql.unsafe`delete from team_chat_requests where expires_at < now()`);
}
