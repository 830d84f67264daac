/** How close together losses are that have one cause. */
const togetherMs = 5 * 60_000;
/** A probe that has been lost for so long says nothing about the present; its seats have been given to others by then. */
const forgottenMs = 24 * 3_600_000;

/** A probe as the judgement sees it. Revoked ones are not among them. */
export type WatchedProbe = {
  /** Since when it is lost, ms since the epoch; null while it is heard of. */
  readonly lostSinceMs: number | null;
  readonly isPaused: boolean;
};

/**
 * True when more than half of the probes were lost within five minutes of each other and are lost still: more likely the control
 * plane's own network than theirs. One lost probe is never a mass, nor are paused ones or those that left days ago counted.
 */
export function isMassLoss(probes: readonly WatchedProbe[], nowMs: number): boolean {
  const counted = probes.filter(
    ({ isPaused, lostSinceMs }) => !isPaused && (lostSinceMs === null || nowMs - lostSinceMs < forgottenMs),
  );
  const lostMs = counted
    .flatMap(({ lostSinceMs }) => (lostSinceMs === null ? [] : [lostSinceMs]))
    .sort((a, b) => a - b);
  const most = Math.floor(counted.length / 2) + 1;
  if (most < 2) return false;
  return lostMs.some((firstMs, index) => {
    const lastMs = lostMs[index + most - 1];
    return lastMs !== undefined && lastMs - firstMs <= togetherMs;
  });
}
