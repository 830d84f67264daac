/**
 * What a check hears of its end by: the part of `AbortSignal` that checks need, so that one of those will do. Node's own costs several
 * microseconds for each check and looks through all listeners for each new one, which makes a thousand checks at a time slow.
 */
export type StopSignal = {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

/** Ends one check. A check waits at one place at a time, so the first listener has a place of its own. */
export class Stop implements StopSignal {
  aborted = false;
  #first: (() => void) | undefined;
  #others: Set<() => void> | undefined;

  /** Tells everybody once; who comes later sees `aborted`. */
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const first = this.#first;
    const others = this.#others;
    this.#first = undefined;
    this.#others = undefined;
    first?.();
    if (others !== undefined) for (const listener of others) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted || this.#first === listener) return;
    if (this.#first === undefined && this.#others?.has(listener) !== true) this.#first = listener;
    else (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others?.delete(listener);
  }
}

/** Somebody who hears of a signal; it knows its place, so that it can leave without being looked for. */
export type Follower = { readonly listener: () => void; readonly among: Follower[]; at: number };

/**
 * Those that hear of a signal which many checks share: one listener on it for all of them, which stays as long as the signal does. A plain
 * array: a Set that is added to and deleted from all the time leaves its outgrown tables behind, each of which keeps the next alive, and
 * everything that checks have used lives on until the next full collection.
 */
const followers = new WeakMap<StopSignal, Follower[]>();

/** Has `listener` called when the signal aborts; undone by `unfollow`. */
export function follow(signal: StopSignal, listener: () => void): Follower {
  let among = followers.get(signal);
  if (among === undefined) {
    const all: Follower[] = [];
    const hear = (): void => {
      for (const each of all.slice()) each.listener();
    };
    signal.addEventListener('abort', hear);
    among = all;
    followers.set(signal, among);
  }
  const follower = { listener, among, at: among.length };
  among.push(follower);
  return follower;
}

/** The follower hears no more; once is enough. The last one takes its place. */
export function unfollow(follower: Follower): void {
  const { among, at } = follower;
  if (among[at] !== follower) return;
  const last = among.pop();
  if (last === undefined || last === follower) return;
  last.at = at;
  among[at] = last;
}
