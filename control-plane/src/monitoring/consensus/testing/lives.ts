import type { Outcome } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import type { Arrival, History } from '../test-histories.ts';
import { at, inputsOf } from '../test-support.ts';
import type { Assignment, ConfigurationEvent, Interval, MonitorInputs, Policy, StoredResult } from '../types.ts';

/*
 * Lives of a monitor made from a number: small, cheap to make, and full of what is hard. A shrunk one has fewer of everything.
 */

/** A life with its rows in the order of their voters. */
export type Life = {
  readonly inputs: MonitorInputs;
  readonly rows: readonly StoredResult[];
  readonly history: History;
};

/** The last that happens in a life, with all freshness over, seconds after the origin. */
export const overS = 700;

const regions = ['eu', 'us', 'eu', 'ap'] as const;
const lastS = 240;

type Chance = {
  readonly unit: () => number;
  readonly between: (least: number, most: number) => number;
  readonly is: (probability: number) => boolean;
  readonly of: <Item>(items: readonly [Item, ...Item[]]) => Item;
};

/** Lives in all their variety. */
export const life: fc.Arbitrary<Life> = fc
  .record({ seed: fc.nat({ max: 0x7fff_fffe }), size: fc.integer({ min: 1, max: 8 }) })
  .map(({ seed, size }) => makeLife(seed, size));

/** Numbers from a seed (mulberry32). */
function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(unit() * (most - least + 1));
  return {
    unit,
    between,
    is: (probability) => unit() < probability,
    of: (items) => items[between(0, items.length - 1)] ?? items[0],
  };
}

/** The life of a number. @param size how much happens, from 1 on */
export function makeLife(seed: number, size: number): Life {
  const chance = chanceOf(seed);
  const resets = resetsOf(chance);
  const last = resets.at(-1);
  const outages = Array.from({ length: chance.of([0, 1, 1, 2]) }, () => outageOf(chance));
  const inputs = inputsOf({
    assignments: assignmentsOf(chance),
    configurations: configurationsOf(chance),
    pauses: chance.is(0.45) ? [intervalOf(chance)] : [],
    quarantines: chance.is(0.5) ? [quarantineOf(chance, outages[0])] : [],
    resetUs: last === undefined ? null : at(last.atS),
  });
  const voters = [...(chance.is(0.4) ? [0] : []), 1, 2, 3, ...(chance.is(0.4) ? [4] : [])];
  const arrivals = voters.flatMap((voter) => streamOf(chance, voter, size, inputs.configurations, outages));
  const history: History = {
    inputs,
    arrivals,
    resets,
    knownAfterS: chance.of([0, 0, 1, 5, 80]),
    endsKnown: chance.is(0.5),
    restarts: Array.from({ length: chance.between(0, 2) }, () => ({
      atS: chance.between(0, lastS),
      backS: chance.between(0, 150),
    })),
    takeEvery: chance.between(1, 3),
    applySize: chance.of([1, 2, 5, 20]),
    stopS: chance.between(20, lastS + 250),
  };
  return { inputs, rows: arrivals.map(({ row }) => row), history };
}

function resetsOf(chance: Chance): History['resets'] {
  if (!chance.is(0.25)) return [];
  const made = Array.from({ length: chance.between(1, 2) }, () => ({
    atS: chance.between(0, lastS),
    emptyAfterS: chance.of([0, 3, 100]),
  }));
  return made.sort((a, b) => a.atS - b.atS);
}

function intervalOf(chance: Chance): Interval {
  const fromS = chance.between(0, lastS);
  return { fromUs: at(fromS), toUs: chance.is(0.25) ? null : at(fromS + chance.between(0, 90)) };
}

/** Of a probe that is likely to fail then. */
function quarantineOf(chance: Chance, outage: Outage | undefined): MonitorInputs['quarantines'][number] {
  const voter = chance.between(1, 3);
  if (outage === undefined || chance.is(0.4)) return { voter, ...intervalOf(chance) };
  const fromUs = at(outage.fromS + chance.between(0, 15));
  return { voter, fromUs, toUs: chance.is(0.3) ? null : fromUs + chance.between(1, 60) * 1_000_000 };
}

