import type { AlertTarget } from '../alert.ts';
import { endMessage, obsolete, recoveredMessage, tooShort, wasDown } from './end.ts';
import { failoverAfterMs } from './failover.ts';
import { matches } from './matches.ts';
import type { Change, Decided, Occasion, Told } from './occasion.ts';
import { nothing } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { firstMessage, furtherMessage } from './problem.ts';
import { earlier, wantsOf } from './wants.ts';
import type { Namer, PreparedAlert, Wish } from './wants.ts';

/** What is known of targets beside what they were told. */
export type Targets = {
  /** Whether somebody's target can be sent to now; two who name the same one may differ in that. */
  readonly isUsable: (ownerId: number, target: AlertTarget) => boolean;
  /** A service that keeps open alarms until it is told of their end. */
  readonly keepsOpen: (target: AlertTarget) => boolean;
  /** The message of the problem waits, and nobody has begun to send it. */
  readonly isWithdrawable: (key: string) => boolean;
};

export type Decision = {
  readonly notifications: readonly Decided[];
  /** Of whom it has changed what they were told. */
  readonly told: ReadonlyMap<string, Told>;
  /** By target, what is void of the rows before. */
  readonly withdrawn: ReadonlyMap<string, 'held' | 'unsent'>;
  /** Changes that must be decided on again. */
  readonly pending: readonly Change[];
  /** When it must be looked at again, if nothing happens before; null for never. */
  readonly lookAtMs: number | null;
};

/**
 * Decides who is told what of an occasion now: by comparing what is so with what each target was told. Looking again changes nothing, however
 * often and whenever; nothing is lost that was held, since it is decided anew when the hold ends.
 */
export function decide(
  occasion: Occasion,
  alerts: readonly PreparedAlert[],
  told: ReadonlyMap<string, Told>,
  targets: Targets,
  nowMs: number,
): Decision {
  const { wishes, missed, nextMs } = wantsOf(occasion, alerts, told, nowMs);
  const notifications: Decided[] = [];
  const changed = new Map<string, Told>();
  const withdrawn = new Map<string, 'held' | 'unsent'>();
  let lookAtMs = nextMs;
  let keepsPending = false;
  for (const key of new Set([...wishes.keys(), ...missed.keys(), ...told.keys()])) {
    const before = told.get(key);
    const wanted = { wishes: wishes.get(key) ?? [], missed: missed.get(key) ?? [] };
    const outcome = decideTarget(key, occasion, alerts, wanted, before, targets, nowMs);
    notifications.push(...outcome.notifications);
    if (outcome.told !== undefined && !isSame(outcome.told, before)) changed.set(key, outcome.told);
    if (outcome.withdraws !== 'nothing' && before !== undefined) withdrawn.set(key, outcome.withdraws);
    keepsPending ||= outcome.keepsPending;
    lookAtMs = earlier(lookAtMs, outcome.nextMs);
    // A failover is asked for from now on.
    if (outcome.told?.queuedMs === nowMs && outcome.told.state === 'problem' && hasFailover(key, alerts)) {
      lookAtMs = earlier(lookAtMs, outcome.told.lostMs === null ? nowMs + failoverAfterMs : nowMs);
    }
  }
  return {
    notifications,
    told: changed,
    withdrawn,
    pending: keepsPending ? occasion.pending.slice(-mostPending) : [],
    lookAtMs,
  };
}

/** Changes that are kept through a hold: the last ones say what matters. */
const mostPending = 20;

function decideTarget(
  key: string,
  occasion: Occasion,
  alerts: readonly PreparedAlert[],
  { wishes, missed }: { readonly wishes: readonly Wish[]; readonly missed: readonly Wish[] },
  before: Told | undefined,
  targets: Targets,
  nowMs: number,
): Outcome {
  const { isUsable } = targets;
  if (occasion.isObsolete) return obsolete(before);
  if (occasion.endedMs === null) {
    if (before?.state !== 'problem') {
      // What is told once, and what this problem's end was told of already, is not told again.
      if (before?.state === 'over' && before.problemSeq >= occasion.problemSeq) return nothing(before);
      return wishes.length === 0 ? nothing(before) : firstMessage(key, wishes, before, occasion, isUsable, nowMs);
    }
    if (!occasion.isLasting) return nothing(before);
    return furtherMessage(key, wishes, namersOf(key, alerts, occasion), before, occasion, isUsable, nowMs);
  }
  const isNews = before === undefined || before.heldMs !== null || before.problemSeq < occasion.problemSeq;
  if (before?.state === 'problem') {
    const namers = namersOf(key, alerts, occasion, before.alertId);
    const reach = {
      isUsable,
      isWithdrawable: targets.isWithdrawable(key),
      keepsOpen: targets.keepsOpen(before.target),
    };
    return endMessage(key, wishes, namers, before, occasion, reach, nowMs);
  }
  if (before === undefined && wishes.length === 0) return tooShort(key, missed, occasion);
  if (isNews) return wasDown(key, wishes, before, occasion, { isUsable }, nowMs);
  return recoveredMessage(key, namersOf(key, alerts, occasion, before.alertId), before, occasion, isUsable, nowMs);
}

/** Alerts that name a target and want the occasion, or told it. */
function namersOf(
  key: string,
  alerts: readonly PreparedAlert[],
  occasion: Occasion,
  toldBy?: number,
): readonly Namer[] {
  return alerts.flatMap(({ alert, keys }) => {
    const target = keys.get(key);
    return target !== undefined && (alert.id === toldBy || matches(alert, occasion)) ? [{ alert, target }] : [];
  });
}

const hasFailover = (key: string, alerts: readonly PreparedAlert[]): boolean =>
  alerts.some(({ failover, keys }) => failover !== null && keys.has(key));

function isSame(a: Told, b: Told | undefined): boolean {
  return b !== undefined && (Object.keys(a) as (keyof Told)[]).every((name) => a[name] === b[name]);
}
