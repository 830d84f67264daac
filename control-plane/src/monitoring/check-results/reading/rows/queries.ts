import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import { fallbackFlag } from '../../flags.ts';
import { noPhase } from '../../packed/columns.ts';
import { blockOfBytes, int32, timestampUs } from '../block.ts';
import type { ResultBlock } from '../block.ts';
import type { KeptEvidence } from '../result-item.ts';
import { isoOfUs } from '../time.ts';
import type { Span } from '../time.ts';
import type { WantedProbes } from '../window.ts';

/*
 * Rows leave the database as one value for all of them, put together from the binary forms of their columns: as rows of text they would cost
 * both sides several times as much.
 */

/** Which results of a monitor are meant. */
export type RowFilter = {
  readonly probeId?: WantedProbes;
  /** Whether manual checks and those of the control plane beside probes are; true unless told otherwise. */
  readonly includeManual?: boolean | undefined;
};

function matching(monitorId: number, { fromUs, toUs }: Span, filter: RowFilter) {
  return sql.fragment`r.monitor_id = ${monitorId} and r.e >= ${isoOfUs(fromUs)} and r.e < ${isoOfUs(toUs)} and ${ofKind(filter)}`;
}

/** SQL for a column being one of the wanted probes. */
export function ofProbe(column: ReturnType<typeof sql.fragment>, probes: WantedProbes) {
  if (probes === undefined) return sql.fragment`true`;
  return typeof probes === 'number'
    ? sql.fragment`${column} = ${probes}`
    : sql.fragment`${column} = any (${sql.array(probes, 'int4')})`;
}

function ofKind({ probeId, includeManual }: RowFilter) {
  const isOfProbe = ofProbe(sql.fragment`r.probe_id`, probeId);
  // Kind is in the two lowest bits, 2 being manual.
  const isAutomatic = sql.fragment`r.flags & 3 <> 2 and r.flags & ${fallbackFlag} = 0`;
  return includeManual === false ? sql.fragment`${isOfProbe} and ${isAutomatic}` : isOfProbe;
}

/** Read by `blockOfBytes`. */
const packedRow = sql.fragment`timestamptz_send(r.e) || timestamptz_send(r.received_at) || int4send(r.probe_id)
  || int4send(r.probe_revision) || int4send(r.flags) || int4send(r.fresh_s) || int4send(r.total_us)
  || int4send(coalesce(r.dns_us, ${noPhase})) || int4send(coalesce(r.connect_us, ${noPhase}))
  || int4send(coalesce(r.tls_us, ${noPhase})) || int4send(coalesce(r.first_byte_us, ${noPhase}))
  || int4send(coalesce(r.transfer_us, ${noPhase})) || int4send(r.error)`;

/** Where rows begin, read by `timestampUs`; 1970 where all results are rows. */
export const hotFrom = sql.fragment`(select timestamptz_send(greatest(hot_from, 'epoch')) from result_storage) as hot_from`;

const nothing = Buffer.alloc(0);
/** What `string_agg` gives; null of nothing. */
export const bytesColumn = z
  .instanceof(Buffer)
  .nullable()
  .transform((found) => found ?? nothing);
const blob = z.object({ bytes: bytesColumn });

/** The hot rows of a span, newest first, ties by probe, receipt, flags and duration. @returns them in order of time */
export async function newestRows(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  filter: RowFilter & { readonly skip: number; readonly take: number },
): Promise<ResultBlock> {
  const { bytes } = await connection.one(sql.type(blob)`
    select string_agg(${packedRow}, ''::bytea order by r.e, r.probe_id, r.received_at, r.flags, r.total_us) as bytes
    from (
      select * from check_results r where ${matching(monitorId, span, filter)}
      order by r.e desc, r.probe_id desc, r.received_at desc, r.flags desc, r.total_us desc
      limit ${filter.take} offset ${filter.skip}
    ) r`);
  return blockOfBytes(bytes);
}

/** The oldest hot rows of a span, in order of time, and from where on there are rows at all. */
export async function oldestRows(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  filter: RowFilter & { readonly take: number },
): Promise<{ readonly block: ResultBlock; readonly hotFromUs: number }> {
  const found = await connection.one(sql.type(blob.extend({ hot_from: z.instanceof(Buffer) }))`
    select string_agg(${packedRow}, ''::bytea) as bytes, ${hotFrom}
    from (
      select * from check_results r where ${matching(monitorId, span, filter)}
      order by r.e, r.probe_id, r.received_at, r.flags, r.total_us limit ${filter.take}
    ) r`);
  return { block: blockOfBytes(found.bytes), hotFromUs: timestampUs(found.hot_from, 0) };
}

/** What summaries need of a row. */
export type CountedRow = {
  readonly eUs: number;
  readonly probeId: number;
  readonly flags: number;
  readonly totalUs: number;
};

const countedBytes = 8 + 3 * 4;

const counted = sql.fragment`string_agg(
  timestamptz_send(r.e) || int8send(r.probe_id::bigint << 32 | r.flags::bigint) || int4send(r.total_us), ''::bytea)`;

