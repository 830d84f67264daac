/** Answers that are kept for a short time, so that many who ask the same cost one reading. */
export type KeptAnswers = {
  /** The answer under a key: a kept one, that of a read under way, or a new one. A read that fails is not kept. */
  readonly get: <Answer>(key: string, read: () => Promise<Answer>) => Promise<Answer>;
};

type Entry = { readonly sinceMs: number; readonly answer: Promise<unknown> };

/**
 * @param options.mostEntries bounds the memory: an answer is bounded by its contract, and the oldest one makes room
 * @param options.now milliseconds
 */
export function keptAnswers(options: {
  readonly keepMs: number;
  readonly mostEntries: number;
  readonly now: () => number;
}): KeptAnswers {
  // In the order of their reads: the oldest first.
  const entries = new Map<string, Entry>();
  const dropOld = (nowMs: number): void => {
    for (const [key, { sinceMs }] of entries) {
      const isYoung = nowMs - sinceMs < options.keepMs && sinceMs <= nowMs;
      if (isYoung && entries.size < options.mostEntries) return;
      entries.delete(key);
    }
  };
  return {
    get: async <Answer>(key: string, read: () => Promise<Answer>): Promise<Answer> => {
      const nowMs = options.now();
      const kept = entries.get(key);
      if (kept !== undefined && nowMs - kept.sinceMs < options.keepMs && kept.sinceMs <= nowMs) {
        return kept.answer as Promise<Answer>;
      }
      entries.delete(key);
      dropOld(nowMs);
      const answer = read();
      const entry = { sinceMs: nowMs, answer };
      entries.set(key, entry);
      try {
        return await answer;
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
  };
}
