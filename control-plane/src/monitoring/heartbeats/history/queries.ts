import { signalKinds } from '@parallax/api-contract';
import type { SignalKind } from '@parallax/api-contract';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { uncountedSince } from '../../intake-watch/index.ts';
import { keptBodies } from '../intake/queries.ts';

const pingRow = z.object({
  n: z.bigint().transform(Number),
  at: z.number(),
  kind: z.enum(signalKinds),
  exit_code: z.number().nullable(),
  rid: z.string().nullable(),
  duration_ms: z
    .bigint()
    .nullable()
    .transform((ms) => (ms === null ? null : Number(ms))),
  payload: z.unknown(),
  body: z.string().nullable(),
  is_cut: z.boolean(),
  method: z.string(),
  remote_address: z.string(),
  warnings: z.array(z.string()),
});
export type PingRow = z.output<typeof pingRow>;

const ofScope = (scope: Scope) => sql.fragment`p.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')})`;

/** Signals are shown, and kept, for so long. */
export const keptDays = 90;

/** A page of the signals of a heartbeat of the scope, newest first, and how many there are. */
export async function pingsPage(
  scope: Scope,
  connection: CommonQueryMethods,
  filter: {
    readonly id: number;
    readonly kind?: SignalKind | undefined;
    readonly page: number;
    readonly page_size: number;
  },
): Promise<{ readonly rows: readonly PingRow[]; readonly total: number }> {
  const matching = sql.fragment`from heartbeat_pings p
    join heartbeats h on h.id = p.heartbeat_id
    left join heartbeat_bodies b on b.heartbeat_id = p.heartbeat_id and b.slot = p.n % ${keptBodies} and b.n = p.n and p.n > h.pings - ${keptBodies}
    where p.heartbeat_id = ${filter.id} and ${ofScope(scope)} and p.at > clock_timestamp() - ${keptDays} * interval '1 day'
      and (${filter.kind ?? null}::text is null or p.kind = ${filter.kind ?? null})`;
  const total = await connection.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n ${matching}`,
  );
  const rows = await connection.any(sql.type(pingRow)`
    select p.n, p.at, p.kind, p.exit_code, p.rid, p.duration_ms, b.payload, b.body, coalesce(b.is_cut, false) as is_cut, p.method,
      p.remote_address, p.warnings
    ${matching} order by p.n desc limit ${filter.page_size} offset ${(filter.page - 1) * filter.page_size}`);
  return { rows, total };
}

const countsRow = z.object({
  ...Object.fromEntries(signalKinds.map((kind) => [kind, z.number()])),
  overlaps: z.number(),
  least: z.bigint().nullable(),
  average: z.number().nullable(),
  most: z.bigint().nullable(),
});

/** How many signals of each kind a heartbeat of the scope has sent since a time, and how long its runs took. */
export async function countPings(
  scope: Scope,
  connection: CommonQueryMethods,
  id: number,
  fromMs: number,
): Promise<{
  readonly counts: Readonly<Record<SignalKind, number>>;
  readonly overlaps: number;
  readonly durationMs: {
    readonly minimum: number | null;
    readonly average: number | null;
    readonly maximum: number | null;
  };
}> {
  const kinds = sql.join(
    signalKinds.map(
      (kind) => sql.fragment`(count(*) filter (where p.kind = ${kind}))::integer as ${sql.identifier([kind])}`,
    ),
    sql.fragment`, `,
  );
  const row = await connection.one(sql.type(countsRow)`
    select ${kinds}, (count(*) filter (where 'overlap' = any(p.warnings)))::integer as overlaps,
      min(p.duration_ms) as least, avg(p.duration_ms)::float8 as average, max(p.duration_ms) as most
    from heartbeat_pings p
    where p.heartbeat_id = ${id} and ${ofScope(scope)} and p.at >= ${sql.timestamp(new Date(fromMs))}`);
  const { overlaps, least, average, most, ...counts } = row;
  return {
    counts: counts as unknown as Record<SignalKind, number>,
    overlaps,
    durationMs: {
      minimum: least === null ? null : Number(least),
      average: average === null ? null : Math.round(average),
      maximum: most === null ? null : Number(most),
    },
  };
}

const spanRow = z.object({ started_at: z.number(), ended_at: z.number().nullable(), status: z.enum(['up', 'down']) });

/** Ranges of a heartbeat of the scope that reach beyond a time, oldest first, and times that count neither way, without overlaps. */
export async function timelineSince(scope: Scope, connection: CommonQueryMethods, id: number, fromMs: number) {
  const rows = await connection.any(sql.type(spanRow)`
    select p.started_at, p.ended_at, p.status from heartbeat_ranges p
    where p.heartbeat_id = ${id} and ${ofScope(scope)} and (p.ended_at is null or p.ended_at > ${sql.timestamp(new Date(fromMs))})
    order by p.started_at`);
  return {
    ranges: rows.map((row) => ({ startedMs: row.started_at, endedMs: row.ended_at, status: row.status })),
    uncounted: await uncountedSince(connection, { type: 'heartbeat', id }, fromMs),
  };
}

/** Removes a batch of what is too old, and of what deleted heartbeats have left. For the worker login. @returns how many rows */
export async function sweepOnce(worker: DatabasePool): Promise<number> {
  const old = await worker.query(sql.unsafe`
    delete from heartbeat_pings where (heartbeat_id, n) in (
      select heartbeat_id, n from heartbeat_pings where at < now() - ${keptDays} * interval '1 day' limit 5000)`);
  const orphaned = await worker.query(sql.unsafe`
    delete from heartbeat_pings where (heartbeat_id, n) in (
      select p.heartbeat_id, p.n from heartbeats h join heartbeat_pings p on p.heartbeat_id = h.id
      where h.deleted_at is not null limit 5000)`);
  const ranges = await worker.query(sql.unsafe`
    delete from heartbeat_ranges where (heartbeat_id, started_at) in (
      select heartbeat_id, started_at from heartbeat_ranges where ended_at < now() - interval '2 years' limit 5000)`);
  await worker.query(sql.unsafe`delete from intake_outages where to_at < now() - interval '2 years'`);
  await worker.query(sql.unsafe`
    delete from heartbeat_bodies where heartbeat_id in (select id from heartbeats where deleted_at is not null limit 100)`);
  await worker.query(sql.unsafe`
    delete from heartbeat_ranges where heartbeat_id in (select id from heartbeats where deleted_at is not null limit 100)`);
  // A batch of signals that was under way at the deletion has ended by then.
  const gone = await worker.query(sql.unsafe`
    delete from heartbeats h where h.id in (
      select d.id from heartbeats d
      where d.deleted_at < now() - interval '60 seconds'
        and not exists (select from heartbeat_pings p where p.heartbeat_id = d.id)
        and not exists (select from heartbeat_bodies b where b.heartbeat_id = d.id)
        and not exists (select from heartbeat_ranges r where r.heartbeat_id = d.id)
      limit 100)`);
  return old.rowCount + orphaned.rowCount + ranges.rowCount + gone.rowCount;
}
