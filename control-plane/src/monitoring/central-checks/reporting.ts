/** What is known of a probe's session and of the results that it has not seen committed yet. Times in milliseconds. */
export type ProbeReport = {
  readonly isPaused: boolean;
  readonly openedMs: number;
  /** Its last sign of life. */
  readonly heardMs: number;
  /** Age of the oldest result in its log at its last heartbeat. */
  readonly oldestUnacknowledgedMs: number;
};

/** Rule 10: after so long without a sign of life a probe is lost. */
const lostAfterMs = 45_000;
/** A session that is younger may not have sent what waited for it. */
const settlesWithinMs = 60_000;
/**
 * A probe whose results pass has them back within two seconds. Heartbeats come every 15 s and a fallback begins 22 s after the last
 * result at the earliest, so one that waits since then has told of more than this.
 */
const waitingMs = 3_000;

/**
 * Whether results of a probe without a vote may yet come, because not the probe but the way to the ingest is what is broken. Then the
 * control plane does not step in: it would speak before those who have seen more.
 * @param report undefined: it has no session
 */
export function mayStillReport(report: ProbeReport | undefined, nowMs: number): boolean {
  if (report === undefined || report.isPaused || nowMs - report.heardMs > lostAfterMs) return false;
  return nowMs - report.openedMs < settlesWithinMs || report.oldestUnacknowledgedMs > waitingMs;
}
