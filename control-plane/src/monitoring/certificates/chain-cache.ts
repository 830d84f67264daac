/** How long an answer is given again, in milliseconds. */
export const keptMs = 5 * 60_000;
/** Answers that are kept at the same time: one is some 30 KB. */
const mostKept = 300;

type Entry<Seen> = { readonly atMs: number; readonly seen: Seen };

/**
 * Keeps what was seen for five minutes, and makes one look serve all who ask while it is under way, forced or not. A look that fails is not
 * kept. One for each process; what is to hold over all replicas is counted in the database.
 */
export class ChainCache<Seen> {
  readonly #now: () => number;
  readonly #kept = new Map<string, Entry<Seen>>();
  readonly #underWay = new Map<string, Promise<Seen>>();

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * @param key of what is looked at, with the version of its configuration
   * @param isForced look again, whatever is kept
   */
  async get(
    key: string,
    isForced: boolean,
    look: () => Promise<Seen>,
  ): Promise<{ readonly seen: Seen; readonly cached: boolean }> {
    const kept = isForced ? undefined : this.#kept.get(key);
    if (kept !== undefined && this.#now() - kept.atMs < keptMs) return { seen: kept.seen, cached: true };
    const present = this.#underWay.get(key) ?? this.#begin(key, look);
    return { seen: await present, cached: false };
  }

  #begin(key: string, look: () => Promise<Seen>): Promise<Seen> {
    const begun = look()
      .then((seen) => {
        this.#keep(key, seen);
        return seen;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, begun);
    return begun;
  }

  #keep(key: string, seen: Seen): void {
    // The oldest stands first: what is renewed is put at the end.
    this.#kept.delete(key);
    for (const [oldest] of this.#kept) {
      if (this.#kept.size < mostKept) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(key, { atMs: this.#now(), seen });
  }
}
