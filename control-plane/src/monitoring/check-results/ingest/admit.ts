import { createHash } from 'node:crypto';
import { verifyEd25519 } from '@parallax/pki';
import { decodeBatch, decodeSigned, packFlags, signedContent } from '@parallax/wire';
import type { BatchHeader, LostRange, ResultRecord } from '@parallax/wire';
import { lateFlag } from '../flags.ts';
import type { IngestRow, Place } from './rows.ts';

/** What the ingest knows of a probe. Revoked ones stay known, so that their messages are refused by name. */
export type KnownProbe = { readonly publicKey: Uint8Array; readonly isRevoked: boolean };

/** What the ingest knows of a monitor of its shard. */
export type KnownMonitor = {
  /** Its results are dropped: what is stored of it is being emptied. */
  readonly isDeleted: boolean;
  /** Every probe that it was ever assigned to. */
  readonly probes: ReadonlySet<number>;
  /** Results of before its last reset are void. */
  readonly inputs?: { readonly resetUs: number | null } | undefined;
};

export type Knowledge = {
  readonly probes: ReadonlyMap<number, KnownProbe>;
  readonly monitors: ReadonlyMap<number, KnownMonitor>;
  /**
   * When a backup was last restored, microseconds. For `strangersUs` from then on results may come of monitors and assignments that were made
   * after the backup and that nobody here remembers: they are left out, and what travels with them is taken.
   */
  readonly restoredUs?: number | undefined;
};

export type AdmitOptions = {
  readonly shard: number;
  readonly knowledge: Knowledge;
  /** When the message was received, microseconds; larger with each message by more than a batch has results. */
  readonly receivedUs: number;
  /** The knowledge was just read from the database: what is still unknown is refused. */
  readonly isFresh: boolean;
};

export type Refusal =
  | 'bad_subject'
  | 'unknown_probe'
  | 'revoked_probe'
  | 'not_signed'
  | 'bad_signature'
  | 'malformed'
  | 'other_probe'
  | 'other_shard'
  | 'unknown_monitor'
  | 'never_assigned';

/** Why rows of a batch that is otherwise good were left out. */
export type LeftOut = {
  readonly tooOld: number;
  readonly inFuture: number;
  readonly deleted: number;
  readonly beforeReset: number;
};

export type Admitted =
  | {
      readonly type: 'results';
      readonly place: Place;
      readonly rows: readonly (IngestRow | undefined)[];
      readonly leftOut: LeftOut;
    }
  | { readonly type: 'lost'; readonly place: Place; readonly lost: LostRange }
  | {
      /** Refused for ever. With a place when the probe itself signed it: the cursor then moves past it, else it would block its epoch. */
      readonly type: 'poison';
      readonly reason: Refusal;
      readonly detail: string;
      readonly probeId: number | null;
      readonly digest: Buffer;
      readonly place: Place | undefined;
    }
  /** The database may know more: read the probes and these monitors, then admit again. */
  | { readonly type: 'unknown'; readonly monitorIds: readonly number[] };

/** Results older than this at receipt count nowhere (rule 11). */
export const tooOldUs = 49 * 3_600_000_000;
/** A probe's clock may run ahead by less than this; the effective time is then the receipt. */
export const tooFarAheadUs = 60_000_000;
/** After a restore: a probe's log holds what is 48 h old, and it may come back a day after that. */
const strangersUs = 72 * 3_600_000_000;
/** Time that a result may take from the end of its check to the ingest before it is marked as late. */
const lateAfterUs = 15_000_000;

/**
 * Judges one message: who sent it, whether the probe signed it, and whether it may say that. Pure.
 *
 * Single rows are left out, and the cursor still moves over them, when they are older than 49 h or than the monitor's last reset, more than 60 s
 * ahead, or of a monitor that is deleted or, soon after a restore, not known here. Everything else that is wrong refuses the whole batch.
 */
export function admit(
  message: { readonly subject: string; readonly data: Uint8Array },
  options: AdmitOptions,
): Admitted {
  const sender = senderOf(message.subject);
  const refuse = (reason: Refusal, detail: string, place?: Place): Admitted => ({
    type: 'poison',
    reason,
    detail,
    probeId: sender?.probeId ?? null,
    digest: createHash('sha256').update(message.data).digest(),
    place,
  });
  if (sender === undefined || sender.shard !== options.shard)
    return refuse('bad_subject', message.subject.slice(0, 200));

  const probe = options.knowledge.probes.get(sender.probeId);
  if (probe === undefined) {
    return options.isFresh ? refuse('unknown_probe', `probe ${sender.probeId}`) : { type: 'unknown', monitorIds: [] };
  }
  if (probe.isRevoked) return refuse('revoked_probe', `probe ${sender.probeId}`);

  const signed = decodeSigned(message.data);
  if ('refused' in signed) return refuse('not_signed', signed.refused);
  if (!verifyEd25519(probe.publicKey, signedContent(signed.batch), signed.signature)) {
    return refuse('bad_signature', `probe ${sender.probeId}`);
  }
  const batch = decodeBatch(signed.batch);
  if ('refused' in batch) return refuse('malformed', batch.refused);
  const place = placeOf(batch.header, batch.lost === undefined ? batch.results.length : undefined, batch.lost);
  if (place === undefined) return refuse('malformed', 'epoch or sequence out of range');
  if (place.probeId !== sender.probeId) return refuse('other_probe', `probe ${sender.probeId} as ${place.probeId}`);
  if (batch.header.shard !== options.shard) return refuse('other_shard', `shard ${batch.header.shard}`);
  if (batch.lost !== undefined) return { type: 'lost', place, lost: batch.lost };

  for (const result of batch.results) {
    if (options.knowledge.monitors.get(result.monitorId)?.probes.has(place.probeId) === true) continue;
    const stranger = admitStranger(batch.results, place, options, refuse);
    if (stranger.type === 'poison' && isSoonAfterRestore(options)) break;
    return stranger;
  }
  return { type: 'results', place, ...rowsOf(batch.results, place, options) };
}

