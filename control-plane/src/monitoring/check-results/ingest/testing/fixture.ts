import { createHash } from 'node:crypto';
import { createEd25519Pair, signEd25519 } from '@parallax/pki';
import { encodeBatch, encodeLost, encodeSigned, signedContent } from '@parallax/wire';
import type { ResultRecord } from '@parallax/wire';
import type pg from 'pg';

/** For tests and benches: a probe with its key. */
export type FixtureProbe = {
  readonly id: number;
  readonly region: string;
  readonly seed: Uint8Array;
};

/** For tests and benches: one account with one workspace. */
export async function insertWorkspace(pool: pg.Pool, shards = 1): Promise<{ userId: number; workspaceId: number }> {
  await pool.query(`insert into shards (shard) select generate_series(0, $1::integer - 1) on conflict do nothing`, [
    shards,
  ]);
  const user = await pool.query<{ id: number }>(
    `insert into users (email, password_hash, plan) values ('owner@example.com', 'x', 'self_hosted') returning id`,
  );
  const userId = user.rows[0]?.id ?? 0;
  const workspace = await pool.query<{ id: number }>(
    `insert into workspaces (owner_id, name, ping_key) values ($1, 'default', 'key') returning id`,
    [userId],
  );
  return { userId, workspaceId: workspace.rows[0]?.id ?? 0 };
}

export async function insertProbe(pool: pg.Pool, region: string): Promise<FixtureProbe> {
  const pair = createEd25519Pair();
  const found = await pool.query<{ id: number }>(
    'insert into probes (name, region, signing_public_key, last_seen_at) values ($1, $1, $2, now()) returning id',
    [region, Buffer.from(pair.publicKey)],
  );
  return { id: found.rows[0]?.id ?? 0, region, seed: pair.seed };
}

export type FixtureMonitors = {
  readonly count: number;
  readonly probes: readonly FixtureProbe[];
  readonly createdMs: number;
  readonly shard?: number;
  readonly intervalS?: number;
  readonly timeoutS?: number;
  readonly confirmations?: number;
};

/** Monitors with their history, each assigned to all the probes. */
export async function insertMonitors(
  pool: pg.Pool,
  owner: { readonly userId: number; readonly workspaceId: number },
  options: FixtureMonitors,
): Promise<number[]> {
  const { count, probes, shard = 0, intervalS = 60, timeoutS = 10, confirmations = 2 } = options;
  const created = new Date(options.createdMs);
  const found = await pool.query<{ id: number }>(
    `insert into monitors (workspace_id, owner_id, shard, name, url, protocol, interval_seconds, timeout_seconds, confirmations, created_at)
     select $1, $2, $3, gen_random_uuid()::text, 'http://localhost/', 'http', $4, $5, $6, $7 from generate_series(1, $8)
     returning id`,
    [owner.workspaceId, owner.userId, shard, intervalS, timeoutS, confirmations, created, count],
  );
  const ids = found.rows.map((row) => row.id);
  await pool.query(
    `insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
     select id, $2, 1, 1, $3, '"majority"', $4, $5 from unnest($1::integer[]) as id`,
    [ids, created, confirmations, intervalS, timeoutS],
  );
  await pool.query(
    `insert into assignments (monitor_id, probe_id, region, started_at, revision)
     select m.id, probe.id, probe.region, $4, row_number() over (partition by probe.id order by m.id)
     from unnest($1::integer[]) as m (id), unnest($2::integer[], $3::text[]) as probe (id, region)`,
    [ids, probes.map((probe) => probe.id), probes.map((probe) => probe.region), created],
  );
  return ids;
}

/** A result that answered; give what differs. */
export function result(monitorId: number, effectiveUs: number, changed: Partial<ResultRecord> = {}): ResultRecord {
  return {
    monitorId,
    effectiveUs,
    probeRevision: 1,
    kind: 'scheduled',
    outcome: 'ok',
    error: 0,
    freshS: 160,
    totalUs: 23_000,
    dnsUs: 1_000,
    connectUs: 2_000,
    tlsUs: 12_000,
    firstByteUs: 7_500,
    transferUs: 500,
    ...changed,
  };
}

export type FixturePlace = { readonly epoch: number; readonly shard: number; readonly firstSeq: number };

/** A signed message as the probe publishes it. */
export function message(
  probe: FixtureProbe,
  place: FixturePlace,
  results: readonly ResultRecord[],
  as = probe.id,
): Uint8Array {
  const header = { probeId: as, epoch: BigInt(place.epoch), shard: place.shard, firstSeq: BigInt(place.firstSeq) };
  return signed(probe, encodeBatch(header, results));
}

/** A signed record of dropped results. */
export function lostMessage(
  probe: FixtureProbe,
  place: FixturePlace,
  lost: { readonly toSeq: number; readonly fromUs: number; readonly toUs: number },
): Uint8Array {
  const header = {
    probeId: probe.id,
    epoch: BigInt(place.epoch),
    shard: place.shard,
    firstSeq: BigInt(place.firstSeq),
  };
  return signed(
    probe,
    encodeLost(header, {
      fromSeq: header.firstSeq,
      toSeq: BigInt(lost.toSeq),
      fromUs: lost.fromUs,
      toUs: lost.toUs,
    }),
  );
}

function signed(probe: FixtureProbe, batch: Uint8Array): Uint8Array {
  return encodeSigned(batch, signEd25519(probe.seed, signedContent(batch)));
}

/** SHA-256, as poison is recorded. */
export const digestOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');
