import type {
  Assignment,
  ConfigurationEvent,
  MonitorInputs,
  RangeEvidence,
  RangeRun,
  RangeStatus,
  Rule,
  Segment,
  Status,
  StoredResult,
  Vote,
  VoteEvidence,
} from './types.ts';

/*
 * The status timeline of a monitor, said as plainly as possible: from all rows at once, without state. It is the definition that the
 * increment is tested against and what `replay` runs; it shares no code with the increment. Cost grows with the square of the rows.
 */

/** Results that were received later than this after their effective time count nowhere (rule 11). */
const tooLateUs = 49 * 3_600_000_000;

/** Of the outcomes that count. */
const severity = ['ok', 'slow', 'warn', 'fail', 'timeout', 'probe_error'];

/** A vote that holds from `fromUs` until before `toUs`. */
type HeldVote = {
  readonly voter: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly vote: Vote;
  readonly error: number;
};

/** The monitor's own timeline and that of each voter; each partitions the window. */
export type Timeline = { readonly segments: Segment[]; readonly perVoter: Map<number, Segment[]> };

/**
 * F of the consensus rules over [windowFromUs, windowToUs).
 *
 * `results` are rows of the one monitor in any order, duplicates allowed. They must reach back before the window far enough to know each
 * voter's vote at its start (its last streak, or six results); rows after the window confirm streaks inside it.
 */
export function timeline(
  inputs: MonitorInputs,
  results: readonly StoredResult[],
  windowFromUs: number,
  windowToUs: number,
): Timeline {
  const voters = votersOf(inputs, results);
  const held = voters.flatMap((voter) => votesOf(inputs, results, voter));
  const instants = [
    windowFromUs,
    ...changesOf(inputs),
    ...held.map((vote) => vote.fromUs),
    ...held.map((vote) => vote.toUs),
  ].filter((t) => t >= windowFromUs && t < windowToUs);
  const starts = [...new Set(instants)].sort((a, b) => a - b);
  const pieces = starts.map((fromUs, index) => ({ fromUs, toUs: starts[index + 1] ?? windowToUs }));

  const segments = merged(pieces.map((piece) => ({ ...piece, ...statusAt(inputs, held, piece.fromUs) })));
  const perVoter = new Map<number, Segment[]>();
  for (const voter of voters) {
    const own = held.filter((vote) => vote.voter === voter);
    perVoter.set(voter, merged(pieces.map((piece) => ({ ...piece, ...ownStatusAt(own, piece.fromUs) }))));
  }
  return { segments, perVoter };
}

/** The ranges that segments of one timeline are stored as: PARTIAL and WARNING become DEGRADED, UNKNOWN becomes a gap (rule 6). */
export function ranges(segments: readonly Segment[]): RangeRun[] {
  const runs: RangeRun[] = [];
  for (const segment of segments) {
    if (segment.status === 'UNKNOWN') continue;
    const status = rangeStatusOf(segment.status);
    const last = runs.at(-1);
    if (last !== undefined && last.status === status && last.toUs === segment.fromUs) {
      runs[runs.length - 1] = { ...last, toUs: segment.toUs };
    } else {
      runs.push({ fromUs: segment.fromUs, toUs: segment.toUs, status, evidence: segment.evidence });
    }
  }
  return runs;
}

function rangeStatusOf(status: Exclude<Status, 'UNKNOWN'>): RangeStatus {
  return status === 'PARTIAL' || status === 'WARNING' ? 'DEGRADED' : status;
}

function merged(pieces: readonly Segment[]): Segment[] {
  const segments: Segment[] = [];
  for (const piece of pieces) {
    const last = segments.at(-1);
    if (last !== undefined && last.status === piece.status)
      segments[segments.length - 1] = { ...last, toUs: piece.toUs };
    else segments.push(piece);
  }
  return segments;
}

function votersOf(inputs: MonitorInputs, results: readonly StoredResult[]): number[] {
  const voters = new Set([0, ...inputs.assignments.map((row) => row.voter), ...results.map((row) => row.voter)]);
  return [...voters].sort((a, b) => a - b);
}

