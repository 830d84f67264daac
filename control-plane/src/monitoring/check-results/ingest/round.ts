import type { RangeEdit, Status } from '../../consensus/index.ts';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import type { Admitted, Refusal } from './admit.ts';
import type { Arrival } from './backlogs.ts';
import type { Fetched } from './fetch.ts';
import type { IngestRow, LostRange, Place } from './rows.ts';
import { cursorKey, trim } from './trim.ts';
import type { Cursors } from './trim.ts';

/** A cursor's step. `from` is 0 for one that does not exist yet. */
export type CursorMove = {
  readonly probeId: number;
  readonly epoch: number;
  readonly from: number;
  to: number;
};

export type Rejection = {
  readonly subject: string;
  readonly probeId: number | null;
  readonly reason: Refusal | 'rows_out_of_time';
  readonly detail: string;
  readonly digest: Buffer;
};

export type Position = { readonly probeId: number; readonly epoch: number; readonly seq: number };

/** What a round took from its messages: to be written in one transaction, and to be answered after it. */
export type Intake = {
  readonly rows: IngestRow[];
  readonly moves: Map<string, CursorMove>;
  readonly lost: { readonly place: Place; readonly lost: LostRange }[];
  readonly rejected: Rejection[];
  /** Told to the broker after the commit. */
  readonly settled: { readonly message: Fetched; readonly verdict: 'done' | 'never' }[];
  /** Probes that sent what is committed already: they missed an acknowledgement. */
  readonly duplicates: Position[];
  readonly resends: Position[];
  /** One for each batch of results that was taken. */
  readonly arrivals: Arrival[];
  /** Refusals that got no row of their own, because there were too many. */
  unrecorded: number;
  /** Results that a reset of their monitor made void before they came. */
  voided: number;
};

/** What the fold made of it. */
export type Changes = {
  readonly edits: RangeEdit[];
  readonly statuses: {
    readonly monitorId: number;
    readonly status: Status;
    readonly sinceUs: number;
    /** What was last announced, where it is another; null: the same. */
    readonly announced: Status | null;
  }[];
  readonly outbox: OutboxEntry[];
  /** Monitors whose ranges were derived anew from `refold_from` on. */
  readonly refolded?: { readonly monitorId: number; readonly fromUs: number }[] | undefined;
};

/** One message with its judgement. `digest` is asked for only where rows were left out. */
export type Judged = { readonly message: Fetched; readonly admitted: Exclude<Admitted, { type: 'unknown' }> };

/** A probe gone mad must not fill the table: so many rows in `rejected_batches` a round, the rest is counted in the log. */
const mostRejections = 50;

/**
 * Places the judged messages of a round, in the order of their arrival, and moves the cursors in memory. Pure but for those.
 * A batch that its own probe signed and that is refused moves the cursor as if it were stored: it will never be taken, and the results
 * behind it must not wait for it.
 */
export function intake(judged: readonly Judged[], cursors: Cursors, digest: (data: Uint8Array) => Buffer): Intake {
  const result: Intake = {
    rows: [],
    moves: new Map(),
    lost: [],
    rejected: [],
    settled: [],
    duplicates: [],
    resends: [],
    arrivals: [],
    unrecorded: 0,
    voided: 0,
  };
  for (const { message, admitted } of judged) {
    const place = admitted.place;
    const trimmed = place === undefined ? undefined : trim(cursors, place);
    const isPoison = admitted.type === 'poison';
    result.settled.push({ message, verdict: isPoison ? 'never' : 'done' });
    if (isPoison) reject(result, { ...admitted, subject: message.subject });
    if (place === undefined || trimmed === undefined) continue;

    if (trimmed.type === 'duplicate') {
      result.duplicates.push({ probeId: place.probeId, epoch: place.epoch, seq: cursors.get(cursorKey(place)) ?? 0 });
      continue;
    }
    if (trimmed.type === 'gap') {
      result.resends.push({ probeId: place.probeId, epoch: place.epoch, seq: trimmed.resendFrom });
      continue;
    }
    move(result, cursors, place);
    if (admitted.type === 'lost') result.lost.push({ place, lost: admitted.lost });
    if (admitted.type !== 'results') continue;
    for (let index = trimmed.skip; index < admitted.rows.length; index += 1) {
      const row = admitted.rows[index];
      if (row !== undefined) result.rows.push(row);
    }
    const last = admitted.rows.at(-1);
    if (last !== undefined)
      result.arrivals.push({
        probeId: place.probeId,
        epoch: place.epoch,
        eUs: last.eUs,
        totalUs: last.totalUs,
        receivedUs: last.receivedUs,
      });
    const { tooOld, inFuture, beforeReset } = admitted.leftOut;
    result.voided += beforeReset;
    if (tooOld + inFuture > 0) {
      reject(result, {
        subject: message.subject,
        probeId: place.probeId,
        reason: 'rows_out_of_time',
        detail: `${tooOld} older than 49 h, ${inFuture} more than 60 s ahead, of ${admitted.rows.length} from ${place.firstSeq} of epoch ${place.epoch}`,
        digest: digest(message.data),
      });
    }
  }
  return result;
}

function reject(result: Intake, rejection: Rejection): void {
  if (result.rejected.length >= mostRejections) {
    result.unrecorded += 1;
    return;
  }
  const { subject, probeId, reason, detail, digest } = rejection;
  result.rejected.push({ subject: subject.slice(0, 200), probeId, reason, detail, digest });
}

function move(result: Intake, cursors: Cursors, place: Place): void {
  const key = cursorKey(place);
  const before = result.moves.get(key);
  if (before === undefined) {
    const from = cursors.get(key) ?? 0;
    result.moves.set(key, { probeId: place.probeId, epoch: place.epoch, from, to: place.lastSeq });
  } else {
    before.to = place.lastSeq;
  }
  cursors.set(key, place.lastSeq);
}
