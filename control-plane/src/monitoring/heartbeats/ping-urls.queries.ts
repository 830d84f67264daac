import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { randomKeyHash } from '../../platform/crypto/random-key.ts';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { uuidContext } from './answer.ts';
import { makeUuid } from './make.ts';

/** Whose URLs are exchanged. */
export type Exchanged = 'heartbeat' | 'workspace';

/** A push URL that took the place of an imported one. Only its hash is stored, so this is the one time that it can be shown. */
export type NewPushUrl = { readonly heartbeat_id: number; readonly name: string; readonly token: string };

const lockedRow = z.object({ id: z.number(), name: z.string(), has_push: z.boolean() });

/**
 * Gives one heartbeat, or all of a workspace, a new uuid, and a new push token where there was one. From the commit on no old URL leads to them.
 * @returns how many there were, and the new push tokens
 */
export async function exchangePingUrls(
  scope: Scope,
  tx: Transaction,
  sealer: Pick<Sealer, 'seal'>,
  whose: Exchanged,
  id: number,
): Promise<{ readonly count: number; readonly pushed: readonly NewPushUrl[] }> {
  const named = whose === 'heartbeat' ? sql.fragment`id = ${id}` : sql.fragment`workspace_id = ${id}`;
  const heartbeats = await tx.any(sql.type(lockedRow)`
    select id, name, push_hash is not null as has_push from heartbeats
    where ${named} and workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and deleted_at is null
    order by id for update`);
  const exchanges = heartbeats.map((heartbeat) => ({
    ...heartbeat,
    uuid: makeUuid(),
    token: heartbeat.has_push ? makePushToken() : null,
  }));
  const rows = exchanges.map(({ id: heartbeatId, uuid, token }) => {
    const uuidHash = randomKeyHash(uuid);
    const sealed = sealer.seal(uuid, uuidContext(uuidHash));
    return [heartbeatId, uuidHash, sealed, token === null ? null : randomKeyHash(token)];
  });
  await tx.query(sql.unsafe`
    update heartbeats h set uuid_hash = e.uuid_hash, sealed_uuid = e.sealed_uuid, push_hash = e.push_hash,
      version = version + 1, updated_at = clock_timestamp()
    from ${sql.unnest(rows, ['int4', 'bytea', 'bytea', 'bytea'])} as e (id, uuid_hash, sealed_uuid, push_hash) where h.id = e.id`);
  const pushed = exchanges.flatMap(({ id: heartbeatId, name, token }) =>
    token === null ? [] : [{ heartbeat_id: heartbeatId, name, token }],
  );
  return { count: heartbeats.length, pushed };
}

/** 192 random bits, in the form of the tokens of Uptime Kuma. */
function makePushToken(): string {
  return randomBytes(24).toString('base64url');
}
