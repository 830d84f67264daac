const dayMs = 86_400_000;

/** The UTC day of an instant, in days since the epoch. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** The UTC date of an instant. */
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The ends of a window and the midnights (UTC) in it. */
export function dayEdges(fromMs: number, toMs: number): readonly number[] {
  const edges = [fromMs];
  for (let atMs = (dayOf(fromMs) + 1) * dayMs; atMs < toMs; atMs += dayMs) edges.push(atMs);
  return [...edges, toMs];
}

/**
 * Where a window ends, as with a single monitor: how far all shards are evaluated. One that stands still does not hold it back, because
 * nobody knows what happened meanwhile.
 * @param evaluatedMs how far each shard is evaluated
 * @param lagMs how far evaluation is normally behind at most
 */
export function windowEnd(evaluatedMs: readonly number[], nowMs: number, lagMs: number): number {
  const known = evaluatedMs.map(Math.floor).filter((ms) => nowMs - ms <= lagMs);
  return Math.min(nowMs, ...known);
}

/** What failed: the lowest uptime first, then the longest downtime, then the older monitor. */
export function worstOf<Subject extends Failed>(subjects: readonly Subject[], most: number): readonly Subject[] {
  return subjects
    .filter(({ downtimeMs }) => downtimeMs > 0)
    .toSorted((a, b) => (a.uptime ?? 0) - (b.uptime ?? 0) || b.downtimeMs - a.downtimeMs || a.id - b.id)
    .slice(0, most);
}

type Failed = { readonly id: number; readonly uptime: number | null; readonly downtimeMs: number };
