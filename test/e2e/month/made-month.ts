import { errorCodes, freshSeconds } from '@parallax/checks';
import type { CheckKind, ErrorCode, Outcome } from '@parallax/checks';
import { packFlags } from '@parallax/wire';
import { centralFlag, fallbackFlag, lateFlag } from '../../../control-plane/src/monitoring/check-results/flags.ts';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import { seededRandom } from '../../../control-plane/src/monitoring/check-results/packed/testing/made-results.ts';
import type { Policy } from '../../../control-plane/src/monitoring/consensus/index.ts';

export const secondUs = 1_000_000;
export const minuteUs = 60 * secondUs;
export const hourUs = 60 * minuteUs;
export const dayUs = 24 * hourUs;

/** Half-open, microseconds since the epoch; null: it lasts. */
export type Stretch = { readonly fromUs: number; readonly toUs: number | null };
export type MadeSeat = Stretch & { readonly probe: number; readonly supplement: boolean };
export type MadeRules = {
  readonly fromUs: number;
  readonly probeRevision: number;
  readonly confirmations: number;
  readonly policy: Policy;
};

/** A probe: its number from 1, where it stands, and when it was not heard of or not believed. */
export type MadeProbe = {
  readonly number: number;
  readonly region: string;
  /** It did not run. */
  readonly lost: readonly Bounded[];
  /** It ran and could not send: its results came at the end. */
  readonly cut: readonly Bounded[];
  /** Its own uplink was away. */
  readonly faulty: readonly Bounded[];
  readonly quarantined: readonly Bounded[];
};

/** A monitor with all that befell it. */
export type MadeMonitor = {
  readonly index: number;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly createdUs: number;
  readonly resetUs: number | null;
  readonly rules: readonly MadeRules[];
  readonly seats: readonly MadeSeat[];
  readonly pauses: readonly Stretch[];
};

type Bounded = { readonly fromUs: number; readonly toUs: number };
type State = 'down' | 'hanging' | 'slow' | 'warning' | 'flapping' | 'regional';
type Episode = Bounded & { readonly state: State };

export type MonthOptions = {
  readonly seed: number;
  readonly monitors: number;
  readonly days: number;
  /** The end of the month; a whole millisecond. */
  readonly nowUs: number;
};

export type MadeMonth = {
  readonly probes: readonly MadeProbe[];
  readonly monitors: readonly MadeMonitor[];
  /** Results of a monitor, as they are stored under these identifiers. */
  readonly rowsOf: (monitor: MadeMonitor, monitorId: number, probeIds: readonly number[]) => IngestRow[];
};

const regions = ['eu', 'us', 'ap', 'eu', 'sa'];
const wholeMs = (us: number): number => Math.floor(us / 1_000) * 1_000;

/** A month of monitors and probes; for a seed always the same, counted from its beginning. */
export function madeMonth(options: MonthOptions): MadeMonth {
  const random = seededRandom(options.seed);
  const fromUs = options.nowUs - options.days * dayUs;
  const between = (low: number, high: number): number => low + random() * (high - low);
  const stretches = (count: number, shortUs: number, longUs: number): Bounded[] =>
    Array.from({ length: count }, (): Bounded => {
      const startUs = wholeMs(between(fromUs, options.nowUs - longUs));
      return { fromUs: startUs, toUs: startUs + wholeMs(between(shortUs, longUs)) };
    });
  const probes = regions.map(
    (region, index): MadeProbe => ({
      number: index + 1,
      region,
      lost: stretches(2, 20 * minuteUs, 7 * hourUs),
      cut: [
        ...stretches(3, 3 * minuteUs, index === 1 ? 40 * hourUs : 3 * hourUs),
        // The last one leaves hours stale that nobody has packed again.
        ...(index === 3 ? [{ fromUs: options.nowUs - 20 * hourUs, toUs: options.nowUs - hourUs }] : []),
      ],
      faulty: stretches(3, minuteUs, 12 * minuteUs),
      quarantined: index === 2 ? stretches(2, 31 * minuteUs, 5 * hourUs) : [],
    }),
  );
  const monitors = Array.from({ length: options.monitors }, (_, index) =>
    madeMonitor(index, probes, random, fromUs, options),
  );
  return {
    probes,
    monitors,
    rowsOf: (monitor, monitorId, probeIds) => madeRows(monitor, { monitorId, probeIds, probes, fromUs, ...options }),
  };
}

