import { randomUUID } from 'node:crypto';
import type { CheckAnswer } from '@parallax/wire';
import { checkOutcomeSchema } from '../dispatch-messages.ts';
import type { RunCheckAnswer } from '../dispatch-messages.ts';

/** Checks that wait for one probe's answer at the same time. */
const maxPending = 200;
const maxOutcomeBytes = 256 * 1024;

/** Requests to one probe that wait for their answers. */
export class PendingChecks {
  readonly #waiting = new Map<string, { resolve: (answer: RunCheckAnswer) => void; timer: NodeJS.Timeout }>();
  #onIdle: (() => void)[] = [];

  /**
   * Makes a request identifier and waits for its answer.
   * @param send sends the request under its identifier; never rejects
   */
  ask(deadlineMs: number, send: (requestId: string) => Promise<void>): Promise<RunCheckAnswer> {
    if (this.#waiting.size >= maxPending)
      return Promise.resolve({ refused: 'the probe has too many requests waiting' });
    return new Promise((resolve) => {
      const requestId = randomUUID();
      const timer = setTimeout(() => {
        this.#forget(requestId);
        resolve({ refused: 'the probe did not answer in time' });
      }, deadlineMs);
      this.#waiting.set(requestId, { resolve, timer });
      void send(requestId);
    });
  }

  /** An answer came in; one that nobody waits for, any more or ever, is dropped. */
  answer(message: CheckAnswer): void {
    const waiting = this.#waiting.get(message.requestId);
    if (waiting === undefined) return;
    this.#forget(message.requestId);
    clearTimeout(waiting.timer);
    waiting.resolve(readAnswer(message));
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
    for (const { resolve, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      resolve({ refused: reason });
    }
    this.#waiting.clear();
    this.#noticeIdle();
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

function readAnswer(message: CheckAnswer): RunCheckAnswer {
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
