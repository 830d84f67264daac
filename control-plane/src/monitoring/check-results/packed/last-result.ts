import type { ResultColumns } from './columns.ts';

/** What is shown of the last check of a monitor in an hour. */
export type LastResult = {
  /** Milliseconds within the hour. */
  readonly atMs: number;
  readonly totalUs: number;
  readonly flags: number;
};

const hourMs = 3_600_000;

const manual = 2;

/** The latest of some rows of an hour that nobody asked for by hand, whatever their order; null when there is none. Ties as in a chunk: by receipt, flags, duration. */
export function lastResultOf(rows: ResultColumns): LastResult | null {
  let last = -1;
  for (let at = 0; at < rows.length; at += 1) {
    if (((rows.flags[at] ?? 0) & 3) === manual) continue;
    if (last < 0 || rows.compare(last, at) < 0) last = at;
  }
  if (last < 0) return null;
  return {
    atMs: Math.floor((rows.eUs[last] ?? 0) / 1_000) % hourMs,
    totalUs: rows.totalUs[last] ?? 0,
    flags: rows.flags[last] ?? 0,
  };
}
