import fc from '@parallax/testkit/fast-check';
import type { Outcome } from '@parallax/checks';
import { at, Ingester, inputsOf } from './test-support.ts';
import type { Assignment, ConfigurationEvent, Interval, MonitorInputs, Policy, StoredResult } from './types.ts';

/** A result and how long after its effective time it arrives, and a second time. */
export type Arrival = { readonly row: StoredResult; readonly delayS: number; readonly againS: number | null };

/** A monitor's life: its final inputs, all results, and what the ingester goes through. Seconds after the origin. */
export type History = {
  readonly inputs: MonitorInputs;
  readonly arrivals: readonly Arrival[];
  /** Resets; how long after each its results, and after it is known its ranges, are removed. The last one is that of the inputs. */
  readonly resets: readonly { readonly atS: number; readonly emptyAfterS: number }[];
  /** How much later than its effective time a change of the inputs is known. */
  readonly knownAfterS: number;
  /** Whether the ends of intervals are known from their beginning on. */
  readonly endsKnown: boolean;
  readonly restarts: readonly { readonly atS: number; readonly backS: number }[];
  /** Applied results are taken when this many applies have gathered. */
  readonly takeEvery: number;
  readonly applySize: number;
  /** The last that happens. */
  readonly stopS: number;
};

const voters = [1, 2, 3, 4];
const regions = ['eu', 'us', 'eu', 'ap'];
const endS = 420;

const second = fc.integer({ min: 0, max: endS });
const interval = fc
  .tuple(second, fc.option(fc.integer({ min: 0, max: 120 }), { freq: 3 }))
  .map(([from, length]): Interval => ({ fromUs: at(from), toUs: length === null ? null : at(from + length) }));

const mostly = <T>(usual: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: seldom });

/** Runs of one outcome, so that streaks come about and end. */
const outcomeRun = fc.tuple(
  fc.constantFrom<Outcome>('ok', 'ok', 'fail', 'fail', 'timeout', 'slow', 'warn', 'probe_error', 'skipped'),
  mostly(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 14 })),
);
const outcomes = fc
  .array(outcomeRun, { minLength: 1, maxLength: 9 })
  .map((runs) => runs.flatMap(([outcome, length]) => Array.from({ length }, () => outcome)));

const step = fc.record({
  gapS: mostly(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 60 })),
  freshS: mostly(fc.integer({ min: 8, max: 30 }), fc.constant(100)),
  kind: mostly(fc.constantFrom('scheduled', 'recheck'), fc.constant('manual')),
  stale: mostly(fc.constant(false), fc.boolean()),
  delayS: mostly(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: endS })),
  againS: fc.option(fc.integer({ min: 0, max: 200 }), { freq: 6 }),
  tooLate: mostly(fc.constant(false), fc.boolean()),
  error: fc.constantFrom(0, 20, 52),
});

function streamOf(voter: number, revisionAt: (t: number) => number): fc.Arbitrary<Arrival[]> {
  return fc.tuple(outcomes, fc.array(step, { minLength: 126, maxLength: 126 })).map(([own, steps]) => {
    let s = voter;
    return own.map((outcome, index): Arrival => {
      const { gapS, freshS, kind, stale, delayS, againS, tooLate, error } = steps[index] ?? fail();
      s += gapS;
      const eUs = at(s);
      const probeRevision = Math.max(1, revisionAt(eUs) - (stale ? 1 : 0));
      const receivedUs = eUs + (tooLate ? 49 * 3_600_000_000 + 1 : delayS * 1_000_000);
      return { row: { eUs, voter, kind, outcome, error, freshS, probeRevision, receivedUs }, delayS, againS };
    });
  });
}

function fail(): never {
  throw new Error('more outcomes than steps');
}

const policy = fc.oneof(fc.constantFrom<Policy>('majority', 'any', 'all'), fc.integer({ min: 1, max: 5 }));

