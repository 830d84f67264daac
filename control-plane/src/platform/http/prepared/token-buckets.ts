/** Lets each key through so often; counted in the memory of this process. */
export type TokenBuckets = {
  /** Takes one of the key's tokens. @returns how long until there is one, in milliseconds; 0: one was taken */
  readonly take: (key: string) => number;
  /** Gives one back, for what turned out not to count. */
  readonly giveBack: (key: string) => void;
};

type Bucket = { tokens: number; atMs: number };

/**
 * @param options.perSecond how many tokens a key gets, which it may save up to `burst`
 * @param options.mostKeys that are remembered: who has asked longest ago is forgotten, and begins with a full bucket
 * @param options.now milliseconds
 */
export function tokenBuckets(options: {
  readonly perSecond: number;
  readonly burst: number;
  readonly mostKeys: number;
  readonly now: () => number;
}): TokenBuckets {
  const { perSecond, burst, mostKeys, now } = options;
  // In the order in which keys were first seen or forgotten to be full.
  const buckets = new Map<string, Bucket>();
  return {
    take: (key) => {
      const nowMs = now();
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        if (buckets.size >= mostKeys) buckets.delete(buckets.keys().next().value ?? '');
        bucket = { tokens: burst, atMs: nowMs };
        buckets.set(key, bucket);
      }
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) * perSecond) / 1_000);
      bucket.atMs = nowMs;
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1_000) / perSecond);
      bucket.tokens -= 1;
      return 0;
    },
    giveBack: (key) => {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.tokens = Math.min(burst, bucket.tokens + 1);
    },
  };
}