// ---- what holds at an instant ----------------------------------------------------------------------------------------------------

const contains = (interval: { fromUs: number; toUs: number | null }, t: number): boolean =>
  interval.fromUs <= t && (interval.toUs === null || t < interval.toUs);

/** The last event that has come; before the first one, the first. */
function configurationAt(inputs: MonitorInputs, t: number): Omit<ConfigurationEvent, 'fromUs'> {
  const ordered = [...inputs.configurations].sort((a, b) => a.fromUs - b.fromUs);
  const firstUs = Math.max(t, ordered[0]?.fromUs ?? t);
  const standard = { probeRevision: 0, confirmations: 2, policy: 'majority' } as const;
  return ordered.findLast((event) => event.fromUs <= firstUs) ?? standard;
}

const startOf = (inputs: MonitorInputs): number => Math.max(inputs.createdUs, inputs.resetUs ?? inputs.createdUs);
const isPaused = (inputs: MonitorInputs, t: number): boolean => inputs.pauses.some((pause) => contains(pause, t));

/** May this voter vote now at all? `central` needs no assignment: it checks what has no probe, and stands in for probes. */
function mayVote(inputs: MonitorInputs, voter: number, t: number): boolean {
  if (t < startOf(inputs) || isPaused(inputs, t)) return false;
  return voter === 0 || inputs.assignments.some((row) => row.voter === voter && contains(row, t));
}

/** Every instant at which an input changes. */
function changesOf(inputs: MonitorInputs): number[] {
  const intervals = [...inputs.assignments, ...inputs.pauses, ...inputs.quarantines];
  return [
    startOf(inputs),
    ...inputs.configurations.map((event) => event.fromUs),
    ...intervals.map((interval) => interval.fromUs),
    ...intervals.flatMap((interval) => (interval.toUs === null ? [] : [interval.toUs])),
    ...inputs.assignments.flatMap((row) => (row.countsByUs === undefined ? [] : [row.countsByUs])),
  ];
}

/** The first instant after `t` at which `holds` does; infinity when there is none. */
function firstChangeAfter(inputs: MonitorInputs, t: number, holds: (change: number) => boolean): number {
  return Math.min(Number.POSITIVE_INFINITY, ...changesOf(inputs).filter((change) => change > t && holds(change)));
}

const barredFrom = (inputs: MonitorInputs, voter: number, t: number): number =>
  firstChangeAfter(inputs, t, (change) => !mayVote(inputs, voter, change));

// ---- from results to votes -------------------------------------------------------------------------------------------------------

const isFailing = (row: StoredResult): boolean => row.outcome === 'fail' || row.outcome === 'timeout';
const freshUs = (row: StoredResult): number => row.freshS * 1_000_000;

/** Rules 1, 11 and 15. */
function counts(inputs: MonitorInputs, row: StoredResult): boolean {
  return (
    row.kind !== 'manual' &&
    row.outcome !== 'skipped' &&
    row.receivedUs - row.eUs <= tooLateUs &&
    mayVote(inputs, row.voter, row.eUs) &&
    row.probeRevision >= configurationAt(inputs, row.eUs).probeRevision
  );
}

/** Oldest first. Of several at one instant, which are a probe's defect, the last by any of its columns is the one that counts. */
function countingRows(inputs: MonitorInputs, results: readonly StoredResult[], voter: number): StoredResult[] {
  const rows = results.filter((row) => row.voter === voter && counts(inputs, row));
  rows.sort(
    (a, b) =>
      a.eUs - b.eUs ||
      a.probeRevision - b.probeRevision ||
      severity.indexOf(a.outcome) - severity.indexOf(b.outcome) ||
      a.freshS - b.freshS ||
      a.error - b.error,
  );
  return rows.filter((row, index) => rows[index + 1]?.eUs !== row.eUs);
}

