import type { Alert, AlertTarget } from '../alert.ts';
import { failoverOf } from './failover.ts';
import { holdOf } from './hold.ts';
import type { Hold } from './hold.ts';
import { matches } from './matches.ts';
import type { Occasion, Told } from './occasion.ts';
import { stepsDue } from './steps-due.ts';

/** A target with the key that tells it from others. */
export type KeyedTarget = { readonly key: string; readonly target: AlertTarget };

/** An alert with the keys of its targets, which are made once for many occasions. */
export type PreparedAlert = {
  readonly alert: Alert;
  /** By step. */
  readonly steps: readonly (readonly KeyedTarget[])[];
  readonly failover: KeyedTarget | null;
  /** The targets that it names, by key. */
  readonly keys: ReadonlyMap<string, AlertTarget>;
};

/** An alert that names a target, and as what. */
export type Namer = { readonly alert: Alert; readonly target: AlertTarget };

/** The targets that an alert names, as its owner's. */
export function namedBy({ ownerId, steps, failover }: Alert) {
  const targets = [...steps.flatMap((step) => step.targets), ...(failover === null ? [] : [failover])];
  return targets.map((target) => ({ ownerId, target }));
}

/** Makes the keys of an alert's targets. */
export function prepareAlert(alert: Alert, keyOf: (ownerId: number, target: AlertTarget) => string): PreparedAlert {
  const keyed = (target: AlertTarget): KeyedTarget => ({ key: keyOf(alert.ownerId, target), target });
  const steps = alert.steps.map((step) => step.targets.map(keyed));
  const failover = alert.failover === null ? null : keyed(alert.failover);
  const all = [...steps.flat(), ...(failover === null ? [] : [failover])];
  return { alert, steps, failover, keys: new Map(all.toReversed().map(({ key, target }) => [key, target])) };
}

/** That an alert wants a target to be told now, by one of its steps. */
export type Wish = {
  readonly alert: Alert;
  readonly target: AlertTarget;
  readonly step: number;
  readonly hold: Hold | null;
};

export type Wants = {
  /** By target: the wishes that are due, the first steps first and then the oldest alert. */
  readonly wishes: ReadonlyMap<string, readonly Wish[]>;
  /** By target: what would have been due had it not been over before. */
  readonly missed: ReadonlyMap<string, readonly Wish[]>;
  /** When the next step or failover is due; null for none. */
  readonly nextMs: number | null;
};

/** Who is to be told of a problem by now, whatever they were told already. */
export function wantsOf(
  occasion: Occasion,
  alerts: readonly PreparedAlert[],
  told: ReadonlyMap<string, Told>,
  nowMs: number,
): Wants {
  const wishes = new Map<string, Wish[]>();
  const missed = new Map<string, Wish[]>();
  let nextMs: number | null = null;
  for (const prepared of alerts) {
    const { alert } = prepared;
    if (!matches(alert, occasion)) continue;
    const steps = stepsDue(alert, occasion, nowMs);
    nextMs = earlier(nextMs, steps.nextMs);
    if (steps.isTooShort) {
      for (const { key, target } of prepared.steps[0] ?? []) {
        missed.set(key, [...(missed.get(key) ?? []), { alert, target, step: 0, hold: null }]);
      }
    }
    if (steps.due.length === 0) continue;
    const hold = holdOf(alert, occasion, nowMs, 'problem');
    const wish = ({ key, target }: KeyedTarget, step: number): void => {
      wishes.set(key, [...(wishes.get(key) ?? []), { alert, target, step, hold }]);
    };
    let isFailoverDue = false;
    for (const { index } of steps.due) {
      for (const keyed of prepared.steps[index] ?? []) {
        wish(keyed, index);
        if (prepared.failover === null || occasion.endedMs !== null) continue;
        const failover = failoverOf(told.get(keyed.key), nowMs);
        isFailoverDue ||= failover.isDue;
        nextMs = earlier(nextMs, failover.nextMs);
      }
    }
    if (isFailoverDue && prepared.failover !== null) wish(prepared.failover, 0);
  }
  for (const list of wishes.values()) list.sort((a, b) => a.step - b.step || a.alert.id - b.alert.id);
  return { wishes, missed, nextMs };
}

/** The earlier of two instants of which either may be none. */
export function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
