import { timingSafeEqual } from 'node:crypto';
import { entryOf } from '../stored/announce.ts';
import { rangeEdit } from '../stored/ranges.ts';
import type { RangeEdit } from '../stored/ranges.ts';
import { rulesOf } from '../stored/rules.ts';
import type { Locked } from '../stored/queries.ts';
import type { OutboxEntry } from '../../../platform/outbox/enqueue.ts';
import { changesState } from '../signals/change.ts';
import { decide } from '../signals/decide.ts';
import type { Decided } from '../signals/decide.ts';
import type { State } from '../state.ts';
import type { Found, Offer, Outcome } from './offer.ts';

/** Compared with where there is nothing to compare with, so that the same is done for what is unknown. */
const nobody = Buffer.alloc(32);

/** Whether an address leads to a heartbeat that takes the signal. The same work whatever the answer is. */
export function isAdmitted(found: Found, offer: Pick<Offer, 'secretHash'>): boolean {
  const isThere = found.heartbeatId !== null;
  if (offer.secretHash === undefined) return isThere;
  const isRight = timingSafeEqual(found.secretHash ?? nobody, offer.secretHash);
  return isThere && (isRight || !found.requireSecret);
}

/** A signal as it is recorded. */
export type Recorded = {
  readonly offer: Offer;
  readonly n: number;
  readonly decided: Decided;
};

/** What a batch makes of one heartbeat. */
export type Folded = {
  readonly heartbeat: Locked;
  readonly after: State;
  readonly recorded: readonly Recorded[];
  readonly outcomes: ReadonlyMap<Offer, Outcome>;
  readonly ranges: readonly RangeEdit[];
  readonly entries: readonly OutboxEntry[];
  readonly countedMinute: number;
  readonly counted: number;
};

/**
 * Folds the signals of a batch, in the order in which they came, into the heartbeat that they are for. Above the rate only those count that change the state,
 * and of these as many once more: pings never hold up a failure, and nobody makes more changes than that in a minute.
 */
export function foldOffers(heartbeat: Locked, offers: readonly Offer[], perMinute: number): Folded {
  const rules = rulesOf(heartbeat);
  let { state, pings, countedMinute, counted } = heartbeat;
  const recorded: Recorded[] = [];
  const outcomes = new Map<Offer, Outcome>();
  const ranges: RangeEdit[] = [];
  const entries: OutboxEntry[] = [];
  for (const offer of offers) {
    const minute = Math.floor(offer.atMs / 60_000);
    if (minute > countedMinute) [countedMinute, counted] = [minute, 0];
    const { said, rid, method, body } = offer;
    const signal = {
      ...said,
      rid,
      method,
      durationMs: body.durationMs,
      atMs: Math.max(offer.atMs, state.lastPingMs ?? 0),
    };
    const decided = decide(rules, state, signal);
    const most = changesState(state, decided.state, signal.atMs) ? 2 * perMinute : perMinute;
    if (counted >= most) {
      outcomes.set(offer, { kind: 'limited', resetSeconds: 60 - Math.floor((offer.atMs % 60_000) / 1_000) });
      continue;
    }
    counted += 1;
    pings += 1;
    const n = pings;
    recorded.push({ offer, n, decided });
    outcomes.set(offer, { kind: 'taken' });
    const edit = rangeEdit(state, decided.state);
    if (edit !== null) ranges.push(edit);
    const telling = { n, exitCode: said.exitCode, rid, durationMs: decided.durationMs };
    const change = { before: state, after: decided.state, nowMs: offer.atMs, signal: telling };
    entries.push(...decided.announcements.map((each) => entryOf(heartbeat, change, each)));
    state = decided.state;
  }
  return { heartbeat, after: state, recorded, outcomes, ranges, entries, countedMinute, counted };
}
