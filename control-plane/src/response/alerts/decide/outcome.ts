import type { Alert } from '../alert.ts';
import type { Hold } from './hold.ts';
import type { Decided, NotificationKind, Told } from './occasion.ts';
import { earlier } from './wants.ts';
import type { Namer } from './wants.ts';

export type Withdrawal = 'nothing' | 'held' | 'unsent';

/** What is decided for one target. */
export type Outcome = {
  readonly notifications: readonly Decided[];
  readonly told: Told | undefined;
  /** What is void of the rows before: those that are held, or also those that are queued and that nobody has begun to send. */
  readonly withdraws: Withdrawal;
  /** Changes that nobody has decided on must be decided on again. */
  readonly keepsPending: boolean;
  readonly nextMs: number | null;
};

export const nothing = (told: Told | undefined, nextMs: number | null = null): Outcome => ({
  notifications: [],
  told,
  withdraws: 'nothing',
  keepsPending: false,
  nextMs,
});

/** Of a hold whose end nobody knows it is looked at again after so long, if nothing tells of it before. */
const lookAgainMs = 30_000;

/** When a hold is to be looked at again. */
export const afterHold = (hold: Hold | null, nowMs: number): number => hold?.untilMs ?? nowMs + lookAgainMs;

/** The hold of several that ends first; null when there is none. */
export function firstToEnd(holds: readonly (Hold | null)[]): Hold | null {
  const known = holds.filter((hold) => hold !== null);
  const untilMs = known.reduce<number | null>((least, hold) => earlier(least, hold.untilMs), null);
  return known.find((hold) => hold.untilMs === untilMs) ?? known[0] ?? null;
}

/** Whom a notification is for, and by whose wish. */
export type Addressee = {
  readonly key: string;
  readonly ownerId: number;
  readonly target: Decided['target'];
  readonly alertId: number;
};

/** The target as an alert names it. */
export const addresseeOf = (key: string, { alert, target }: Namer): Addressee => ({
  key,
  ownerId: alert.ownerId,
  target,
  alertId: alert.id,
});

/** A notification that is sent, held or suppressed. */
export function decided(
  { key, ownerId, target, alertId }: Addressee,
  kind: NotificationKind,
  seq: number,
  more: Partial<Pick<Decided, 'status' | 'reason' | 'untilMs' | 'afterQuiet'>> = {},
): Decided {
  return {
    targetKey: key,
    target,
    ownerId,
    alertId,
    kind,
    seq,
    status: 'queued',
    reason: null,
    untilMs: null,
    afterQuiet: false,
    ...more,
  };
}

/** That other alerts want the same: rows of the history alone. */
export function deduplicated(of: Decided, alerts: readonly Alert[]): readonly Decided[] {
  const others = new Map(alerts.filter(({ id }) => id !== of.alertId).map((alert) => [alert.id, alert]));
  return [...others.values()].map((alert) => ({
    ...of,
    alertId: alert.id,
    ownerId: alert.ownerId,
    status: 'deduplicated',
    reason: null,
    untilMs: null,
    afterQuiet: false,
  }));
}
