import { encodeBatch, encodeLost, maxBatchBytes } from '@parallax/wire';
import type { ResultRecord } from '@parallax/wire';
import type { LogRead } from './log-reader.ts';

/** A batch ready to be signed, and the last sequence number in it. */
export type EncodedBatch = { readonly bytes: Uint8Array; readonly toSeq: number };

/**
 * Encodes what was read from the log, from `fromSeq` on. When it would be larger than the ingest takes, fewer results go into it; a single
 * result that is too large travels without its evidence.
 */
export function encodeRead(
  place: { readonly probeId: number; readonly epoch: number; readonly shard: number; readonly fromSeq: number },
  read: NonNullable<LogRead>,
): EncodedBatch {
  const header = {
    probeId: place.probeId,
    epoch: BigInt(place.epoch),
    shard: place.shard,
    firstSeq: BigInt(place.fromSeq),
  };
  if (read.lost !== undefined) {
    const { lost } = read;
    const fromUs = Math.max(0, lost.fromUs);
    const bytes = encodeLost(header, {
      fromSeq: BigInt(place.fromSeq),
      toSeq: BigInt(lost.toSeq),
      fromUs,
      toUs: Math.max(fromUs, lost.toUs),
    });
    return { bytes, toSeq: lost.toSeq };
  }
  let results: readonly ResultRecord[] = read.results;
  for (;;) {
    const bytes = encodeBatch(header, results);
    if (bytes.length <= maxBatchBytes) return { bytes, toSeq: place.fromSeq + results.length - 1 };
    if (results.length > 1) results = results.slice(0, Math.ceil(results.length / 2));
    else results = results.map((result) => ({ ...result, evidence: undefined }));
  }
}