const intervals = [900, 21_600, 1_200, 43_200, 7_200, 86_400, 28_800, 14_400, 10_800, 86_400, 43_200];

function madeMonitor(
  index: number,
  probes: readonly MadeProbe[],
  random: () => number,
  monthUs: number,
  { nowUs, days }: MonthOptions,
): MadeMonitor {
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const momentUs = (from: number, to: number): number => wholeMs(from + random() * (to - from));
  // One of a minute: it has as many results as all that check every ten.
  const intervalS = index === 0 ? 60 : index === 37 ? 300 : (intervals[index % intervals.length] ?? 3_600);
  const timeoutS = pick([5, 10, 30]);
  const isNew = index % 9 === 4;
  const createdUs = isNew ? momentUs(monthUs, nowUs - days * 0.2 * dayUs) : monthUs - dayUs;
  const first: MadeRules = {
    fromUs: createdUs,
    probeRevision: 1,
    confirmations: pick([2, 2, 2, 1, 3, 5]),
    policy: pick(['majority', 'majority', 'majority', 'any', 'all', 2]),
  };
  const rules = [first];
  for (let edits = index % 4; edits > 0; edits -= 1) {
    const before = rules.at(-1) ?? first;
    const atUs = momentUs(before.fromUs, nowUs);
    rules.push({
      fromUs: atUs,
      probeRevision: before.probeRevision + (random() < 0.5 ? 1 : 0),
      confirmations: pick([before.confirmations, 1, 2, 4]),
      policy: pick([before.policy, 'majority', 'any', 'all']),
    });
  }
  const isCentral = index % 13 === 7;
  const count = isCentral ? 0 : 1 + (index % 4);
  const chosen = probes
    .map(({ number }) => number)
    .toSorted(() => random() - 0.5)
    .slice(0, count);
  const seats = chosen.map((probe): MadeSeat => ({ probe, fromUs: createdUs, toUs: null, supplement: false }));
  if (count > 1 && index % 5 === 1) moveSeat(seats, probes, momentUs(createdUs, nowUs));
  if (count > 2) addSupplements(seats, probes, createdUs);
  const pauses: Stretch[] = [];
  for (let left = index % 6 === 1 ? 3 : 0, afterUs = createdUs; left > 0; left -= 1) {
    const startUs = momentUs(afterUs, nowUs);
    const toUs = momentUs(startUs + minuteUs, startUs + 2 * dayUs);
    pauses.push({ fromUs: startUs, toUs: toUs < nowUs ? toUs : null });
    if (toUs >= nowUs) break;
    afterUs = toUs + hourUs;
  }
  // Nothing is measured of it any more, and what was is not kept as rows.
  if (index % 20 === 8) pauses.push({ fromUs: Math.max(createdUs, wholeMs(nowUs - 3.5 * dayUs)), toUs: null });
  const resetUs = index % 11 === 3 ? momentUs(createdUs + hourUs, nowUs - hourUs) : null;
  return { index, intervalS, timeoutS, createdUs, resetUs, rules, seats, pauses };
}

/** One probe leaves for another. */
function moveSeat(seats: MadeSeat[], probes: readonly MadeProbe[], atUs: number): void {
  const [leaving] = seats;
  const other = probes.find(({ number }) => seats.every(({ probe }) => probe !== number));
  if (leaving === undefined || other === undefined) return;
  seats[0] = { ...leaving, toUs: atUs };
  seats.push({ probe: other.number, fromUs: atUs, toUs: null, supplement: false });
}

