/** Answers that are kept for a while, by their question; those that fail are not. */
export type KeptAnswers = {
  /** The kept answer, or the one that is being made, or a new one. */
  readonly answer: <Answer>(key: string, nowMs: number, make: () => Promise<Answer>) => Promise<Answer>;
};

/** @param most answers that are kept; the oldest go first */
export function keepAnswers(keptMs: number, most: number): KeptAnswers {
  const kept = new Map<string, { readonly untilMs: number; readonly answer: Promise<unknown> }>();
  return {
    answer: async <Answer>(key: string, nowMs: number, make: () => Promise<Answer>) => {
      const known = kept.get(key);
      // The key names the route, so what is kept under it was made by the same function.
      if (known !== undefined && nowMs < known.untilMs) return (await known.answer) as Answer;
      const answer = make();
      kept.delete(key);
      kept.set(key, { untilMs: nowMs + keptMs, answer });
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      answer.catch(() => kept.delete(key));
      return answer;
    },
  };
}