function isSoonAfterRestore({ knowledge, receivedUs }: AdmitOptions): boolean {
  return knowledge.restoredUs !== undefined && receivedUs - knowledge.restoredUs < strangersUs;
}

/** Some result is of a monitor that is unknown, or that the probe was never assigned. */
function admitStranger(
  results: readonly ResultRecord[],
  place: Place,
  { knowledge, shard, isFresh }: AdmitOptions,
  refuse: (reason: Refusal, detail: string, place: Place) => Admitted,
): Admitted {
  const strange = results.filter(
    ({ monitorId }) => knowledge.monitors.get(monitorId)?.probes.has(place.probeId) !== true,
  );
  const monitorIds = [...new Set(strange.map((result) => result.monitorId))];
  if (!isFresh) return { type: 'unknown', monitorIds };
  const unknown = monitorIds.filter((id) => !knowledge.monitors.has(id));
  return unknown.length > 0
    ? refuse('unknown_monitor', `monitors ${unknown.slice(0, 10).join(', ')} of shard ${shard}`, place)
    : refuse('never_assigned', `monitors ${monitorIds.slice(0, 10).join(', ')}`, place);
}

function senderOf(subject: string): { probeId: number; shard: number } | undefined {
  const parts = /^results\.([1-9]\d{0,8})\.(0|[1-9]\d?)$/.exec(subject);
  return parts === null ? undefined : { probeId: Number(parts[1]), shard: Number(parts[2]) };
}

function placeOf(header: BatchHeader, count: number | undefined, lost: LostRange | undefined): Place | undefined {
  const epoch = Number(header.epoch);
  const firstSeq = Number(header.firstSeq);
  const lastSeq = lost === undefined ? firstSeq + (count ?? 0) - 1 : Number(lost.toSeq);
  if (![epoch, firstSeq, lastSeq].every(Number.isSafeInteger)) return undefined;
  return { probeId: header.probeId, epoch, firstSeq, lastSeq };
}

function isVoid({ inputs }: KnownMonitor, result: ResultRecord): boolean {
  return inputs !== undefined && inputs.resetUs !== null && result.effectiveUs < inputs.resetUs;
}

function rowsOf(
  results: readonly ResultRecord[],
  place: Place,
  { knowledge, receivedUs }: AdmitOptions,
): { rows: (IngestRow | undefined)[]; leftOut: LeftOut } {
  let tooOld = 0;
  let inFuture = 0;
  let deleted = 0;
  let beforeReset = 0;
  // Whole milliseconds pack better, and nobody asks for more.
  const stampUs = Math.ceil(receivedUs / 1_000) * 1_000;
  const rows = results.map((result, index): IngestRow | undefined => {
    const monitor = knowledge.monitors.get(result.monitorId);
    // A stranger gets here after a restore only.
    if (monitor === undefined || monitor.isDeleted || !monitor.probes.has(place.probeId)) {
      deleted += 1;
      return undefined;
    }
    if (isVoid(monitor, result)) {
      beforeReset += 1;
      return undefined;
    }
    if (receivedUs - result.effectiveUs > tooOldUs) {
      tooOld += 1;
      return undefined;
    }
    if (result.effectiveUs - receivedUs > tooFarAheadUs) {
      inFuture += 1;
      return undefined;
    }
    // Never later than the receipt. Those of one batch stay apart and in order.
    const eUs = Math.min(result.effectiveUs, receivedUs - (results.length - index));
    const isLate = receivedUs - (eUs + result.totalUs) > lateAfterUs;
    return {
      eUs,
      voter: place.probeId,
      kind: result.kind,
      outcome: result.outcome,
      error: result.error,
      freshS: result.freshS,
      probeRevision: result.probeRevision,
      receivedUs: stampUs,
      monitorId: result.monitorId,
      flags: packFlags(result.kind, result.outcome, result.source) | (isLate ? lateFlag : 0),
      totalUs: result.totalUs,
      dnsUs: result.dnsUs,
      connectUs: result.connectUs,
      tlsUs: result.tlsUs,
      firstByteUs: result.firstByteUs,
      transferUs: result.transferUs,
      evidence: result.evidence,
    };
  });
  return { rows, leftOut: { tooOld, inFuture, deleted, beforeReset } };
}
