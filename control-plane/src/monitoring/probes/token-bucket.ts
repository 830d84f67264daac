/** How many at once, and how many a second afterwards. */
export type Rate = { readonly burst: number; readonly perSecond: number };

/** Counts against a rate; `take` says whether one more is within it. Times are milliseconds of any clock that does not go back. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number): boolean {
    const grown = this.#tokens + (Math.max(0, nowMs - this.#atMs) / 1000) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, grown);
    this.#atMs = Math.max(this.#atMs, nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** A bucket for each key. Bounded: with too many keys the one that was used longest ago is forgotten. */
export class KeyedBuckets {
  readonly #rate: Rate;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: Rate, maxKeys = 10_000) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  take(key: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#rate, nowMs);
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) {
      const oldest = this.#buckets.keys().next().value;
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket.take(nowMs);
  }
}
