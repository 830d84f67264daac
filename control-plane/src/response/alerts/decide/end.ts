import type { Alert } from '../alert.ts';
import { holdOf } from './hold.ts';
import type { Occasion, Told } from './occasion.ts';
import { addresseeOf, afterHold, decided, deduplicated, firstToEnd, nothing } from './outcome.ts';
import type { Addressee, Outcome } from './outcome.ts';
import { untold } from './problem.ts';
import type { Wish } from './wants.ts';

/** How a target stands to what it was sent. */
export type Reach = {
  readonly isUsable: boolean;
  /** The message of the problem is not under way yet: it can be taken back. */
  readonly isWithdrawable: boolean;
  /** A service that keeps open alarms: it is told of every end. */
  readonly keepsOpen: boolean;
};

/**
 * What a target is told that knows of a problem, or is meant to, when it is over. Only who was told of the problem is told of its end; where the
 * message has not left yet, or could not be delivered, one says both.
 * @param namers alerts that name the target and match, or told it
 */
export function endMessage(
  key: string,
  wishes: readonly Wish[],
  namers: readonly Alert[],
  told: Told,
  occasion: Occasion,
  reach: Reach,
  nowMs: number,
): Outcome {
  const isUnsent = told.sentMs === null && (reach.isWithdrawable || told.lostMs !== null);
  if (isUnsent) {
    const outcome = wasDown(
      key,
      wishes,
      { ...told, heldMs: told.heldMs ?? told.queuedMs ?? nowMs },
      occasion,
      reach,
      nowMs,
    );
    return { ...outcome, withdraws: 'unsent' };
  }
  const over: Told = { ...told, state: 'over', toldSeq: occasion.seq, heldMs: null, heldBy: null };
  const willing = namers.filter((alert) => alert.notifyOnRecovery);
  if (willing.length === 0) return nothing(over);
  const holds = willing.map((alert) => ({ alert, hold: holdOf(alert, occasion, nowMs, 'end') }));
  const free = holds.find(({ hold }) => hold === null)?.alert;
  const speaker = free ?? willing[0];
  if (speaker === undefined) return nothing(over);
  const to: Addressee = { key, ownerId: told.ownerId, target: told.target, alertId: speaker.id };
  // `resolved` is told once of each problem.
  const seq = told.problemSeq;
  if (free === undefined) {
    const hold = firstToEnd(holds.map((each) => each.hold));
    const held = decided(to, 'resolved', seq, {
      status: 'held',
      reason: hold?.reason ?? null,
      untilMs: hold?.untilMs ?? null,
    });
    const waiting = { ...told, heldMs: told.heldMs ?? nowMs, heldBy: hold?.reason ?? null };
    return { ...nothing(waiting, afterHold(hold, nowMs)), notifications: [held], keepsPending: true };
  }
  const reason = whyNot(occasion, reach);
  const afterQuiet = told.heldBy === 'quiet_hours' || told.heldBy === 'muted';
  return {
    ...nothing(over),
    notifications: [decided(to, 'resolved', seq, reason === null ? { afterQuiet } : { status: 'suppressed', reason })],
  };
}

function whyNot(occasion: Occasion, { isUsable, keepsOpen }: Reach): string | null {
  if (!isUsable) return 'target_unusable';
  // It goes on as part of another incident, of which the same people are told.
  return occasion.resolution === 'folded' && !keepsOpen ? 'folded' : null;
}

/**
 * What a target is told of a problem that was over before it could be told: one message that says both, and nothing of what was no problem, what
 * nobody looks at any more, or what was held because it flapped or was planned.
 */
export function wasDown(
  key: string,
  wishes: readonly Wish[],
  before: Told | undefined,
  occasion: Occasion,
  { isUsable }: Pick<Reach, 'isUsable'>,
  nowMs: number,
): Outcome {
  const wish = wishes.find(({ hold }) => hold === null) ?? wishes[0];
  const told = before ?? (wish === undefined ? undefined : untold(wish));
  if (told === undefined) return nothing(before);
  const over: Told = {
    ...told,
    state: 'over',
    problemSeq: occasion.problemSeq,
    toldSeq: occasion.seq,
    heldMs: null,
    heldBy: null,
  };
  const isSilent = told.heldBy === 'maintenance' || told.heldBy === 'flapping' || occasion.isFlapping;
  if (isSilent || wish === undefined || !isTold(occasion.resolution)) {
    return { ...nothing(over), withdraws: 'held' };
  }
  const holds = wishes.map(({ alert }) => holdOf(alert, occasion, nowMs, 'end'));
  const isHeld = holds.every((hold) => hold !== null);
  const to = addresseeOf(key, wish);
  if (isHeld) {
    const hold = firstToEnd(holds);
    const waiting: Told = { ...told, state: 'none', heldMs: told.heldMs ?? nowMs, heldBy: hold?.reason ?? null };
    const row = decided(to, 'was_down', occasion.problemSeq, {
      status: 'held',
      reason: hold?.reason ?? null,
      untilMs: hold?.untilMs ?? null,
    });
    return { ...nothing(waiting, afterHold(hold, nowMs)), notifications: [row], withdraws: 'held', keepsPending: true };
  }
  const afterQuiet = told.heldBy === 'quiet_hours' || told.heldBy === 'muted';
  const row = decided(
    to,
    'was_down',
    occasion.problemSeq,
    isUsable ? { afterQuiet } : { status: 'suppressed', reason: 'target_unusable' },
  );
  return {
    ...nothing({ ...over, alertId: to.alertId, ownerId: to.ownerId, target: to.target }),
    notifications: [
      row,
      ...deduplicated(
        row,
        wishes.map(({ alert }) => alert),
      ),
    ],
    withdraws: 'held',
  };
}

const isTold = (resolution: string | null): boolean =>
  resolution === null || resolution === 'auto' || resolution === 'manual';

/** What a target that was told of an end by hand is told when the thing itself recovers. */
export function recoveredMessage(
  key: string,
  namers: readonly Alert[],
  told: Told,
  occasion: Occasion,
  isUsable: boolean,
  nowMs: number,
): Outcome {
  const change = occasion.pending.findLast(({ kind, seq }) => kind === 'recovered' && seq > told.toldSeq);
  const willing = namers.filter((alert) => alert.notifyOnRecovery);
  if (change === undefined || willing.length === 0 || !isUsable) return nothing({ ...told, toldSeq: occasion.seq });
  const holds = willing.map((alert) => ({ alert, hold: holdOf(alert, occasion, nowMs, 'end') }));
  const free = holds.find(({ hold }) => hold === null)?.alert;
  if (free === undefined) {
    return { ...nothing(told, afterHold(firstToEnd(holds.map(({ hold }) => hold)), nowMs)), keepsPending: true };
  }
  const to: Addressee = { key, ownerId: told.ownerId, target: told.target, alertId: free.id };
  return { ...nothing({ ...told, toldSeq: occasion.seq }), notifications: [decided(to, 'recovered', change.seq)] };
}
