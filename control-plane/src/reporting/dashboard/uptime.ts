const dayMs = 86_400_000;

const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** The UTC date of an instant. */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * The beginning of a window, the midnights (UTC) in it, and the midnight after it: what is summed ends by itself where it is known, and a day
 * that is not cut is the cheapest to read.
 */
export function dayEdges(fromMs: number, toMs: number): readonly number[] {
  const edges = [fromMs];
  for (let day = dayOf(fromMs) + 1; (day - 1) * dayMs < toMs; day += 1) edges.push(day * dayMs);
  return edges;
}

/**
 * Where a window ends, as with a single monitor: how far its shard is evaluated, of several the one that is ahead. Now, where one stands still,
 * because nobody knows what happened meanwhile.
 * @param evaluatedMs how far each shard is evaluated
 * @param lagMs how far evaluation is normally behind at most
 */
export function windowEnd(evaluatedMs: readonly number[], nowMs: number, lagMs: number): number {
  const isBehind = evaluatedMs.length === 0 || evaluatedMs.some((ms) => nowMs - Math.floor(ms) > lagMs);
  return isBehind ? nowMs : Math.min(nowMs, Math.floor(Math.max(...evaluatedMs)));
}

/** What failed: the lowest uptime first, then the longest downtime, then the older monitor. */
export function worstOf<Subject extends Failed>(subjects: readonly Subject[], most: number): readonly Subject[] {
  return subjects
    .filter(({ downtimeMs }) => downtimeMs > 0)
    .toSorted((a, b) => (a.uptime ?? 0) - (b.uptime ?? 0) || b.downtimeMs - a.downtimeMs || a.id - b.id)
    .slice(0, most);
}

type Failed = { readonly id: number; readonly uptime: number | null; readonly downtimeMs: number };
