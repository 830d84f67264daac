/** A result of a probe about a monitor, as far as it can contradict others: scheduled or recheck, with a verdict. */
export type Look = {
  readonly probeId: number;
  /** Effective time, ms since the epoch. */
  readonly atMs: number;
  readonly isFailing: boolean;
  /** Of the probe's own rhythm: one in each interval. */
  readonly isScheduled: boolean;
};

/** A monitor of the probe that is judged, with what everybody saw of it lately. */
export type SeenMonitor = {
  readonly workspaceId: number;
  readonly intervalMs: number;
  /** Up to here everything is folded, ms since the epoch. */
  readonly untilMs: number;
  /**
   * Within two intervals up to `untilMs`; those of others only if they may bear witness, and of those no more are needed than the first and
   * the last of each answer.
   */
  readonly looks: readonly Look[];
};

/** On how many monitors a probe stood alone. */
export type Tally = {
  /** Monitors that it looked at within two intervals. */
  readonly checked: number;
  /** Of those: where it said what nobody else said, while all others agreed over both intervals. */
  readonly alone: number;
  /** Of those: where it did so in both. */
  readonly again: number;
};

export type Testimony = Tally & {
  /** The same without the workspace on whose monitors it was alone most; null where nobody could contradict it on others. */
  readonly elsewhere: Tally | null;
};

/** Fewer monitors than this may fail for one probe by chance. */
const leastMonitors = 5;
/** In both intervals on fewer than two may be trouble in one of them, and chance in the other. */
const leastAgain = 2;
/** Whether a target fails can be told against one probe by two others, never by one: of two nobody knows who is right. */
const leastWitnesses = 2;

/**
 * Counts on which monitors a probe contradicts everybody else. At a monitor all others, at least two, must have agreed in all that they
 * saw for two intervals. That it is up needs no more, for one answer proves it; that it is down must be seen from two regions where there
 * are as many, as for an outage (rule 4): a region may be cut off. A look counts only when somebody looked after it, and, where the others
 * fail, when somebody had failed before: else it is merely the first to know, or the last.
 */
export function testify(
  probeId: number,
  monitors: readonly SeenMonitor[],
  regionOf: ReadonlyMap<number, string>,
): Testimony {
  const seen = monitors.map((monitor) => ({
    workspaceId: monitor.workspaceId,
    ...contradictions(probeId, monitor, regionOf),
  }));
  const all = tally(seen);
  const most = worst(seen);
  const others = seen.filter(({ workspaceId, isComparable }) => workspaceId !== most && isComparable);
  return { ...all, elsewhere: others.length === 0 ? null : tally(others) };
}

/**
 * Rule 13: at least five monitors and at least half of what a probe checks fail for it alone, or are fine for it alone, over two intervals.
 * One who keeps that up, or says anything by chance, is alone on some of them in both intervals; what was over within one is not judged.
 * Monitors of one workspace never suffice where there are others: their target may refuse this probe.
 */
export function isUnfit({ checked, alone, again, elsewhere }: Testimony): boolean {
  if (alone < leastMonitors || alone * 2 < checked || again < Math.max(leastAgain, alone / 8)) return false;
  return elsewhere === null || elsewhere.alone * 2 >= elsewhere.checked;
}

/** In quarantine: the probe agrees with the others well enough for its time to run. Less is asked for than to be put there. */
export function isClean({ checked, alone }: Tally): boolean {
  return checked > 0 && (alone < leastMonitors || alone * 4 < checked);
}

type Seen = {
  readonly isChecked: boolean;
  /** There were enough others, and they agreed. */
  readonly isComparable: boolean;
  readonly isBefore: boolean;
  readonly isRecent: boolean;
};

function contradictions(probeId: number, monitor: SeenMonitor, regionOf: ReadonlyMap<number, string>): Seen {
  const own = monitor.looks.filter((look) => look.probeId === probeId && look.isScheduled);
  const others = monitor.looks.filter((look) => look.probeId !== probeId);
  const isComparable = own.length > 0 && isUnanimous(probeId, others, regionOf);
  const isFailing = others[0]?.isFailing ?? false;
  const lastMs = Math.max(...others.map((look) => look.atMs));
  const firstMs = isFailing ? Math.min(...others.map((look) => look.atMs)) : Number.NEGATIVE_INFINITY;
  const wrong = isComparable
    ? own.filter((look) => look.isFailing !== isFailing && look.atMs >= firstMs && look.atMs <= lastMs)
    : [];
  const middleMs = monitor.untilMs - monitor.intervalMs;
  return {
    isChecked: own.length > 0,
    isComparable,
    isBefore: wrong.some((look) => look.atMs <= middleMs),
    isRecent: wrong.some((look) => look.atMs > middleMs),
  };
}

function isUnanimous(probeId: number, others: readonly Look[], regionOf: ReadonlyMap<number, string>): boolean {
  const witnesses = new Set(others.map((look) => look.probeId));
  const isFailing = others[0]?.isFailing;
  if (witnesses.size < leastWitnesses || others.some((look) => look.isFailing !== isFailing)) return false;
  if (isFailing !== true) return true;
  const regions = new Set([...witnesses].map((id) => regionOf.get(id)));
  const possible = new Set([...regions, regionOf.get(probeId)]);
  return regions.size >= Math.min(2, possible.size);
}

function tally(seen: readonly Seen[]): Tally {
  return {
    checked: seen.filter((one) => one.isChecked).length,
    alone: seen.filter((one) => one.isBefore || one.isRecent).length,
    again: seen.filter((one) => one.isBefore && one.isRecent).length,
  };
}

/** The workspace on whose monitors the probe was alone most often. */
function worst(seen: readonly (Seen & { readonly workspaceId: number })[]): number | undefined {
  const counts = new Map<number, number>();
  for (const one of seen)
    if (one.isBefore || one.isRecent) counts.set(one.workspaceId, (counts.get(one.workspaceId) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}