/** Rule 3: maximal runs of failing rows; a probe's own error is neither in a streak nor does it end one. */
function streaksOf(inputs: MonitorInputs, rows: readonly StoredResult[]): StoredResult[][] {
  const streaks: StoredResult[][] = [];
  let current: StoredResult[] = [];
  for (const row of rows) {
    if (row.outcome === 'probe_error') continue;
    if (!isFailing(row)) {
      current = [];
      continue;
    }
    const last = current.at(-1);
    if (last !== undefined && goesOn(inputs, last, row)) {
      current.push(row);
    } else {
      current = [row];
      streaks.push(current);
    }
  }
  return streaks;
}

/** Is `next` near enough to `row`, with nothing between that starts anew? */
function goesOn(inputs: MonitorInputs, row: StoredResult, next: StoredResult): boolean {
  return (
    next.eUs - row.eUs <= freshUs(row) &&
    next.probeRevision === row.probeRevision &&
    barredFrom(inputs, row.voter, row.eUs) > next.eUs
  );
}

const isConfirmed = (inputs: MonitorInputs, streak: readonly StoredResult[]): boolean =>
  streak.some((row, index) => index + 1 >= configurationAt(inputs, row.eUs).confirmations);

/** Rules 2 and 3: what the voter's rows say, each until its next row, its freshness, or the end of its right to vote. */
function votesOf(inputs: MonitorInputs, results: readonly StoredResult[], voter: number): HeldVote[] {
  const rows = countingRows(inputs, results, voter);
  const streaks = streaksOf(inputs, rows);
  const held: HeldVote[] = [];
  let previous: { row: StoredResult; vote: Vote | null } | undefined;
  rows.forEach((row, index) => {
    const carried = previous !== undefined && goesOn(inputs, previous.row, row) ? previous.vote : null;
    const streak = streaks.find((candidate) => candidate.includes(row));
    const vote = voteOf(inputs, row, streak, carried);
    previous = { row, vote };
    const toUs = Math.min(
      rows[index + 1]?.eUs ?? Number.POSITIVE_INFINITY,
      row.eUs + freshUs(row),
      barredFrom(inputs, voter, row.eUs),
      firstChangeAfter(inputs, row.eUs, (change) => configurationAt(inputs, change).probeRevision > row.probeRevision),
    );
    if (vote !== null) held.push({ voter, fromUs: row.eUs, toUs, vote, error: row.error });
  });
  return held;
}

function voteOf(
  inputs: MonitorInputs,
  row: StoredResult,
  streak: readonly StoredResult[] | undefined,
  carried: Vote | null,
): Vote | null {
  if (row.outcome === 'ok') return 'UP';
  if (row.outcome === 'slow') return 'DEGRADED';
  if (row.outcome === 'warn') return 'WARNING';
  if (streak === undefined) return null;
  if (!isConfirmed(inputs, streak)) return carried;
  return streak.some((member) => member.outcome === 'fail' && member.eUs <= row.eUs) ? 'DOWN' : 'TIMEOUT';
}

// ---- from votes to a status ------------------------------------------------------------------------------------------------------

/** Rule 4. */
function quorumOf(policy: ConfigurationEvent['policy'], n: number): number {
  if (policy === 'any') return 1;
  if (policy === 'all') return Math.max(1, n);
  if (policy === 'majority') return Math.floor(n / 2) + 1;
  return Math.max(1, Math.min(n, Math.floor(policy)));
}

/**
 * Whether a seat that is open at `t` is among the N. One that opens beside others joins them: it counts from the first vote in it, from its
 * stored time, or from when a seat closes, whichever is first. So a probe that is new to an outage does not split it, a probe
 * that never votes cannot keep N down, and a seat that goes from one probe to another leaves N as it is.
 */
function isCounted(inputs: MonitorInputs, held: readonly HeldVote[], row: Assignment, t: number): boolean {
  if (row.countsByUs === undefined || row.countsByUs <= t) return true;
  const seats = inputs.assignments.filter((other) => !other.supplement);
  const isFirst = !seats.some(
    (other) => other.fromUs < row.fromUs && (other.toUs === null || other.toUs >= row.fromUs),
  );
  const hasClosed = seats.some((other) => other.toUs !== null && other.toUs >= row.fromUs && other.toUs <= t);
  return (
    isFirst || hasClosed || held.some((vote) => vote.voter === row.voter && vote.fromUs <= t && vote.toUs > row.fromUs)
  );
}

