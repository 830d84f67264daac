import { checkKinds, failureSources, outcomes } from '@parallax/checks';
import type { CheckKind, FailureSource, Outcome } from '@parallax/checks';
import { Batch, SignedBatch } from './generated/parallax/probe/v1/results.ts';

/** Largest serialised batch, and the most results in one. The ingest refuses what is larger. */
export const maxBatchBytes = 128 * 1024;
export const maxBatchResults = 100;

/** Microseconds of the five phases; undefined where a phase did not happen. */
export type ResultPhases = {
  readonly dnsUs?: number | undefined;
  readonly connectUs?: number | undefined;
  readonly tlsUs?: number | undefined;
  readonly firstByteUs?: number | undefined;
  readonly transferUs?: number | undefined;
};

/** One result as it travels from the agent's log to the ingest. */
export type ResultRecord = ResultPhases & {
  readonly monitorId: number;
  /** Effective time: microseconds since the epoch of the start of the check, in server-anchored time. */
  readonly effectiveUs: number;
  readonly probeRevision: number;
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source?: FailureSource | undefined;
  /** Number of `errorCodes`; 0 for none. */
  readonly error: number;
  /** Seconds that the vote stays fresh: `max(10, ceil(2.5 × cadence)) + timeout`. */
  readonly freshS: number;
  readonly totalUs: number;
  /** Only on a first failure and when the error code changes. */
  readonly evidence?: { readonly message: string; readonly json: string } | undefined;
};

/** Where a batch stands in the probe's log. */
export type BatchHeader = {
  readonly probeId: number;
  readonly epoch: bigint;
  readonly shard: number;
  readonly firstSeq: bigint;
};

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

/** Kind in bits 0–1, outcome in bits 2–5, source + 1 in bits 6–7 (0: none). The same number is stored in `check_results.flags`. */
export function packFlags(kind: CheckKind, outcome: Outcome, source: FailureSource | undefined): number {
  const sourceBits = source === undefined ? 0 : failureSources.indexOf(source) + 1;
  return checkKinds.indexOf(kind) | (outcomes.indexOf(outcome) << 2) | (sourceBits << 6);
}

/** The reverse of `packFlags` for eight bits; undefined for a number that no agent of this version writes. */
export function unpackFlags(flags: number): UnpackedFlags | undefined {
  return unpacked[flags];
}

type UnpackedFlags = {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source: FailureSource | undefined;
};

// Made once: the ingest asks for every result.
const unpacked = Array.from({ length: 256 }, (_, flags): UnpackedFlags | undefined => {
  const kind = checkKinds[flags & 3];
  const outcome = outcomes[(flags >> 2) & 15];
  const sourceBits = (flags >> 6) & 3;
  if (kind === undefined || outcome === undefined) return undefined;
  return { kind, outcome, source: sourceBits === 0 ? undefined : failureSources[sourceBits - 1] };
});

const plusOne = (value: number | undefined): number => (value === undefined ? 0 : value + 1);
const minusOne = (value: number | undefined): number | undefined =>
  value === undefined || value === 0 ? undefined : value - 1;

/** Serialises results of one `(epoch, shard)` in order of their sequence; unsigned. */
export function encodeBatch(header: BatchHeader, results: readonly ResultRecord[]): Uint8Array {
  const baseUs = results[0]?.effectiveUs ?? 0;
  let previousUs = baseUs;
  const batch: Batch = {
    ...header,
    baseUs: BigInt(baseUs),
    monitorId: [],
    deltaUs: [],
    probeRevision: [],
    flags: [],
    error: [],
    freshS: [],
    totalUs: [],
    dnsUs: [],
    connectUs: [],
    tlsUs: [],
    firstByteUs: [],
    transferUs: [],
    evidence: [],
    lost: undefined,
  };
  results.forEach((result, index) => {
    batch.monitorId.push(result.monitorId);
    batch.deltaUs.push(BigInt(result.effectiveUs - previousUs));
    previousUs = result.effectiveUs;
    batch.probeRevision.push(result.probeRevision);
    batch.flags.push(packFlags(result.kind, result.outcome, result.source));
    batch.error.push(result.error);
    batch.freshS.push(result.freshS);
    batch.totalUs.push(result.totalUs);
    batch.dnsUs.push(plusOne(result.dnsUs));
    batch.connectUs.push(plusOne(result.connectUs));
    batch.tlsUs.push(plusOne(result.tlsUs));
    batch.firstByteUs.push(plusOne(result.firstByteUs));
    batch.transferUs.push(plusOne(result.transferUs));
    if (result.evidence !== undefined) {
      batch.evidence.push({ index, message: result.evidence.message, evidenceJson: Buffer.from(result.evidence.json) });
    }
  });
  return Batch.encode(batch).finish();
}

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

/** What the Ed25519 signature of a batch covers: a prefix that separates it from every other use of the key, then the batch. */
export function signedContent(batch: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('parallax-batch\n'), batch]);
}

/** The message that is published. */
export function encodeSigned(batch: Uint8Array, signature: Uint8Array): Uint8Array {
  return SignedBatch.encode({ batch: Buffer.from(batch), signature: Buffer.from(signature) }).finish();
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