const configurations = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }),
    policy,
    fc.array(fc.record({ fromS: second, confirmations: fc.integer({ min: 1, max: 5 }), policy, isNew: fc.boolean() }), {
      maxLength: 2,
    }),
  )
  .map(([confirmations, first, changes]): ConfigurationEvent[] => {
    let probeRevision = 1;
    const later = [...changes]
      .sort((a, b) => a.fromS - b.fromS)
      .map((change) => {
        if (change.isNew) probeRevision += 1;
        const { confirmations, policy } = change;
        return { fromUs: at(change.fromS), probeRevision, confirmations, policy, intervalS: 10 };
      });
    return [{ fromUs: at(0), probeRevision: 1, confirmations, policy: first, intervalS: 10 }, ...later];
  });

const assignments = fc
  .tuple(
    fc.integer({ min: 0, max: 4 }),
    fc.array(
      fc.record({
        voter: fc.constantFrom(...voters),
        when: interval,
        supplement: fc.boolean(),
        joinsForS: fc.option(fc.integer({ min: 0, max: 200 })),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([steady, others]): Assignment[] => [
    ...voters.slice(0, steady).map((voter) => seatOf(voter, { fromUs: at(0), toUs: null }, false)),
    ...others.map(({ voter, when, supplement, joinsForS }) => ({
      ...seatOf(voter, when, supplement),
      ...(joinsForS === null ? {} : { countsByUs: when.fromUs + joinsForS * 1_000_000 }),
    })),
  ]);

const seatOf = (voter: number, when: Interval, supplement: boolean): Assignment => ({
  ...when,
  voter,
  region: regions[voter - 1] ?? 'eu',
  supplement,
});

const inputs = fc
  .record({
    assignments,
    configurations,
    pauses: fc.array(interval, { maxLength: 1 }),
    quarantines: fc.array(fc.tuple(interval, fc.constantFrom(...voters)), { maxLength: 1 }),
  })
  .map(({ quarantines, ...rest }) =>
    inputsOf({ ...rest, quarantines: quarantines.map(([when, voter]) => ({ ...when, voter })) }),
  );

const resets = fc
  .array(fc.record({ atS: second, emptyAfterS: fc.constantFrom(0, 0, 3, 100) }), { minLength: 1, maxLength: 2 })
  .map((found) => [...found].sort((a, b) => a.atS - b.atS));

const perhapsResets: fc.Arbitrary<History['resets']> = fc.oneof(fc.constant<History['resets']>([]), resets);

/** Times of resets, each as far as it is known then. */
const resetUsAt = (list: History['resets'], t: number): number | null =>
  list.reduce<number | null>((last, { atS }) => (at(atS) <= t ? at(atS) : last), null);

export const arbitraryHistory: fc.Arbitrary<History> = fc.tuple(inputs, perhapsResets).chain(([others, resetList]) => {
  const given = { ...others, resetUs: resetUsAt(resetList, Number.POSITIVE_INFINITY) };
  const revisionAt = (t: number) => given.configurations.findLast((event) => event.fromUs <= t)?.probeRevision ?? 1;
  return fc.record({
    inputs: fc.constant(given),
    resets: fc.constant(resetList),
    arrivals: fc.tuple(...[0, ...voters].map((voter) => streamOf(voter, revisionAt))).map((streams) => streams.flat()),
    knownAfterS: fc.constantFrom(0, 0, 1, 5, 80),
    endsKnown: fc.boolean(),
    restarts: fc.array(fc.record({ atS: second, backS: fc.integer({ min: 0, max: 200 }) }), { maxLength: 3 }),
    takeEvery: fc.integer({ min: 1, max: 4 }),
    applySize: fc.integer({ min: 1, max: 30 }),
    stopS: fc.integer({ min: 5, max: endS + 400 }),
  });
});

/** The inputs as far as they are known: what begins later is not there, what ends later is open unless its end is known ahead. */
function knownUntil(history: History, t: number): MonitorInputs {
  const { inputs, endsKnown } = history;
  const known = <T extends Interval>(rows: readonly T[]): T[] =>
    rows
      .filter((row) => row.fromUs <= t)
      .map((row) => ({ ...row, toUs: row.toUs !== null && (endsKnown || row.toUs <= t) ? row.toUs : null }));
  return {
    ...inputs,
    resetUs: resetUsAt(history.resets, t),
    assignments: known(inputs.assignments),
    pauses: known(inputs.pauses),
    quarantines: known(inputs.quarantines),
    configurations: inputs.configurations.filter((event) => event.fromUs <= t || event.fromUs === at(0)),
  };
}

function changesOf(inputs: MonitorInputs): number[] {
  const intervals: readonly Interval[] = [...inputs.assignments, ...inputs.pauses, ...inputs.quarantines];
  return [
    ...intervals.flatMap((row) => [row.fromUs, row.toUs ?? row.fromUs]),
    ...inputs.configurations.map((event) => event.fromUs),
  ];
}

type Happening = {
  readonly atUs: number;
  readonly emptyRowsUs?: number;
  readonly emptyRangesUs?: number;
  readonly row?: StoredResult;
  readonly backUs?: number;
  readonly knownUs?: number;
};

/** Lets an ingester live through a history in the order in which things become known. */
export function play(history: History): Ingester {
  const { inputs, arrivals, knownAfterS, restarts, resets, takeEvery, applySize } = history;
  const knownAfterUs = knownAfterS * 1_000_000;
  const happenings: Happening[] = [
    ...arrivals.map(({ row, delayS }) => ({ atUs: row.eUs + delayS * 1_000_000, row })),
    ...arrivals.flatMap(({ row, delayS, againS }) =>
      againS === null ? [] : [{ atUs: row.eUs + (delayS + againS) * 1_000_000, row }],
    ),
    ...restarts.map(({ atS, backS }) => ({ atUs: at(atS), backUs: backS * 1_000_000 })),
    ...changesOf(inputs).map((t) => ({ atUs: t + knownAfterUs, knownUs: t })),
    ...resets.flatMap(({ atS, emptyAfterS }) => {
      const resetUs = at(atS);
      const emptiedUs = resetUs + emptyAfterS * 1_000_000;
      return [
        { atUs: resetUs + knownAfterUs, knownUs: resetUs },
        { atUs: emptiedUs, emptyRowsUs: resetUs },
        { atUs: emptiedUs + knownAfterUs, emptyRowsUs: resetUs, emptyRangesUs: resetUs },
      ];
    }),
  ].sort((a, b) => a.atUs - b.atUs);

  const limits = { keepUs: 40_000_000, compactFrom: 4 };
  const ingester = new Ingester(knownUntil(history, at(0)), at(0), limits);
  let batch: StoredResult[] = [];
  let applies = 0;
  const flush = (nowUs: number) => {
    ingester.apply(batch);
    batch = [];
    ingester.advance(nowUs);
    applies += 1;
    if (applies % takeEvery === 0) ingester.take();
  };
  const stopUs = at(history.stopS);
  for (const { atUs, row, backUs, knownUs, emptyRowsUs, emptyRangesUs } of happenings) {
    if (atUs > stopUs) break;
    if (row !== undefined) {
      batch.push(row);
      if (batch.length >= applySize) flush(atUs);
      continue;
    }
    flush(atUs);
    if (backUs !== undefined) ingester.restart(backUs);
    if (knownUs !== undefined) ingester.reconfigure(knownUntil(history, knownUs), knownUs);
    if (emptyRowsUs !== undefined) ingester.emptyRows(emptyRowsUs);
    if (emptyRangesUs !== undefined) ingester.emptyRanges(emptyRangesUs);
  }
  flush(stopUs);
  // What was removed is known to be gone, whatever else is not known yet.
  const resetUs = resetUsAt(resets, stopUs);
  if (resetUs !== null) ingester.reconfigure({ ...ingester.inputs, resetUs }, resetUs);
  ingester.take();
  return ingester;
}
