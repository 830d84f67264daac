import type { CheckOutcome } from '../outcome.ts';
import { verdictOf } from './verdict.ts';

/** What is new about a result: its evidence is kept, or it cannot wait to be published. */
export type News = { readonly isNew: boolean; readonly isUrgent: boolean };

export const nothingNew: News = { isNew: false, isUrgent: false };

type Last = { readonly failing: boolean; readonly error: string | undefined };

/** Remembers each monitor's last voting result, to tell what is new about the next. */
export class Novelty {
  readonly #last = new Map<number, Last>();

  /** The evidence of a failure is kept the first time and when its code changes; a first failure and a first good answer cannot wait. */
  take(monitorId: number, outcome: CheckOutcome): News {
    const last = this.#last.get(monitorId);
    const verdict = verdictOf(outcome.outcome);
    const failing = verdict === 'failing';
    const isNew = verdict !== 'good' && (last?.failing !== failing || last.error !== outcome.code);
    const isUrgent = last === undefined || (verdict !== 'neutral' && last.failing !== failing) || (failing && isNew);
    if (verdict !== 'neutral' || isNew) {
      this.#last.set(monitorId, {
        failing: verdict === 'neutral' ? (last?.failing ?? false) : failing,
        error: outcome.code,
      });
    }
    return { isNew: isNew || (outcome.outcome === 'warn' && last?.error !== outcome.code), isUrgent };
  }

  /** Its first result is as likely as not good, and one of many: it need not hurry. */
  presumeGood(monitorId: number): void {
    this.#last.set(monitorId, { failing: false, error: undefined });
  }

  forget(monitorId: number): void {
    this.#last.delete(monitorId);
  }
}
