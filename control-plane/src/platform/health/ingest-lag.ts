/** A shard as the lag is judged by. */
export type ShardProgress = {
  readonly shard: number;
  readonly foldedUntilMs: number | null;
  readonly hasOwner: boolean;
};

/** Beyond this the ingest counts as failing; in the steady state it stays below a few seconds. */
export const maxIngestLagSeconds = 60;

/**
 * How far the slowest shard that was ever folded is behind.
 * @returns null when none was
 */
export function ingestLagSeconds(shards: readonly ShardProgress[], nowMs: number): number | null {
  const folded = shards.flatMap((shard) => (shard.foldedUntilMs === null ? [] : [shard.foldedUntilMs]));
  return folded.length === 0 ? null : Math.max(0, nowMs - Math.min(...folded)) / 1_000;
}
