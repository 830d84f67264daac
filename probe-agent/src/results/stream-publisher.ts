import { createInbox } from '@nats-io/transport-node';
import type { Msg, NatsConnection } from '@nats-io/transport-node';

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void; readonly untilMs: number };

/**
 * Publishes to a JetStream stream over one connection and awaits the stream's answer to each message. One subscription and one timer serve
 * all of them: the library's own publishing makes a timer and an error with its stack for each message, which costs as much as signing a
 * batch does.
 */
export class StreamPublisher {
  readonly #connection: NatsConnection;
  readonly #nowMs: () => number;
  readonly #inbox: string;
  readonly #waiting = new Map<string, Waiting>();
  #published = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;

  /**
   * @param inboxPrefix where this client may subscribe
   * @param nowMs a clock that only goes forward
   */
  constructor(connection: NatsConnection, inboxPrefix: string, nowMs: () => number) {
    this.#connection = connection;
    this.#nowMs = nowMs;
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    connection.subscribe(`${this.#inbox}*`, {
      callback: (error, message) => {
        if (error === null) this.#answered(message);
        else this.fail(error);
      },
    });
  }

  /** Resolves when the stream has taken the message; rejects when it refused, or did not answer in time. */
  publish(subject: string, payload: Uint8Array, timeoutMs: number): Promise<void> {
    this.#published += 1;
    const token = this.#published.toString(36);
    return new Promise((resolve, reject) => {
      this.#connection.publish(subject, payload, { reply: this.#inbox + token });
      const nowMs = this.#nowMs();
      this.#waiting.set(token, { resolve, reject, untilMs: nowMs + timeoutMs });
      this.#wakeAt(nowMs + timeoutMs, nowMs);
    });
  }

  /** Ends the waiting of all that was published: the connection is gone, or the server refuses what it is sent. */
  fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#timerDueMs = Infinity;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  #answered(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    this.#waiting.delete(token);
    const refusal = refusalIn(message);
    if (refusal === undefined) waiting.resolve();
    else waiting.reject(new Error(refusal));
  }

  /** Looks after late answers at this moment, or earlier when that is planned already. */
  #wakeAt(dueMs: number, nowMs: number): void {
    if (dueMs >= this.#timerDueMs) return;
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(() => this.#giveUpLate(), Math.max(1, dueMs - nowMs));
  }

  #giveUpLate(): void {
    this.#timerDueMs = Infinity;
    const nowMs = this.#nowMs();
    let nextMs = Infinity;
    for (const [token, { untilMs, reject }] of this.#waiting) {
      if (untilMs <= nowMs) {
        this.#waiting.delete(token);
        reject(new Error('the stream did not answer in time'));
      } else nextMs = Math.min(nextMs, untilMs);
    }
    this.#wakeAt(nextMs, nowMs);
  }
}

/** Why the stream did not take a message; undefined when it did. */
function refusalIn(message: Msg): string | undefined {
  if (message.data.length === 0)
    return message.headers?.code === 503 ? 'no stream takes this subject' : 'the answer of the stream is empty';
  let answer: unknown;
  try {
    answer = message.json();
  } catch {
    return 'the answer of the stream cannot be read';
  }
  if (typeof answer !== 'object' || answer === null) return 'the answer of the stream cannot be read';
  if ('error' in answer) return `the stream refused it: ${JSON.stringify(answer.error)}`;
  return 'stream' in answer && answer.stream !== '' ? undefined : 'the answer of the stream names no stream';
}
