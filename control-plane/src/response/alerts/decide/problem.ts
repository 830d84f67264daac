import type { Alert, AlertTarget } from '../alert.ts';
import { holdOf } from './hold.ts';
import type { Change, NotificationKind, Occasion, Told } from './occasion.ts';
import { addresseeOf, afterHold, decided, deduplicated, firstToEnd, nothing } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { reminderDueMs } from './reminder.ts';
import { earlier } from './wants.ts';
import type { Namer, Wish } from './wants.ts';

/** Whether somebody's target can be sent to now. */
export type UsableBy = (ownerId: number, target: AlertTarget) => boolean;

/** A target that nobody has told anything. */
export function untold(wish: Wish): Told {
  return {
    alertId: wish.alert.id,
    ownerId: wish.alert.ownerId,
    target: wish.target,
    state: 'none',
    problemSeq: 0,
    step: 0,
    reminders: 0,
    toldSeq: 0,
    lastMs: null,
    queuedMs: null,
    sentMs: null,
    lostMs: null,
    heldMs: null,
    heldBy: null,
    snoozedUntilMs: null,
  };
}

/** What a target is told first of a problem, or that it is held. `wishes` are those that are due, at least one. */
export function firstMessage(
  key: string,
  wishes: readonly Wish[],
  before: Told | undefined,
  occasion: Occasion,
  isUsableBy: UsableBy,
  nowMs: number,
): Outcome {
  // Others may name a target too that they may not send to.
  const able = wishes.filter(({ alert, target }) => isUsableBy(alert.ownerId, target));
  const isUsable = able.length > 0;
  const ways = isUsable ? able : wishes;
  const free = ways.filter(({ hold }) => hold === null);
  const wish = free[0] ?? ways[0];
  if (wish === undefined) return nothing(before);
  const kind = kindOfFirst(occasion, wish.step);
  const seq = kind === 'escalated' ? escalationSeq(occasion, wish.step) : occasion.problemSeq;
  const told = before ?? untold(wish);
  const to = addresseeOf(key, wish);
  if (free.length === 0) {
    const hold = firstToEnd(ways.map((each) => each.hold));
    return {
      ...nothing({ ...told, heldMs: told.heldMs ?? nowMs, heldBy: hold?.reason ?? null }, afterHold(hold, nowMs)),
      notifications: [
        decided(to, kind, seq, { status: 'held', reason: hold?.reason ?? null, untilMs: hold?.untilMs ?? null }),
      ],
    };
  }
  const afterQuiet = told.heldBy === 'quiet_hours' || told.heldBy === 'muted';
  const first = decided(to, kind, seq, isUsable ? { afterQuiet } : { status: 'suppressed', reason: 'target_unusable' });
  const speaking = free.map(({ alert }) => alert);
  const after: Told = {
    ...told,
    alertId: wish.alert.id,
    ownerId: wish.alert.ownerId,
    target: wish.target,
    state: 'problem',
    problemSeq: occasion.problemSeq,
    step: Math.max(...free.map(({ step }) => step)),
    toldSeq: occasion.seq,
    lastMs: nowMs,
    queuedMs: nowMs,
    sentMs: null,
    lostMs: isUsable ? null : nowMs,
    heldMs: null,
    heldBy: null,
    snoozedUntilMs: null,
  };
  return {
    ...nothing(after, reminderDueMs(speaking, occasion, after)),
    // What was held under another name or number is said by this.
    withdraws: 'held',
    notifications: [first, ...deduplicated(first, speaking)],
  };
}

function kindOfFirst(occasion: Occasion, step: number): NotificationKind {
  if (occasion.event === 'maintenance.all_clear') return 'all_clear';
  if (!occasion.isLasting) return 'information';
  return step === 0 ? 'opened' : 'escalated';
}

/** Each step of each problem escalates once. */
const escalationSeq = ({ problemSeq }: Occasion, step: number): number => problemSeq * 10 + step;

/**
 * What a target that knows of a problem is told while it lasts: at most one thing at a time, the weightiest first.
 * @param namers alerts that match and name the target
 */