/** While a probe is lost another stands in for it. */
function addSupplements(seats: MadeSeat[], probes: readonly MadeProbe[], createdUs: number): void {
  const seated = [...seats];
  for (const { probe } of seated.filter(({ toUs }) => toUs === null)) {
    const other = probes.find(({ number }) => seats.every((seat) => seat.probe !== number));
    const lost = probes.find(({ number }) => number === probe)?.lost[0];
    if (other === undefined || lost === undefined || lost.fromUs < createdUs) continue;
    const fromUs = lost.fromUs + minuteUs;
    seats.push({ probe: other.number, fromUs, toUs: lost.toUs + 10 * minuteUs, supplement: true });
  }
}

type RowsOptions = MonthOptions & {
  readonly monitorId: number;
  /** Of the probes, in the order of their numbers. */
  readonly probeIds: readonly number[];
  readonly probes: readonly MadeProbe[];
  readonly fromUs: number;
};

const within = (list: readonly Bounded[], us: number): Bounded | undefined =>
  list.find(({ fromUs, toUs }) => fromUs <= us && us < toUs);
const isIn = (list: readonly Stretch[], us: number): boolean =>
  list.some(({ fromUs, toUs }) => fromUs <= us && (toUs === null || us < toUs));

function madeRows(monitor: MadeMonitor, options: RowsOptions): IngestRow[] {
  const random = seededRandom(options.seed * 65_537 + monitor.index);
  const episodes = madeEpisodes(monitor, random, options);
  const rows: IngestRow[] = [];
  const voter = (maker: Omit<VoterMaker, 'monitor' | 'random' | 'episodes'>): void => {
    madeVotes({ ...maker, monitor, random, episodes }, options, rows);
  };
  for (const seat of monitor.seats) {
    const probe = options.probes[seat.probe - 1];
    const voterId = options.probeIds[seat.probe - 1];
    if (probe === undefined || voterId === undefined) continue;
    voter({ voterId, spans: [seat], probe, flags: 0, everyS: monitor.intervalS });
  }
  if (monitor.seats.length === 0) {
    voter({
      voterId: 0,
      spans: [{ fromUs: monitor.createdUs, toUs: null }],
      probe: undefined,
      flags: centralFlag,
      everyS: monitor.intervalS,
    });
  } else if (monitor.seats.length <= 2) {
    const everyS = Math.max(60, monitor.intervalS);
    const freshUs = freshSeconds(monitor.intervalS, monitor.timeoutS) * secondUs;
    const spans = monitor.seats
      .flatMap(({ probe }) => options.probes[probe - 1]?.lost ?? [])
      .flatMap(({ fromUs, toUs }) =>
        fromUs + freshUs < toUs && fromUs > monitor.createdUs ? [{ fromUs: fromUs + freshUs, toUs }] : [],
      );
    voter({ voterId: 0, spans: merged(spans), probe: undefined, flags: centralFlag | fallbackFlag, everyS });
  }
  addChecksByHand(monitor, random, options, rows);
  return rows;
}

function merged(spans: readonly Bounded[]): Bounded[] {
  const list: Bounded[] = [];
  for (const span of spans.toSorted((one, other) => one.fromUs - other.fromUs)) {
    const last = list.at(-1);
    if (last !== undefined && span.fromUs <= last.toUs)
      list[list.length - 1] = { ...last, toUs: Math.max(last.toUs, span.toUs) };
    else list.push(span);
  }
  return list;
}

/** What the target goes through. */
function madeEpisodes(
  { index, createdUs, intervalS }: MadeMonitor,
  random: () => number,
  { nowUs, fromUs }: RowsOptions,
): Episode[] {
  const states: readonly State[] = ['down', 'hanging', 'slow', 'warning', 'flapping', 'regional', 'down'];
  const begin = Math.max(createdUs, fromUs);
  return Array.from({ length: index % 17 === 5 ? 0 : 4 + (index % 9) }, (): Episode => {
    const startUs = begin + random() * (nowUs - begin);
    const state = states[Math.floor(random() * states.length)] ?? 'down';
    const isBlip = random() < 0.3;
    const lastsUs = isBlip
      ? 6 * secondUs + random() * minuteUs
      : (2 + 20 * random()) * Math.min(intervalS, 1_800) * secondUs;
    return { fromUs: startUs, toUs: startUs + lastsUs, state };
  });
}

