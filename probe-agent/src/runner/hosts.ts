import { Queue } from './queue.ts';

/** One target as the limit of checks at the same time counts it, and what waits for a place there. */
export class Host<Waiting> {
  readonly name: string;
  inFlight = 0;
  /** Monitors with a target there. */
  users = 0;
  #waiting: Queue<Waiting> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Has something wait for a place; the oldest is served first. */
  wait(one: Waiting): void {
    this.#waiting ??= new Queue();
    this.#waiting.push(one);
  }

  /** What has waited longest. */
  next(): Waiting | undefined {
    const one = this.#waiting?.shift();
    if (one === undefined) this.#waiting = undefined;
    return one;
  }
}

/**
 * The hosts of all targets. A host stays as long as somebody uses it, and not only while a check of it is under way: a map that is added to and
 * deleted from with each check leaves its outgrown tables behind, each of which keeps the next alive until the next full collection.
 */
export class Hosts<Waiting> {
  readonly #byName = new Map<string, Host<Waiting>>();

  get size(): number {
    return this.#byName.size;
  }

  /** The host of this name, made where it is not there yet. */
  of(name: string): Host<Waiting> {
    let host = this.#byName.get(name);
    if (host === undefined) {
      host = new Host<Waiting>(name);
      this.#byName.set(name, host);
    }
    return host;
  }

  /** Forgets a host that nobody has a target at and where nothing is under way. */
  forgetUnused(host: Host<Waiting>): void {
    if (host.users === 0 && host.inFlight === 0) this.#byName.delete(host.name);
  }
}
