const hourMs = 3_600_000;

/**
 * From when on results are shown, in milliseconds: not from before a reset, and for the retention of the plan, from a whole hour on, so that
 * their number does not change from one second to the next.
 */
export function shownSince(rule: {
  readonly resetMs: number | null;
  readonly nowMs: number;
  readonly retentionDays: number;
}): number {
  const keptMs = (Math.floor(rule.nowMs / hourMs) - rule.retentionDays * 24) * hourMs;
  return Math.max(rule.resetMs ?? 0, keptMs);
}