type VoterMaker = {
  readonly monitor: MadeMonitor;
  readonly random: () => number;
  readonly episodes: readonly Episode[];
  readonly voterId: number;
  readonly spans: readonly Stretch[];
  readonly probe: MadeProbe | undefined;
  readonly flags: number;
  readonly everyS: number;
};

type Look = { readonly outcome: Outcome; readonly totalUs: number; readonly code: ErrorCode | undefined };

/** The results of one voter: on schedule, sooner while something fails, none while it is lost. */
function madeVotes(maker: VoterMaker, options: RowsOptions, rows: IngestRow[]): void {
  const { monitor, random, probe, everyS } = maker;
  const everyUs = everyS * secondUs;
  const phaseUs = Math.floor(random() * everyUs);
  const levelUs = 15_000 * Math.exp(2 * random());
  for (const span of maker.spans) {
    const endUs = Math.min(span.toUs ?? options.nowUs, options.nowUs);
    const beginUs = Math.max(span.fromUs, options.fromUs);
    const baseUs = options.fromUs + phaseUs;
    let slotUs = baseUs + Math.ceil((beginUs - baseUs) / everyUs) * everyUs;
    let recheckUs = Number.POSITIVE_INFINITY;
    let failures = 0;
    while (Math.min(slotUs, recheckUs) < endUs) {
      const isRecheck = recheckUs < slotUs;
      const eUs = isRecheck ? recheckUs : slotUs + (random() < 0.1 ? 0 : Math.floor(random() * 40_000));
      recheckUs = Number.POSITIVE_INFINITY;
      if (!isRecheck) slotUs += everyUs;
      if (eUs >= endUs) break;
      // An agent hears of a pause a moment later.
      const isPaused = isIn(monitor.pauses, eUs) && isIn(monitor.pauses, eUs - 3 * secondUs);
      if (isPaused || (probe !== undefined && within(probe.lost, eUs) !== undefined)) continue;
      const look = lookAt(maker, eUs, levelUs);
      const isFailing = look.outcome === 'fail' || look.outcome === 'timeout';
      failures = isFailing ? failures + 1 : 0;
      const receivedUs = receiptOf(eUs + look.totalUs, probe, random);
      if (receivedUs < options.nowUs - 3 * secondUs) {
        rows.push(
          rowOf(maker, options, eUs, {
            ...look,
            kind: isRecheck ? 'recheck' : 'scheduled',
            receivedUs,
            isFirst: failures === 1,
          }),
        );
      }
      if (isFailing) {
        const confirmations = monitor.rules.findLast(({ fromUs }) => fromUs <= eUs)?.confirmations ?? 2;
        const waitS = failures < confirmations ? Math.min(5, everyS / 2) : Math.max(30, everyS / 12);
        recheckUs = eUs + look.totalUs + Math.floor(waitS * secondUs);
      }
    }
  }
}

function receiptOf(doneUs: number, probe: MadeProbe | undefined, random: () => number): number {
  const cut = probe === undefined ? undefined : within(probe.cut, doneUs);
  const sentUs = cut === undefined ? doneUs : cut.toUs + (doneUs - cut.fromUs) / 1_000;
  return Math.floor(sentUs + 40_000 + random() * 260_000);
}

