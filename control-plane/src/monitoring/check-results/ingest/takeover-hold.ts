/**
 * After a takeover time stands still until what waits in the stream is read, at most so long: until then no vote ends for want of a result, and a
 * restart that loses nothing shows no gap.
 */
export class TakeoverHold {
  readonly #untilMs: number;
  /** Messages that waited at the takeover; undefined until the stream was asked. */
  #backlog: number | undefined;
  #isOver = false;

  /** @param untilMs monotonic time at which it ends, whatever waits */
  constructor(untilMs: number) {
    this.#untilMs = untilMs;
  }

  /** The stream was asked: so many messages wait. The first answer counts. */
  opened(waiting: number): void {
    this.#backlog ??= waiting;
  }

  /** @param takenCount messages taken in all */
  look(takenCount: number, nowMs: number): void {
    const isRead = this.#backlog !== undefined && takenCount >= this.#backlog;
    this.#isOver ||= isRead || nowMs > this.#untilMs;
  }

  /** As was seen at the last look. */
  get isOver(): boolean {
    return this.#isOver;
  }
}