const nobody = (rule: Rule) => ({ status: 'UNKNOWN', evidence: { rule, quorum: 0, voters: [], missing: [] } }) as const;

/** Rules 4 and 5 at one instant. */
function statusAt(
  inputs: MonitorInputs,
  held: readonly HeldVote[],
  t: number,
): { status: Status; evidence: RangeEvidence } {
  if (t < startOf(inputs)) return nobody('not_started');
  if (isPaused(inputs, t)) return nobody('paused');

  const open = inputs.assignments.filter((row) => contains(row, t));
  const seats = new Map<number, string>();
  for (const row of open) {
    if (!row.supplement && isCounted(inputs, held, row, t)) seats.set(row.voter, row.region);
  }
  if (open.length === 0) seats.set(0, 'central');
  const regionOf = (voter: number): string =>
    seats.get(voter) ?? open.find((row) => row.voter === voter)?.region ?? 'central';

  const quorum = quorumOf(configurationAt(inputs, t).policy, seats.size);
  const regionsNeeded = Math.min(2, quorum, new Set(seats.values()).size);

  const isQuarantined = (voter: number) => inputs.quarantines.some((row) => row.voter === voter && contains(row, t));
  let electors = held.filter((vote) => contains(vote, t) && !isQuarantined(vote.voter));
  // Rule 1: beside a single probe the fallback votes only while there is no other vote.
  const probes = electors.filter((vote) => vote.voter !== 0);
  if (seats.size === 1 && probes.length > 0) electors = probes;

  const failing = electors.filter((vote) => vote.vote === 'DOWN' || vote.vote === 'TIMEOUT');
  const timedOut = failing.filter((vote) => vote.vote === 'TIMEOUT');
  const slow = electors.filter((vote) => vote.vote === 'DEGRADED');
  const warned = electors.filter((vote) => vote.vote === 'WARNING');
  const failingRegions = new Set(failing.map((vote) => regionOf(vote.voter)));

  const says = (status: Status, rule: Rule) => ({
    status,
    evidence: {
      rule,
      quorum,
      voters: electors.map((vote) => evidenceOf(held, vote)),
      missing: [...seats.keys()]
        .filter((voter) => !electors.some((vote) => vote.voter === voter))
        .sort((a, b) => a - b),
      ...(status === 'PARTIAL' && electors.length < quorum ? { quorum_out_of_reach: true } : {}),
    },
  });
  if (electors.length === 0) return says('UNKNOWN', 'no_votes');
  if (failing.length >= quorum && failingRegions.size >= regionsNeeded) {
    return timedOut.length * 2 > failing.length ? says('TIMEOUT', 'quorum_timed_out') : says('DOWN', 'quorum_failing');
  }
  if (failing.length > 0) return says('PARTIAL', 'some_failing');
  if (slow.length * 2 >= electors.length) return says('DEGRADED', 'half_slow');
  if (warned.length > 0) return says('WARNING', 'any_warning');
  return says('UP', 'answered');
}

/** Walks back over what the same voter said before without a break. */
function evidenceOf(held: readonly HeldVote[], vote: HeldVote): VoteEvidence {
  let first = vote;
  for (;;) {
    const before = held.find(
      (other) => other.voter === vote.voter && other.vote === vote.vote && other.toUs === first.fromUs,
    );
    if (before === undefined) break;
    first = before;
  }
  return { voter: vote.voter, vote: vote.vote, sinceUs: first.fromUs, error: vote.error };
}

function ownStatusAt(own: readonly HeldVote[], t: number): { status: Status; evidence: RangeEvidence } {
  const vote = own.find((candidate) => contains(candidate, t));
  return {
    status: vote?.vote ?? 'UNKNOWN',
    evidence: {
      rule: vote === undefined ? 'no_votes' : 'own_votes',
      quorum: 0,
      voters: vote === undefined ? [] : [evidenceOf(own, vote)],
      missing: [],
    },
  };
}