/** The rows from a place in the bytes to their end. */
export function countedOf(bytes: Buffer, from = 0): CountedRow[] {
  const rows: CountedRow[] = [];
  for (let at = from; at < bytes.length; at += countedBytes) {
    rows.push({
      eUs: timestampUs(bytes, at),
      probeId: int32(bytes, at + 8),
      flags: int32(bytes, at + 12),
      totalUs: int32(bytes, at + 16),
    });
  }
  return rows;
}

/** The oldest hot rows of a span, in order of time, as summaries need them. */
export async function oldestCounted(
  connection: CommonQueryMethods,
  monitorId: number,
  span: Span,
  filter: RowFilter & { readonly take: number },
): Promise<CountedRow[]> {
  const { bytes } = await connection.one(sql.type(blob)`
    select ${counted} as bytes from (
      select r.e, r.probe_id, r.flags, r.total_us from check_results r where ${matching(monitorId, span, filter)}
      order by r.e limit ${filter.take}
    ) r`);
  return countedOf(bytes);
}

/** How many hot rows each of the spans holds. */
export async function countRows(
  connection: CommonQueryMethods,
  monitorId: number,
  spans: readonly Span[],
  filter: RowFilter,
): Promise<number[]> {
  if (spans.length === 0) return [];
  const bounds = spans.map(({ fromUs, toUs }) => [isoOfUs(fromUs), isoOfUs(toUs)]);
  const found = await connection.anyFirst(sql.type(z.object({ count: z.bigint() }))`
    select (select count(*) from check_results r
      where r.monitor_id = ${monitorId} and r.e >= span.from_at and r.e < span.to_at and ${ofKind(filter)}) as count
    from ${sql.unnest(bounds, ['timestamptz', 'timestamptz'])} with ordinality as span (from_at, to_at, place)
    order by span.place`);
  return found.map(Number);
}

/** A packed hour of one probe. */
export type StoredChunk = { readonly hour: number; readonly probeId: number; readonly chunk: Buffer };

const chunkRow = z.object({ hour: z.number(), probe_id: z.number(), chunk: z.instanceof(Buffer) });

/** The chunks of some hours, in any order. */
export async function chunksOf(
  connection: CommonQueryMethods,
  monitorId: number,
  hours: readonly number[],
  probeId: WantedProbes,
): Promise<StoredChunk[]> {
  if (hours.length === 0) return [];
  const least = Math.min(...hours);
  const most = Math.max(...hours);
  // The bounds tell the planner which partitions there is nothing in.
  const found = await connection.any(sql.type(chunkRow)`
    select h.hour, h.probe_id, h.chunk from result_hours h
    where h.monitor_id = ${monitorId} and h.hour = any (${sql.array(hours, 'int4')})
      and h.hour >= ${least} and h.hour <= ${most} and ${ofProbe(sql.fragment`h.probe_id`, probeId)}`);
  return found.map((row) => ({ hour: row.hour, probeId: row.probe_id, chunk: row.chunk }));
}

/** The chunks of the oldest `take` packed hours from an hour on and below another one, of every probe in it. */
export async function oldestChunks(
  connection: CommonQueryMethods,
  monitorId: number,
  { fromHour, toHour, probeId, take }: { fromHour: number; toHour: number; probeId: WantedProbes; take: number },
): Promise<StoredChunk[]> {
  const found = await connection.any(sql.type(chunkRow)`
    select h.hour, h.probe_id, h.chunk from result_hours h
    where h.monitor_id = ${monitorId} and h.hour >= ${fromHour} and h.hour < ${toHour} and ${ofProbe(sql.fragment`h.probe_id`, probeId)}
    order by h.hour, h.probe_id limit ${take}`);
  return found.map((row) => ({ hour: row.hour, probeId: row.probe_id, chunk: row.chunk }));
}

/** From where on results stand in `check_results`, in microseconds; 0 for all of them. */
export async function hotFromUs(connection: CommonQueryMethods): Promise<number> {
  const at = await connection.oneFirst(sql.type(z.object({ hot_from: z.instanceof(Buffer) }))`select ${hotFrom}`);
  return timestampUs(at, 0);
}

const keptRow = z.object({ at: z.number(), message: z.string(), evidence: z.unknown() });

/** What was kept beside results of a block, by their index in it. */
export async function keptEvidence(
  connection: CommonQueryMethods,
  monitorId: number,
  block: ResultBlock,
): Promise<ReadonlyMap<number, KeptEvidence>> {
  if (block.rows.length === 0) return new Map();
  const keys = Array.from({ length: block.rows.length }, (_, at) => [
    at,
    isoOfUs(block.rows.eUs[at] ?? 0),
    block.probeIds[at] ?? 0,
  ]);
  const found = await connection.any(sql.type(keptRow)`
    select k.at, v.message, v.evidence from ${sql.unnest(keys, ['int4', 'timestamptz', 'int4'])} as k (at, e, probe_id)
    cross join lateral (
      select message, evidence from result_evidence v
      where v.monitor_id = ${monitorId} and v.e = k.e and v.probe_id = k.probe_id limit 1
    ) v`);
  return new Map(found.map(({ at, message, evidence }) => [at, { message, evidence }]));
}
