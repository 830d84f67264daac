import { holdOf } from './hold.ts';
import type { Occasion, Told } from './occasion.ts';
import { addresseeOf, afterHold, decided, deduplicated, firstToEnd, nothing } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { untold } from './problem.ts';
import type { UsableBy } from './problem.ts';
import type { Namer, Wish } from './wants.ts';

/** How a target stands to what it was sent. */
export type Reach = {
  readonly isUsable: UsableBy;
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
  namers: readonly Namer[],
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
  if (occasion.resolution === 'reset') return closed(key, namers, over, reach);
  const { isUsable, holds } = waysToTellTheEnd(namers, occasion, reach.isUsable, nowMs);
  const free = holds.find(({ hold }) => hold === null);
  const speaker = free ?? holds[0];
  // Nobody wants to tell it any more, nor what was held of it.
  if (speaker === undefined) return { ...nothing(over), withdraws: 'held' };
  const to = addresseeOf(key, speaker);
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
  const reason = whyNot(occasion, isUsable, reach.keepsOpen);
  const afterQuiet = told.heldBy === 'quiet_hours' || told.heldBy === 'muted';
  return {
    ...nothing(over),
    notifications: [decided(to, 'resolved', seq, reason === null ? { afterQuiet } : { status: 'suppressed', reason })],
  };
}

/**
 * What is reset is told to services that keep an alarm open, at once: that reaches nobody, and nothing else would close it. Nothing of it stands in the
 * history.
 */
function closed(key: string, namers: readonly Namer[], over: Told, reach: Reach): Outcome {
  const speaker = namers.find(({ alert, target }) => alert.notifyOnRecovery && reach.isUsable(alert.ownerId, target));
  const isClosed = reach.keepsOpen && speaker !== undefined;
  const notifications = isClosed
    ? [decided(addresseeOf(key, speaker), 'resolved', over.problemSeq, { reason: 'reset' })]
    : [];
  return { ...nothing(over), notifications, withdraws: 'held' };
}

/** Alerts that tell of ends, by which the target can be reached where there are such, and what holds them back. */
function waysToTellTheEnd(namers: readonly Namer[], occasion: Occasion, isUsableBy: UsableBy, nowMs: number) {
  const willing = namers.filter(({ alert }) => alert.notifyOnRecovery);
  const able = willing.filter(({ alert, target }) => isUsableBy(alert.ownerId, target));
  const ways = able.length > 0 ? able : willing;
  return {
    isUsable: able.length > 0,
    holds: ways.map((namer) => ({ ...namer, hold: holdOf(namer.alert, occasion, nowMs, 'end') })),
  };
}

function whyNot({ resolution }: Occasion, isUsable: boolean, keepsOpen: boolean): string | null {
  if (!isUsable) return 'target_unusable';
  // It goes on as part of another incident, or in another workspace, where people are told of it.
  return (resolution === 'folded' || resolution === 'moved') && !keepsOpen ? resolution : null;
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
  { isUsable: isUsableBy }: Pick<Reach, 'isUsable'>,
  nowMs: number,
): Outcome {
  const able = wishes.filter(({ alert, target }) => isUsableBy(alert.ownerId, target));
  const isUsable = able.length > 0;
  const ways = isUsable ? able : wishes;
  const wish = ways.find(({ hold }) => hold === null) ?? ways[0];
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
  const holds = ways.map(({ alert }) => holdOf(alert, occasion, nowMs, 'end'));
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

/** What a target that was told of an end by hand, or of a removal, is told when the thing itself recovers. */
export function recoveredMessage(
  key: string,
  namers: readonly Namer[],
  told: Told,
  occasion: Occasion,
  isUsableBy: UsableBy,
  nowMs: number,
): Outcome {
  const change = occasion.pending.findLast(({ kind, seq }) => kind === 'recovered' && seq > told.toldSeq);
  // Nobody is told the end of what a person removed before anybody was told of it.
  if (occasion.resolution !== 'manual' && told.sentMs === null) return nothing({ ...told, toldSeq: occasion.seq });
  const { isUsable, holds } = waysToTellTheEnd(namers, occasion, isUsableBy, nowMs);
  if (change === undefined || !isUsable) return nothing({ ...told, toldSeq: occasion.seq });
  const free = holds.find(({ hold }) => hold === null);
  if (free === undefined) {
    return { ...nothing(told, afterHold(firstToEnd(holds.map(({ hold }) => hold)), nowMs)), keepsPending: true };
  }
  const after = nothing({ ...told, toldSeq: occasion.seq });
  return { ...after, notifications: [decided(addresseeOf(key, free), 'recovered', change.seq)] };
}

/** What a target hears of a problem that was over before an alert was to tell of it: nothing, which the history says. */
export function tooShort(key: string, missed: readonly Wish[], occasion: Occasion): Outcome {
  const [first] = missed;
  if (first === undefined || !isTold(occasion.resolution)) return nothing(undefined);
  const row = decided(addresseeOf(key, first), 'was_down', occasion.problemSeq, {
    status: 'suppressed',
    reason: 'too_short',
  });
  const over = { state: 'over' as const, problemSeq: occasion.problemSeq, toldSeq: occasion.seq };
  return { ...nothing({ ...untold(first), ...over }), notifications: [row] };
}

/** What is to be told once and is no longer so is not told to whom it was held back from. */
export function obsolete(before: Told | undefined): Outcome {
  if (before === undefined || before.heldMs === null) return nothing(before);
  return { ...nothing({ ...before, state: 'over', heldMs: null, heldBy: null }), withdraws: 'held' };
}