export function furtherMessage(
  key: string,
  wishes: readonly Wish[],
  namers: readonly Namer[],
  before: Told,
  occasion: Occasion,
  isUsableBy: UsableBy,
  nowMs: number,
): Outcome {
  const canBy = ({ alert, target }: Namer): boolean => isUsableBy(alert.ownerId, target);
  const outcome = furtherOf(key, wishes.filter(canBy), namers.filter(canBy), before, occasion, nowMs);
  if (before.heldMs === null || outcome.told === undefined) return outcome;
  // Its end was held, and it has begun again since.
  return { ...outcome, told: { ...outcome.told, heldMs: null, heldBy: null }, withdraws: 'held' };
}

function furtherOf(
  key: string,
  wishes: readonly Wish[],
  namers: readonly Namer[],
  before: Told,
  occasion: Occasion,
  nowMs: number,
): Outcome {
  // It ended and began again before anybody looked.
  const told = before.problemSeq < occasion.problemSeq ? { ...before, problemSeq: occasion.problemSeq } : before;
  if (namers.length === 0) return nothing({ ...told, toldSeq: occasion.seq });
  if (told.snoozedUntilMs !== null && told.snoozedUntilMs > nowMs) {
    return nothing({ ...told, toldSeq: occasion.seq }, told.snoozedUntilMs);
  }
  const holds = namers.map((namer) => ({ ...namer, hold: holdOf(namer.alert, occasion, nowMs, 'problem') }));
  const speakers = holds.filter(({ hold }) => hold === null);
  const free = speakers.map(({ alert }) => alert);
  const all = namers.map(({ alert }) => alert);
  const freeUntilMs = afterHold(firstToEnd(holds.map(({ hold }) => hold)), nowMs);
  const spoken = (after: Told): Told => ({ ...after, toldSeq: occasion.seq, lastMs: nowMs });

  const higher = wishes.filter(({ step }) => step > told.step);
  const escalating = higher.findLast(({ hold }) => hold === null);
  if (escalating !== undefined) {
    const row = decided(addresseeOf(key, escalating), 'escalated', escalationSeq(occasion, escalating.step));
    const same = higher.filter(({ hold, step }) => hold === null && step === escalating.step).map(({ alert }) => alert);
    const after = spoken({ ...told, step: escalating.step });
    return {
      ...nothing(after, reminderDueMs(free, occasion, after)),
      notifications: [row, ...deduplicated(row, same)],
    };
  }

  const [speaker] = speakers;
  const change = lastChange(occasion, told, speaker === undefined ? all : free);
  const heldNextMs = higher.length > 0 || change !== undefined ? freeUntilMs : null;
  if (speaker === undefined) {
    const reminderMs = reminderDueMs(all, occasion, told);
    const nextMs = reminderMs === null ? null : Math.max(reminderMs, freeUntilMs);
    return { ...nothing(told, earlier(heldNextMs, nextMs)), keepsPending: change !== undefined };
  }
  const to = addresseeOf(key, speaker);
  if (change !== undefined) {
    const kind = change.kind === 'acknowledged' ? 'acknowledged' : 'updated';
    const after = spoken(told);
    return {
      ...nothing(after, reminderDueMs(free, occasion, after)),
      notifications: [decided(to, kind, change.seq, { reason: change.reason })],
    };
  }
  const reminderMs = reminderDueMs(free, occasion, told);
  if (reminderMs === null || reminderMs > nowMs) {
    return nothing({ ...told, toldSeq: occasion.seq }, earlier(heldNextMs, reminderMs));
  }
  const after = spoken({ ...told, reminders: told.reminders + 1, snoozedUntilMs: null });
  return {
    ...nothing(after, reminderDueMs(free, occasion, after)),
    notifications: [decided(to, 'reminder', after.reminders)],
  };
}

/** The last change that is news to a target and that one of its alerts wants to be told of. */
function lastChange(occasion: Occasion, told: Told, alerts: readonly Alert[]): Change | undefined {
  return occasion.pending.findLast(
    (change) => change.seq > told.toldSeq && alerts.some((alert) => isWanted(change, alert)),
  );
}

function isWanted({ kind, reason }: Change, { events }: Alert): boolean {
  if (kind === 'acknowledged') return events.has('incident.acknowledged');
  if (kind !== 'updated') return false;
  // That it grows, or is not over after all, belongs to the problem; what people write of it is for those who want it.
  return reason === 'members' || reason === 'reopened' || events.has('incident.updated');
}
