import type { BatchHeader, ResultRecord } from './batch.ts';
import { unpackFlags } from './flags.ts';
import { Batch, SignedBatch } from './generated/parallax/probe/v1/results.ts';
import { sizeOfVarint, writeVarint } from './varint.ts';

export type { BatchHeader, ResultPhases, ResultRecord } from './batch.ts';
export { encodeBatch } from './encode-batch.ts';
export { packFlags, unpackFlags } from './flags.ts';

/** Largest serialised batch, and the most results in one. The ingest refuses what is larger. */
export const maxBatchBytes = 128 * 1024;
export const maxBatchResults = 500;
/** What every ingest takes: an agent that was not told of more keeps to it. */
export const leastBatchResults = 100;

/** Sequence numbers that the agent had to drop (full log, damage). Times in microseconds since the epoch. */
export type LostRange = {
  readonly fromSeq: bigint;
  readonly toSeq: bigint;
  readonly fromUs: number;
  readonly toUs: number;
};

export type DecodedBatch =
  | { readonly header: BatchHeader; readonly results: readonly ResultRecord[]; readonly lost?: undefined }
  | { readonly header: BatchHeader; readonly results: readonly []; readonly lost: LostRange };

const minusOne = (value: number | undefined): number | undefined =>
  value === undefined || value === 0 ? undefined : value - 1;

/** Serialises a record of dropped results; unsigned. */
export function encodeLost(header: BatchHeader, lost: LostRange): Uint8Array {
  return Batch.encode(
    Batch.fromPartial({
      ...header,
      lost: {
        fromSeq: lost.fromSeq,
        toSeq: lost.toSeq,
        fromUs: BigInt(lost.fromUs),
        toUs: BigInt(lost.toUs),
      },
    }),
  ).finish();
}

const signedPrefix = Buffer.from('parallax-batch\n');

/** What the Ed25519 signature of a batch covers: a prefix that separates it from every other use of the key, then the batch. */
export function signedContent(batch: Uint8Array): Uint8Array {
  return Buffer.concat([signedPrefix, batch]);
}

/** The message that is published: a `SignedBatch`. */
export function encodeSigned(batch: Uint8Array, signature: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(sizeOfField(batch) + sizeOfField(signature));
  writeField(bytes, writeField(bytes, 0, 1, batch), 2, signature);
  return bytes;
}

/** Bytes of a field that holds bytes and has a number below 16; an empty one is left out. */
function sizeOfField({ length }: Uint8Array): number {
  return length === 0 ? 0 : 1 + sizeOfVarint(length) + length;
}

function writeField(bytes: Buffer, start: number, field: number, value: Uint8Array): number {
  if (value.length === 0) return start;
  const at = writeVarint(bytes, writeVarint(bytes, start, (field << 3) | 2), value.length);
  bytes.set(value, at);
  return at + value.length;
}

/** Splits a published message; the reason when it is none. The signature is not verified here. */
export function decodeSigned(bytes: Uint8Array): SignedBatch | { readonly refused: string } {
  try {
    const signed = SignedBatch.decode(bytes);
    if (signed.signature.length !== 64) return { refused: `signature of ${signed.signature.length} bytes` };
    if (signed.batch.length > maxBatchBytes) return { refused: `batch of ${signed.batch.length} bytes` };
    return signed;
  } catch {
    return { refused: 'not a signed batch' };
  }
}

const maxDurationUs = 4_000_000_000;
/** 2000-01-01 to 2100-01-01: any effective time outside is not a time. */
const earliestUs = 946_684_800_000_000;
const latestUs = 4_102_444_800_000_000;

/** Reads and validates a batch: shape, bounds, known numbers. Whether the probe may send it is for the ingest to say. */
export function decodeBatch(bytes: Uint8Array): DecodedBatch | { readonly refused: string } {
  let batch: Batch;
  try {
    batch = Batch.decode(bytes);
  } catch {
    return { refused: 'not a batch' };
  }
  const header: BatchHeader = {
    probeId: batch.probeId,
    epoch: batch.epoch,
    shard: batch.shard,
    firstSeq: batch.firstSeq,
  };
  if (header.probeId < 1 || header.epoch < 1n || header.shard < 0 || header.firstSeq < 1n) {
    return { refused: 'header out of range' };
  }
  if (batch.lost !== undefined) return decodeLost(header, batch);
  const count = batch.monitorId.length;
  if (count === 0 || count > maxBatchResults) return { refused: `${count} results` };
  const columns = [
    batch.deltaUs,
    batch.probeRevision,
    batch.flags,
    batch.error,
    batch.freshS,
    batch.totalUs,
    batch.dnsUs,
    batch.connectUs,
    batch.tlsUs,
    batch.firstByteUs,
    batch.transferUs,
  ];
  if (columns.some((column) => column.length !== count)) return { refused: 'columns of different length' };
  const evidence = new Map<number, { message: string; json: string }>();
  for (const item of batch.evidence) {
    if (item.index >= count || evidence.has(item.index)) return { refused: 'evidence without its result' };
    evidence.set(item.index, { message: item.message, json: item.evidenceJson.toString('utf8') });
  }
  const results: ResultRecord[] = [];
  let effectiveUs = Number(batch.baseUs);
  for (let index = 0; index < count; index += 1) {
    effectiveUs += Number(batch.deltaUs[index]);
    const flags = unpackFlags(batch.flags[index] ?? 0);
    if (flags === undefined) return { refused: 'unknown outcome or kind' };
    if (!(effectiveUs >= earliestUs && effectiveUs < latestUs)) return { refused: 'effective time out of range' };
    const monitorId = batch.monitorId[index] ?? 0;
    const probeRevision = batch.probeRevision[index] ?? 0;
    if (monitorId < 1 || probeRevision < 1) return { refused: 'monitor or revision out of range' };
    const error = batch.error[index] ?? 0;
    const freshS = batch.freshS[index] ?? 0;
    const totalUs = batch.totalUs[index] ?? 0;
    if (error > 32_767 || freshS < 1 || freshS > 300_000 || totalUs > maxDurationUs) {
      return { refused: 'error, freshness or duration out of range' };
    }
    results.push({
      monitorId,
      effectiveUs,
      probeRevision,
      kind: flags.kind,
      outcome: flags.outcome,
      source: flags.source,
      error,
      freshS,
      totalUs,
      dnsUs: minusOne(batch.dnsUs[index]),
      connectUs: minusOne(batch.connectUs[index]),
      tlsUs: minusOne(batch.tlsUs[index]),
      firstByteUs: minusOne(batch.firstByteUs[index]),
      transferUs: minusOne(batch.transferUs[index]),
      evidence: evidence.get(index),
    });
  }
  return { header, results };
}

function decodeLost(header: BatchHeader, batch: Batch): DecodedBatch | { readonly refused: string } {
  const lost = batch.lost;
  if (lost === undefined || batch.monitorId.length > 0) return { refused: 'results beside a lost range' };
  if (lost.fromSeq !== header.firstSeq || lost.toSeq < lost.fromSeq) return { refused: 'lost range out of order' };
  const fromUs = Number(lost.fromUs);
  const toUs = Number(lost.toUs);
  if (!(fromUs >= 0 && toUs >= fromUs && toUs < latestUs)) return { refused: 'lost times out of range' };
  return { header, results: [], lost: { fromSeq: lost.fromSeq, toSeq: lost.toSeq, fromUs, toUs } };
}
