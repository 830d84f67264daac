const hourMs = 3_600_000;
/** How far the evaluation of results is normally behind at most. */
const normalLagMs = 60_000;

/** What a report is about: half-open, whole milliseconds since the epoch. */
export type ReportWindow = {
  readonly hours: number;
  readonly requestedFromMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Why it begins later than asked. */
  readonly clampedBy: 'creation' | 'reset' | null;
  /** How far an open range is known to last. */
  readonly openUntilMs: number;
};

/**
 * The last hours as far as they are known: to where results are evaluated, which is seconds ago, so that those seconds do not count as
 * unknown; to now where the evaluation stands still, because then nobody knows. Not before the creation or the last reset.
 */
export function reportWindow(facts: {
  readonly hours: number;
  readonly nowMs: number;
  readonly createdMs: number;
  readonly resetMs: number | null;
  /** How far the monitor's shard is evaluated; null before its first round. */
  readonly foldedUntilMs: number | null;
}): ReportWindow {
  const nowMs = Math.floor(facts.nowMs);
  const openUntilMs = Math.min(nowMs, Math.floor(facts.foldedUntilMs ?? nowMs));
  const toMs = nowMs - openUntilMs <= normalLagMs ? openUntilMs : nowMs;
  const requestedFromMs = toMs - facts.hours * hourMs;
  const createdMs = Math.ceil(facts.createdMs);
  const resetMs = facts.resetMs === null ? Number.NEGATIVE_INFINITY : Math.ceil(facts.resetMs);
  const floorMs = Math.max(createdMs, resetMs);
  return {
    hours: facts.hours,
    requestedFromMs,
    fromMs: Math.min(toMs, Math.max(requestedFromMs, floorMs)),
    toMs,
    clampedBy: floorMs <= requestedFromMs ? null : resetMs > createdMs ? 'reset' : 'creation',
    openUntilMs,
  };
}
