import { randomUUID } from 'node:crypto';
import { maxChainBytes, maxDiagnosisBytes } from '@parallax/checks';
import type { CheckAnswer } from '@parallax/wire';
import { checkOutcomeSchema } from '../dispatch-messages.ts';
import type { ChainAnswer, DiagnosisAnswer, RunCheckAnswer } from '../dispatch-messages.ts';

/** Checks that wait for one probe's answer at the same time. */
const maxPending = 200;
const maxOutcomeBytes = 256 * 1024;

type Refusal = { readonly refused: string };
/** Told the answer, or why there is none. */
type Waiting = { readonly answer: (message: CheckAnswer) => void; readonly refuse: (reason: string) => void };

/** Requests to one probe that wait for their answers. */
export class PendingChecks {
  readonly #waiting = new Map<string, Waiting>();
  #onIdle: (() => void)[] = [];

  /**
   * Makes a request identifier and waits for its answer.
   * @param read makes sense of the answer; never throws
   * @param send sends the request under its identifier; never rejects
   */
  ask<Answer>(
    deadlineMs: number,
    read: (message: CheckAnswer) => Answer | Refusal,
    send: (requestId: string) => Promise<void>,
  ): Promise<Answer | Refusal> {
    if (this.#waiting.size >= maxPending)
      return Promise.resolve({ refused: 'the probe has too many requests waiting' });
    return new Promise((resolve) => {
      const requestId = randomUUID();
      const settle = (answer: Answer | Refusal): void => {
        clearTimeout(timer);
        this.#forget(requestId);
        resolve(answer);
      };
      const timer = setTimeout(() => settle({ refused: 'the probe did not answer in time' }), deadlineMs);
      this.#waiting.set(requestId, {
        answer: (message) => settle(read(message)),
        refuse: (refused) => settle({ refused }),
      });
      void send(requestId);
    });
  }

  /** An answer came in; one that nobody waits for, any more or ever, is dropped. */
  answer(message: CheckAnswer): void {
    this.#waiting.get(message.requestId)?.answer(message);
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves when nobody waits for an answer, at once or later. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** The session is over: nobody waits in vain. */
  refuseAll(reason: string): void {
    for (const { refuse } of this.#waiting.values()) refuse(reason);
  }

  #forget(requestId: string): void {
    this.#waiting.delete(requestId);
    this.#noticeIdle();
  }

  #noticeIdle(): void {
    if (!this.isIdle) return;
    for (const resolve of this.#onIdle) resolve();
    this.#onIdle = [];
  }
}

/** The answer to a request for a diagnosis; what a probe gives as one is judged where it is used. */
export function readDiagnosisAnswer(message: CheckAnswer): DiagnosisAnswer {
  if (message.refused !== '') return { refused: message.refused.slice(0, 500) };
  if (message.diagnosisJson.length === 0) return { refused: 'the agent of this probe is too old to give a diagnosis' };
  if (message.diagnosisJson.length > maxDiagnosisBytes)
    return { refused: 'the probe gave a diagnosis that is too large' };
  try {
    const diagnosis: unknown = JSON.parse(message.diagnosisJson.toString('utf8'));
    return { diagnosis };
  } catch {
    return { refused: 'the probe gave a diagnosis that cannot be read' };
  }
}

/** The answer to a request for a certificate chain; what a probe gives as one is judged where it is used. */
export function readChainAnswer(message: CheckAnswer): ChainAnswer {
  if (message.refused !== '') return { refused: message.refused.slice(0, 500) };
  if (message.chainJson.length === 0)
    return { refused: 'the agent of this probe is too old to read a certificate chain' };
  if (message.chainJson.length > maxChainBytes) return { refused: 'the probe gave a chain that is too large' };
  try {
    const chain: unknown = JSON.parse(message.chainJson.toString('utf8'));
    return { chain };
  } catch {
    return { refused: 'the probe gave a chain that cannot be read' };
  }
}

/** The answer to a request for a check. */
export function readAnswer(message: CheckAnswer): RunCheckAnswer {
  if (message.refused !== '') return { refused: message.refused.slice(0, 500) };
  if (message.outcomeJson.length > maxOutcomeBytes) return { refused: 'the probe gave an answer that is too large' };
  try {
    const outcome: unknown = JSON.parse(message.outcomeJson.toString('utf8'));
    const parsed = checkOutcomeSchema.safeParse(outcome);
    if (!parsed.success) return { refused: 'the probe gave an answer that cannot be read' };
    return {
      answer: {
        effective_us: Number(message.effectiveUs),
        // Shape and bounds were checked just now; the codes of a newer agent stay readable text.
        outcome: parsed.data as Extract<RunCheckAnswer, { answer: unknown }>['answer']['outcome'],
        trace: message.trace.slice(0, 1_000).map((step) => ({
          at_us: Number(step.atUs),
          step: step.step.slice(0, 200),
          detail: step.detail.slice(0, 2_000),
        })),
      },
    };
  } catch {
    return { refused: 'the probe gave an answer that cannot be read' };
  }
}
