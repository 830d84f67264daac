import { failedStep } from '../api/lines.ts';
import type { CheckOutcome } from '../outcome.ts';
import { compareFacts, knownFactsOf } from './lasting-facts.ts';
import type { KnownFacts } from './lasting-facts.ts';
import { verdictOf } from './verdict.ts';

/** What is new about a result: its evidence is kept, or it cannot wait to be published. */
export type News = { readonly isNew: boolean; readonly isUrgent: boolean };

export const nothingNew: News = { isNew: false, isUrgent: false };

/** Lasting facts that did not change are told so often all the same, in milliseconds: a control plane that was restored from a backup hears of them again. */
const tellAgainMs = 24 * 3_600_000;
/** Some resolvers are refused by blocklists now and then: which lists gave no answer is told so often at most. */
const tellErrorsMs = 3_600_000;

type Last = { readonly failing: boolean; readonly error: string | undefined };

/** When a result was made, and of what. */
type Occasion = {
  /** Monotonic milliseconds. */
  readonly nowMs: number;
  /** Of what is checked: facts about another target are others. */
  readonly probeRevision: number;
};

type Told = { readonly facts: KnownFacts; readonly atMs: number; readonly probeRevision: number };

/** Remembers each monitor's last voting result and what lasts of it, to tell what is new about the next. */
export class Novelty {
  readonly #last = new Map<number, Last>();
  /** Of monitors that have lasting facts, as they were told. */
  readonly #told = new Map<number, Told>();

  /**
   * The evidence of a failure is kept the first time and when its code, or the step that fails, changes; a first failure and a first good answer cannot wait. That of
   * any result is kept when what lasts has changed (see `lasting-facts.ts`), which can wait.
   */
  take(monitorId: number, outcome: CheckOutcome, occasion: Occasion): News {
    const last = this.#last.get(monitorId);
    const verdict = verdictOf(outcome.outcome);
    const failing = verdict === 'failing';
    const error = errorOf(outcome);
    const isNew = verdict !== 'good' && (last?.failing !== failing || last.error !== error);
    const isUrgent = last === undefined || (verdict !== 'neutral' && last.failing !== failing) || (failing && isNew);
    if (verdict !== 'neutral' || isNew) {
      this.#last.set(monitorId, {
        failing: verdict === 'neutral' ? (last?.failing ?? false) : failing,
        error,
      });
    }
    const isWarning = outcome.outcome === 'warn' && last?.error !== error;
    const isFact = this.#factsAreNew(monitorId, outcome, isNew || isWarning, occasion);
    return { isNew: isNew || isWarning || isFact, isUrgent };
  }

  /** @param isTold the evidence goes out anyway */
  #factsAreNew(monitorId: number, outcome: CheckOutcome, isTold: boolean, { nowMs, probeRevision }: Occasion): boolean {
    const last = this.#told.get(monitorId);
    const told = last?.probeRevision === probeRevision ? last : undefined;
    const facts = knownFactsOf(outcome.evidence, told?.facts);
    if (facts === undefined) return false;
    const change = told === undefined ? 'changed' : compareFacts(told.facts, facts);
    const sinceMs = nowMs - (told?.atMs ?? 0);
    const isDue = change === 'changed' || sinceMs >= (change === 'errors' ? tellErrorsMs : tellAgainMs);
    if (isDue || isTold) this.#told.set(monitorId, { facts, atMs: nowMs, probeRevision });
    return isDue;
  }

  /** Its first result is as likely as not good, and one of many: it need not hurry. */
  presumeGood(monitorId: number): void {
    this.#last.set(monitorId, { failing: false, error: undefined });
  }

  forget(monitorId: number): void {
    this.#last.delete(monitorId);
    this.#told.delete(monitorId);
  }
}

/** What is wrong, as far as another one is news: the code, and of several steps the one that failed. */
function errorOf({ code, evidence }: CheckOutcome): string | undefined {
  const step = evidence?.details?.[failedStep];
  return step === undefined ? code : `${code ?? ''} ${String(step)}`;
}
