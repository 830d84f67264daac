import type { RangeStatus, Status, Vote } from '../../../control-plane/src/monitoring/consensus/index.ts';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import type { MadeMonitor, MadeProbe, MadeRules, Stretch } from './made-month.ts';

/*
 * What the rules of consensus say of a month, computed once from all rows, in time that grows with them. It shares no code with the product: what
 * the product's own definition says of the same rows is compared with it by the test, where there are few enough.
 */

/** Half-open, microseconds. */
export type ReferenceSegment<Of> = { readonly fromUs: number; readonly toUs: number; readonly status: Of };
export type ReferenceRange = ReferenceSegment<RangeStatus>;

export type ReferenceTimeline = {
  readonly segments: readonly ReferenceSegment<Status>[];
  readonly ranges: readonly ReferenceRange[];
  readonly ownRanges: ReadonlyMap<number, readonly ReferenceRange[]>;
};

export type TimelineFacts = {
  readonly monitor: MadeMonitor;
  readonly rows: readonly IngestRow[];
  readonly probeIds: readonly number[];
  readonly probes: ReadonlyMap<number, MadeProbe>;
  /** How far results are evaluated; nothing is told of what comes after. */
  readonly untilUs: number;
};

type Held = ReferenceSegment<Vote>;
type Seat = Stretch & { readonly voter: number; readonly region: string; readonly supplement: boolean };
type Facts = {
  readonly startUs: number;
  readonly rules: readonly MadeRules[];
  readonly pauses: readonly Stretch[];
  readonly seats: readonly Seat[];
  readonly quarantines: readonly (Stretch & { readonly voter: number })[];
};

const never = Number.POSITIVE_INFINITY;
const acceptedUs = 49 * 3_600_000_000;
const holds = ({ fromUs, toUs }: Stretch, us: number): boolean => fromUs <= us && us < (toUs ?? never);

export function referenceTimeline({ monitor, rows, probeIds, probes, untilUs }: TimelineFacts): ReferenceTimeline {
  const voterOf = (probe: number): number => probeIds[probe - 1] ?? 0;
  const facts: Facts = {
    startUs: Math.max(monitor.createdUs, monitor.resetUs ?? monitor.createdUs),
    rules: monitor.rules,
    pauses: monitor.pauses,
    seats: monitor.seats.map(({ probe, ...seat }) => ({
      ...seat,
      voter: voterOf(probe),
      region: probes.get(voterOf(probe))?.region ?? '',
    })),
    quarantines: [...probes].flatMap(([voter, { quarantined }]) =>
      quarantined.map((stretch) => ({ ...stretch, voter })),
    ),
  };
  const held = new Map<number, Held[]>();
  for (const [voter, own] of Map.groupBy(rows, (row) => row.voter)) held.set(voter, votesOf(facts, voter, own));
  const segments = statusesOf(facts, held, untilUs);
  const ownRanges = new Map([...held].map(([voter, votes]) => [voter, rangesOf(cut(votes, untilUs))]));
  return { segments, ranges: rangesOf(segments), ownRanges };
}

function cut<Of>(list: readonly ReferenceSegment<Of>[], untilUs: number): ReferenceSegment<Of>[] {
  return list.filter(({ fromUs }) => fromUs < untilUs).map((one) => ({ ...one, toUs: Math.min(one.toUs, untilUs) }));
}

function rangesOf(segments: readonly ReferenceSegment<Status>[]): ReferenceRange[] {
  const ranges: ReferenceRange[] = [];
  for (const { fromUs, toUs, status: told } of segments) {
    if (told === 'UNKNOWN') continue;
    join(ranges, { fromUs, toUs, status: told === 'PARTIAL' || told === 'WARNING' ? 'DEGRADED' : told });
  }
  return ranges;
}

/** Appends a stretch, to the last one when that touches it and says the same. */
function join<Of>(list: ReferenceSegment<Of>[], next: ReferenceSegment<Of>): void {
  const last = list.at(-1);
  if (last !== undefined && last.toUs === next.fromUs && last.status === next.status)
    list[list.length - 1] = { ...last, toUs: next.toUs };
  else list.push(next);
}

const rulesAt = ({ rules }: Facts, us: number): MadeRules => {
  const found = rules.findLast(({ fromUs }) => fromUs <= us) ?? rules[0];
  if (found === undefined) throw new Error('a monitor has rules');
  return found;
};

/** Until when a voter that may vote at a time goes on to; the time itself when it may not. */
function mayVoteUntil(facts: Facts, voter: number, us: number): number {
  if (us < facts.startUs || facts.pauses.some((pause) => holds(pause, us))) return us;
  const seats =
    voter === 0 ? [{ fromUs: facts.startUs, toUs: null }] : facts.seats.filter((seat) => seat.voter === voter);
  const seat = seats.find((one) => holds(one, us));
  if (seat === undefined) return us;
  const pauseUs = facts.pauses.reduce((least, { fromUs }) => (fromUs > us ? Math.min(least, fromUs) : least), never);
  return Math.min(seat.toUs ?? never, pauseUs);
}

type Counted = IngestRow & { readonly untilUs: number };