function lookAt({ monitor, random, episodes, probe, flags, voterId }: VoterMaker, eUs: number, levelUs: number): Look {
  const totalUs = Math.round(levelUs * Math.exp((random() + random() - 1) * 0.9));
  const episode = episodes.find(({ fromUs, toUs }) => fromUs <= eUs && eUs < toUs);
  const chance = random();
  if (probe !== undefined && within(probe.faulty, eUs) !== undefined)
    return { outcome: 'probe_error', totalUs: 0, code: undefined };
  if (flags === 0 && chance < 0.002) return { outcome: 'skipped', totalUs: 0, code: undefined };
  const refused: Look = { outcome: 'fail', totalUs: 1_000 + (totalUs % 3_000), code: 'connect_refused' };
  const hung: Look = { outcome: 'timeout', totalUs: monitor.timeoutS * secondUs, code: 'response_timeout' };
  switch (episode?.state) {
    case 'down':
      return refused;
    case 'hanging':
      return chance < 0.9 ? hung : refused;
    case 'slow':
      return { outcome: 'slow', totalUs: 6 * totalUs, code: undefined };
    case 'warning':
      return { outcome: 'warn', totalUs, code: undefined };
    case 'flapping':
      return Math.floor((eUs - episode.fromUs) / (3 * minuteUs)) % 2 === 0
        ? refused
        : { outcome: 'ok', totalUs, code: undefined };
    case 'regional':
      return voterId % 2 === 0 ? hung : { outcome: 'ok', totalUs, code: undefined };
    case undefined:
      return chance > 0.998 ? refused : { outcome: 'ok', totalUs, code: undefined };
  }
}

type MadeLook = Look & { readonly kind: CheckKind; readonly receivedUs: number; readonly isFirst: boolean };

function rowOf(
  maker: Pick<VoterMaker, 'monitor' | 'voterId' | 'flags' | 'random' | 'everyS'>,
  options: RowsOptions,
  eUs: number,
  look: MadeLook,
): IngestRow {
  const { monitor, voterId, flags, everyS } = maker;
  const source = look.code === undefined ? (look.outcome === 'probe_error' ? 'probe' : undefined) : 'target';
  const isLate = look.receivedUs - eUs - look.totalUs > 15 * secondUs;
  const phaseUs = Math.floor(look.totalUs / 4);
  // For a moment after an edit a probe still checks what was to be checked before.
  const knownUs = eUs - 2 * secondUs;
  const rules = monitor.rules.findLast(({ fromUs }) => fromUs <= knownUs) ?? monitor.rules[0];
  return {
    monitorId: options.monitorId,
    voter: voterId,
    eUs,
    receivedUs: look.receivedUs,
    kind: look.kind,
    outcome: look.outcome,
    flags: packFlags(look.kind, look.outcome, source) | flags | (isLate ? lateFlag : 0),
    error: look.code === undefined ? 0 : errorCodes[look.code],
    freshS: freshSeconds(everyS, monitor.timeoutS),
    probeRevision: rules?.probeRevision ?? 1,
    totalUs: look.totalUs,
    dnsUs: (eUs - options.fromUs) % 3 === 0 ? undefined : phaseUs,
    connectUs: phaseUs,
    tlsUs: undefined,
    firstByteUs: look.code === undefined ? phaseUs : undefined,
    transferUs: undefined,
    evidence:
      look.isFirst && look.code !== undefined
        ? { message: `${look.code} of ${eUs}`, json: `{"at":"${eUs}"}` }
        : undefined,
  };
}

/** Asked for now and then by somebody; counts nowhere. */
function addChecksByHand(monitor: MadeMonitor, random: () => number, options: RowsOptions, rows: IngestRow[]): void {
  const begin = Math.max(monitor.createdUs, options.fromUs);
  for (let left = monitor.index % 8; left > 0; left -= 1) {
    const eUs = Math.floor(begin + random() * (options.nowUs - 10 * minuteUs - begin));
    const seat = monitor.seats.find(({ fromUs, toUs }) => fromUs <= eUs && (toUs === null || eUs < toUs));
    const voterId = seat === undefined ? 0 : (options.probeIds[seat.probe - 1] ?? 0);
    const isGood = random() < 0.5;
    rows.push(
      rowOf(
        { monitor, voterId, flags: voterId === 0 ? centralFlag : 0, random, everyS: monitor.intervalS },
        options,
        eUs,
        {
          kind: 'manual',
          outcome: isGood ? 'ok' : 'fail',
          totalUs: 700_000,
          code: isGood ? undefined : 'connect_refused',
          receivedUs: eUs + 800_000,
          isFirst: false,
        },
      ),
    );
  }
}
