import { errorCodeOf } from '@parallax/checks';
import type { CheckKind, ErrorCode, FailureSource, Outcome } from '@parallax/checks';
import { unpackFlags } from '@parallax/wire';
import type { StoredResult } from '../../consensus/index.ts';
import { centralFlag, fallbackFlag, lateFlag } from '../flags.ts';
import type { ResultBlock } from './block.ts';

/** One stored result as readers see it. Times in whole milliseconds since the epoch, rounded down; durations in whole microseconds. */
export type ResultItem = {
  readonly monitorId: number;
  /** 0: the control plane itself. */
  readonly probeId: number;
  /** Effective time: the start of the check. */
  readonly effectiveMs: number;
  readonly receivedMs: number;
  readonly probeRevision: number;
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source: FailureSource | undefined;
  /** A code of `errorCodes`; undefined for none and for codes of a newer version. */
  readonly code: ErrorCode | undefined;
  /** Run by the control plane and not by a probe. */
  readonly central: boolean;
  /** Run by the control plane beside probes that could not vote. */
  readonly fallback: boolean;
  /** Arrived more than 15 s after its check had ended. */
  readonly late: boolean;
  /** Seconds that its vote stays fresh. */
  readonly freshS: number;
  readonly totalUs: number;
  readonly dnsUs: number | null;
  readonly connectUs: number | null;
  readonly tlsUs: number | null;
  readonly firstByteUs: number | null;
  readonly transferUs: number | null;
  /** Kept for first failures and changed error codes. */
  readonly message: string | null;
  readonly evidence: unknown;
};

/** What was kept beside a result. */
export type KeptEvidence = { readonly message: string; readonly evidence: unknown };

/** The result at an index of a block. */
export function resultItem(monitorId: number, block: ResultBlock, at: number, kept?: KeptEvidence): ResultItem {
  const row = block.rows.row(at);
  const { kind, outcome, source } = unpackedFlags(row.flags);
  return {
    monitorId,
    probeId: block.probeIds[at] ?? 0,
    effectiveMs: Math.floor(row.eUs / 1_000),
    receivedMs: Math.floor(row.receivedUs / 1_000),
    probeRevision: row.probeRevision,
    kind,
    outcome,
    source,
    code: errorCodeOf(row.error),
    central: (row.flags & centralFlag) !== 0,
    fallback: (row.flags & fallbackFlag) !== 0,
    late: (row.flags & lateFlag) !== 0,
    freshS: row.freshS,
    totalUs: row.totalUs,
    dnsUs: row.dnsUs,
    connectUs: row.connectUs,
    tlsUs: row.tlsUs,
    firstByteUs: row.firstByteUs,
    transferUs: row.transferUs,
    message: kept?.message ?? null,
    evidence: kept?.evidence ?? null,
  };
}

/** The same as consensus needs it, and how long the check took. */
export function storedResult(block: ResultBlock, at: number): StoredResult & { readonly totalUs: number } {
  const { rows } = block;
  const { kind, outcome } = unpackedFlags(rows.flags[at] ?? 0);
  return {
    eUs: rows.eUs[at] ?? 0,
    voter: block.probeIds[at] ?? 0,
    kind,
    outcome,
    error: rows.error[at] ?? 0,
    freshS: rows.freshS[at] ?? 0,
    probeRevision: rows.probeRevision[at] ?? 0,
    receivedUs: rows.receivedUs[at] ?? 0,
    totalUs: rows.totalUs[at] ?? 0,
  };
}

// Only numbers that unpack are stored, so the fallback is for a database that was written by hand.
function unpackedFlags(flags: number): {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly source: FailureSource | undefined;
} {
  return unpackFlags(flags & 255) ?? { kind: 'scheduled', outcome: 'probe_error', source: undefined };
}
