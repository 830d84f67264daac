import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueueHeld } from '../../../platform/outbox/enqueue.ts';
import type { Address } from '../signals/address.ts';
import { stateAssignments, stateColumns, stateNames, stateTypes, writeRanges } from '../stored/queries.ts';
import type { Found } from './offer.ts';
import type { Folded } from './verdict.ts';

const foundRow = z.object({
  place: z.bigint(),
  workspace_id: z.number().nullable(),
  heartbeat_id: z.number().nullable(),
  secret_hash: z.instanceof(Buffer).nullable(),
  require_secret: z.boolean().nullable(),
});

/** Where addresses lead, in their order, by one statement for all. @param hashOf of a uuid or a token */
export async function findAddressed(
  pool: DatabasePool,
  addresses: readonly Address[],
  hashOf: (secret: string) => Buffer,
): Promise<readonly Found[]> {
  const column = <Value>(of: (address: Address) => Value | null) => addresses.map(of);
  const rows = await pool.any(sql.type(foundRow)`
    select place, workspace_id, heartbeat_id, secret_hash, require_secret
    from identity_heartbeats_addressed(
      ${sql.array(
        column((one) => (one.by === 'slug' ? one.pingKey : null)),
        'text',
      )},
      ${sql.array(
        column((one) => (one.by === 'slug' ? one.slug : null)),
        'text',
      )},
      ${sql.array(
        column((one) => (one.by === 'uuid' ? hashOf(one.uuid) : none)),
        'bytea',
      )},
      ${sql.array(
        column((one) => (one.by === 'push' ? hashOf(one.token) : none)),
        'bytea',
      )})`);
  const found: Found[] = addresses.map(() => unknown);
  for (const row of rows) {
    found[Number(row.place) - 1] = {
      workspaceId: row.workspace_id,
      heartbeatId: row.heartbeat_id,
      secretHash: row.secret_hash,
      requireSecret: row.require_secret ?? true,
    };
  }
  return found;
}

/** No hash is empty. Arrays of bytes take no null. */
const none = Buffer.alloc(0);
const unknown: Found = { workspaceId: null, heartbeatId: null, secretHash: null, requireSecret: true };

/** Writes what a batch made of heartbeats whose rows the caller holds: each row once, and its signals, bodies, ranges and news. */
export async function writeFolded(tx: Transaction, folded: readonly Folded[]): Promise<void> {
  const changed = folded.filter(({ recorded }) => recorded.length > 0);
  if (changed.length === 0) return;
  const heartbeats = changed.map(({ heartbeat, after, recorded, countedMinute, counted }) => [
    heartbeat.id,
    ...stateColumns(after),
    heartbeat.pings + recorded.length,
    countedMinute,
    counted,
  ]);
  const ids = changed.map(({ heartbeat }) => heartbeat.id);
  const pings = changed.flatMap(({ heartbeat, recorded }) =>
    recorded.map(({ offer, n, decided }) => [
      heartbeat.id,
      n,
      heartbeat.workspace_id,
      offer.atMs / 1_000,
      decided.kind,
      offer.said.exitCode,
      offer.rid,
      decided.durationMs === null ? null : Math.round(decided.durationMs),
      offer.method,
      offer.remoteAddress.slice(0, 64),
      [...offer.body.warnings, ...(offer.isRidWrong ? ['rid_ignored'] : []), ...decided.warnings].join(','),
    ]),
  );
  await tx.query(sql.unsafe`
    with written as (
      update heartbeats h set ${stateAssignments}, pings = c.pings, counted_minute = c.counted_minute, counted = c.counted
      from ${sql.unnest(heartbeats, ['int4', ...stateTypes, 'int8', 'int8', 'int4'])}
        as c (id, ${stateNames}, pings, counted_minute, counted)
      -- Named once more, so that rows are found by their key: policies make every row that is looked at dear.
      where h.id = c.id and h.id = any(${sql.array(ids, 'int4')})
    )
    insert into heartbeat_pings (heartbeat_id, n, workspace_id, at, kind, exit_code, rid, duration_ms, method, remote_address, warnings)
    select p.heartbeat_id, p.n, p.workspace_id, to_timestamp(p.at), p.kind, p.exit_code, p.rid, p.duration_ms, p.method, p.remote_address,
      case when p.warnings = '' then '{}' else string_to_array(p.warnings, ',') end
    from ${sql.unnest(pings, ['int4', 'int8', 'int4', 'float8', 'text', 'int2', 'uuid', 'int8', 'text', 'text', 'text'])}
      as p (heartbeat_id, n, workspace_id, at, kind, exit_code, rid, duration_ms, method, remote_address, warnings)`);
  await writeBodies(tx, changed);
  await writeRanges(
    tx,
    changed.flatMap(({ heartbeat, ranges }) =>
      ranges.map((edit) => ({ heartbeatId: heartbeat.id, workspaceId: heartbeat.workspace_id, edit })),
    ),
  );
  // Whoever holds a heartbeat's row is the only one that tells of it.
  await enqueueHeld(
    tx,
    changed.flatMap(({ entries }) => entries),
  );
}

/** Bodies that are kept of a heartbeat: each takes the place of the one so many signals before it. */
export const keptBodies = 100;

async function writeBodies(tx: Transaction, changed: readonly Folded[]): Promise<void> {
  const bySlot = new Map(
    changed.flatMap(({ heartbeat, recorded }) =>
      recorded.flatMap(({ offer: { body }, n }) =>
        body.text === null
          ? []
          : [
              [
                `${heartbeat.id} ${n % keptBodies}`,
                [
                  heartbeat.id,
                  n % keptBodies,
                  heartbeat.workspace_id,
                  n,
                  body.text,
                  body.isCut,
                  body.payload === null ? null : JSON.stringify(body.payload),
                ],
              ] as const,
            ],
      ),
    ),
  );
  if (bySlot.size === 0) return;
  await tx.query(sql.unsafe`
    insert into heartbeat_bodies (heartbeat_id, slot, workspace_id, n, body, is_cut, payload)
    select heartbeat_id, slot, workspace_id, n, body, is_cut, payload::jsonb
    from ${sql.unnest([...bySlot.values()], ['int4', 'int2', 'int4', 'int8', 'text', 'bool', 'text'])}
      as b (heartbeat_id, slot, workspace_id, n, body, is_cut, payload)
    on conflict (heartbeat_id, slot) do update set n = excluded.n, body = excluded.body, is_cut = excluded.is_cut, payload = excluded.payload`);
}