function votesOf(facts: Facts, voter: number, rows: readonly IngestRow[]): Held[] {
  const counted: Counted[] = rows
    .filter(({ kind, outcome }) => kind !== 'manual' && outcome !== 'skipped')
    .filter(({ receivedUs, eUs }) => receivedUs - eUs <= acceptedUs)
    .filter(({ eUs, probeRevision }) => probeRevision >= rulesAt(facts, eUs).probeRevision)
    .map((row) => ({ ...row, untilUs: mayVoteUntil(facts, voter, row.eUs) }))
    .filter(({ untilUs, eUs }) => untilUs > eUs)
    .toSorted((one, other) => one.eUs - other.eUs);
  const goesOn = (row: Counted, next: Counted): boolean =>
    next.eUs - row.eUs <= row.freshS * 1_000_000 && next.probeRevision === row.probeRevision && next.eUs < row.untilUs;

  // Rows of one streak are told apart from others by their number; 0 is none.
  const streakOf: number[] = [];
  const confirmed = new Set<number>();
  let streak = 0;
  let length = 0;
  let last: Counted | undefined;
  for (const row of counted) {
    const isFailing = row.outcome === 'fail' || row.outcome === 'timeout';
    if (isFailing) {
      if (last === undefined || !goesOn(last, row)) {
        streak += 1;
        length = 0;
      }
      length += 1;
      if (length >= rulesAt(facts, row.eUs).confirmations) confirmed.add(streak);
      last = row;
    } else if (row.outcome !== 'probe_error') last = undefined;
    streakOf.push(isFailing ? streak : 0);
  }

  const held: Held[] = [];
  const refused = new Set<number>();
  let vote: Vote | null = null;
  for (const [index, row] of counted.entries()) {
    const before = counted[index - 1];
    const number = streakOf[index] ?? 0;
    if (row.outcome === 'fail') refused.add(number);
    if (row.outcome === 'ok') vote = 'UP';
    else if (row.outcome === 'slow') vote = 'DEGRADED';
    else if (row.outcome === 'warn') vote = 'WARNING';
    else if (number === 0) vote = null;
    else if (confirmed.has(number)) vote = refused.has(number) ? 'DOWN' : 'TIMEOUT';
    else if (before === undefined || !goesOn(before, row)) vote = null;
    const revisedUs =
      facts.rules.find(({ fromUs, probeRevision }) => fromUs > row.eUs && probeRevision > row.probeRevision)?.fromUs ??
      never;
    const toUs = Math.min(counted[index + 1]?.eUs ?? never, row.eUs + row.freshS * 1_000_000, row.untilUs, revisedUs);
    if (vote !== null && toUs > row.eUs) join(held, { fromUs: row.eUs, toUs, status: vote });
  }
  return held;
}

function statusesOf(
  facts: Facts,
  held: ReadonlyMap<number, readonly Held[]>,
  untilUs: number,
): ReferenceSegment<Status>[] {
  const edges = new Set<number>([facts.startUs]);
  const add = ({ fromUs, toUs }: Stretch): void => {
    for (const us of [fromUs, toUs ?? never]) if (us > facts.startUs && us < untilUs) edges.add(us);
  };
  for (const stretch of [...facts.pauses, ...facts.seats, ...facts.quarantines]) add(stretch);
  for (const { fromUs } of facts.rules) add({ fromUs, toUs: null });
  for (const votes of held.values()) votes.forEach(add);
  const instants = [...edges].sort((one, other) => one - other);
  const places = new Map([...held.keys()].map((voter) => [voter, 0]));
  const segments: ReferenceSegment<Status>[] = [];
  for (const [index, us] of instants.entries()) {
    const votes = new Map<number, Vote>();
    for (const [voter, own] of held) {
      let place = places.get(voter) ?? 0;
      while ((own[place]?.toUs ?? never) <= us) place += 1;
      places.set(voter, place);
      const vote = own[place];
      if (vote !== undefined && vote.fromUs <= us) votes.set(voter, vote.status);
    }
    join(segments, { fromUs: us, toUs: instants[index + 1] ?? untilUs, status: statusAt(facts, votes, us) });
  }
  return segments;
}

/** Rules 1, 4, 5, 13 and 15 at an instant. */
function statusAt(facts: Facts, held: ReadonlyMap<number, Vote>, us: number): Status {
  if (facts.pauses.some((pause) => holds(pause, us))) return 'UNKNOWN';
  const present = facts.seats.filter((seat) => holds(seat, us));
  const seated = present.filter(({ supplement }) => !supplement);
  const regionOf = new Map(present.map(({ voter, region }) => [voter, region]));
  const n = present.length === 0 ? 1 : seated.length;
  const regionsOfSeats = present.length === 0 ? 1 : new Set(seated.map(({ region }) => region)).size;
  const quorum = quorumOf(rulesAt(facts, us).policy, n);
  const votes = new Map(
    [...held].filter(([voter]) => !facts.quarantines.some((one) => one.voter === voter && holds(one, us))),
  );
  if (seated.length === 1 && [...votes.keys()].some((voter) => voter !== 0)) votes.delete(0);

  const list = [...votes.values()];
  const failing = [...votes].filter(([, vote]) => vote === 'DOWN' || vote === 'TIMEOUT');
  const failingRegions = new Set(failing.map(([voter]) => regionOf.get(voter) ?? 'central')).size;
  if (list.length === 0) return 'UNKNOWN';
  if (failing.length >= quorum && failingRegions >= Math.min(2, quorum, regionsOfSeats)) {
    return 2 * failing.filter(([, vote]) => vote === 'TIMEOUT').length > failing.length ? 'TIMEOUT' : 'DOWN';
  }
  if (failing.length > 0) return 'PARTIAL';
  if (2 * list.filter((vote) => vote === 'DEGRADED').length >= list.length) return 'DEGRADED';
  return list.includes('WARNING') ? 'WARNING' : 'UP';
}

function quorumOf(policy: MadeRules['policy'], n: number): number {
  const wanted =
    policy === 'any' ? 1 : policy === 'all' ? n : policy === 'majority' ? Math.max(2, Math.floor(n / 2) + 1) : policy;
  return Math.max(1, Math.min(n, wanted));
}