function assignmentsOf(chance: Chance): Assignment[] {
  const steady = chance.of([0, 1, 2, 2, 3, 3, 3, 3, 4]);
  const seats = Array.from({ length: steady }, (_, index) =>
    seatOf(index + 1, { fromUs: at(0), toUs: chance.is(0.08) ? at(chance.between(20, lastS)) : null }, false),
  );
  const others = Array.from({ length: chance.between(0, 2) }, () =>
    joining(chance, seatOf(chance.between(1, 4), intervalOf(chance), chance.is(0.7))),
  );
  return [...seats, ...others];
}

/** Mostly one that counts from its first vote, or after a while. */
const joining = (chance: Chance, row: Assignment): Assignment =>
  chance.is(0.25) ? row : { ...row, countsByUs: row.fromUs + chance.between(0, 90) * 1_000_000 };

const seatOf = (voter: number, when: Interval, supplement: boolean): Assignment => ({
  ...when,
  voter,
  region: regions[voter - 1] ?? 'eu',
  supplement,
});

function configurationsOf(chance: Chance): ConfigurationEvent[] {
  const rules = (): { confirmations: number; policy: Policy; intervalS: number } => ({
    confirmations: chance.of([1, 2, 2, 2, 3, 5]),
    policy: chance.of<Policy>(['majority', 'majority', 'majority', 'any', 'all', 1, 2, 3]),
    intervalS: 10,
  });
  const laterS = Array.from({ length: chance.of([0, 0, 1, 2]) }, () => chance.between(1, lastS)).sort((a, b) => a - b);
  let probeRevision = 1;
  const later = laterS.map((fromS) => {
    if (chance.is(0.5)) probeRevision += 1;
    return { fromUs: at(fromS), probeRevision, ...rules() };
  });
  return [{ fromUs: at(0), probeRevision: 1, ...rules() }, ...later];
}

type Outage = { readonly fromS: number; readonly toS: number; readonly outcome: Outcome; readonly share: number };

/** A time in which most of what is checked fails. */
function outageOf(chance: Chance): Outage {
  const fromS = chance.between(5, 160);
  const outcome = chance.of<Outcome>(['fail', 'fail', 'timeout', 'timeout', 'slow']);
  return { fromS, toS: fromS + chance.between(10, 80), outcome, share: chance.of([0.6, 0.95, 1]) };
}

function streamOf(
  chance: Chance,
  voter: number,
  size: number,
  configurations: readonly ConfigurationEvent[],
  outages: readonly Outage[],
): Arrival[] {
  const arrivals: Arrival[] = [];
  const delays = chance.is(0.3) ? 0.5 : 0.05;
  let s = voter;
  for (let run = chance.between(1, size); run > 0; run -= 1) {
    const own = chance.of<Outcome>(['ok', 'ok', 'ok', 'slow', 'warn', 'fail', 'timeout', 'probe_error', 'skipped']);
    for (let left = chance.is(0.2) ? chance.between(4, 8) : chance.between(1, 3); left > 0; left -= 1) {
      s += chance.is(0.08) ? chance.between(0, 50) : chance.between(2, 12);
      const outage = outages.find(({ fromS, toS, share }) => fromS <= s && s < toS && chance.is(share));
      arrivals.push(arrivalOf(chance, voter, s, outage?.outcome ?? own, configurations, delays));
    }
  }
  return arrivals;
}

function arrivalOf(
  chance: Chance,
  voter: number,
  s: number,
  outcome: Outcome,
  configurations: readonly ConfigurationEvent[],
  delays: number,
): Arrival {
  const eUs = at(s);
  const current = configurations.findLast((event) => event.fromUs <= eUs)?.probeRevision ?? 1;
  const delayS = chance.is(delays) ? chance.between(16, 200) : chance.between(0, 3);
  const isTooLate = chance.is(0.02);
  const row: StoredResult = {
    eUs,
    voter,
    kind: chance.is(0.05) ? 'manual' : chance.of(['scheduled', 'scheduled', 'recheck']),
    outcome,
    error: chance.of([0, 20, 52]),
    freshS: chance.is(0.1) ? 100 : chance.between(12, 30),
    probeRevision: Math.max(1, current - (chance.is(0.06) ? 1 : 0)),
    receivedUs: eUs + (isTooLate ? 49 * 3_600_000_000 + 1 : delayS * 1_000_000),
  };
  return { row, delayS, againS: chance.is(0.15) ? chance.between(0, 150) : null };
}
