import type { ControlMessage, ProbeServer } from '@parallax/wire';

/** The stream of a session as the server holds it. */
export type SessionCall = Parameters<ProbeServer['session']>[0];
type Body = NonNullable<ControlMessage['message']>;

/** Messages that may wait in the process for a client that does not read; then the stream is given up. */
const maxWaiting = 5_000;

/** The sending half of a session's stream. */
export class Outbound {
  readonly #call: SessionCall;
  readonly #onOverflow: () => void;
  #drained: Promise<void> | undefined;
  #isClosed = false;

  constructor(call: SessionCall, onOverflow: () => void) {
    this.#call = call;
    this.#onOverflow = onOverflow;
  }

  /** True while the client has not taken what was sent. */
  get isBlocked(): boolean {
    return this.#drained !== undefined;
  }

  /** Sends without waiting; nothing after the end. */
  send(message: Body): void {
    if (this.#isClosed) return;
    if (this.#call.writableLength > maxWaiting) {
      this.#onOverflow();
      return;
    }
    const hasRoom = this.#call.write({ message });
    if (!hasRoom && this.#drained === undefined) {
      this.#drained = new Promise((resolve) => {
        const done = (): void => {
          this.#call.off('drain', done);
          this.#call.off('close', done);
          this.#call.off('cancelled', done);
          this.#drained = undefined;
          resolve();
        };
        this.#call.on('drain', done);
        this.#call.on('close', done);
        this.#call.on('cancelled', done);
      });
    }
  }

  /** Sends and waits until there is room for more. */
  async sendAndWait(message: Body): Promise<void> {
    this.send(message);
    await this.#drained;
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
  }
}
