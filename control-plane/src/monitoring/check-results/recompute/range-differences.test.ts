import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { RangeRun, RangeStatus, StoredRange } from '../../consensus/index.ts';
import { rangeDifferences } from './range-differences.ts';

const evidence = { rule: 'answered', quorum: 1, voters: [], missing: [] } as const;
const run = (fromUs: number, toUs: number, status: RangeStatus): RangeRun => ({ fromUs, toUs, status, evidence });
const range = (
  startedUs: number,
  endedUs: number | null,
  status: RangeStatus,
  voter: number | null = null,
): StoredRange => ({
  voter,
  startedUs,
  endedUs,
  status,
});
const derived = [run(10, 20, 'UP'), run(20, 30, 'DOWN'), run(40, 60, 'UP')];
const right = [range(10, 20, 'UP'), range(20, 30, 'DOWN'), range(40, null, 'UP')];
const told = (stored: readonly StoredRange[], fromUs = 0, untilUs = 60) =>
  rangeDifferences(null, derived, stored, fromUs, untilUs).map(
    ({ fromUs: from, toUs, expected, found }) => `${from}–${toUs} ${expected} ${found.join('+')}`,
  );

t.test('what is stored as it should be is no difference, wherever one looks', async (t) => {
  t.same(told(right), []);
  t.same(told(right, 25, 45), []);
  t.same(told([...right, range(0, 60, 'DOWN', 3)]), [], 'of another voter');
});

t.test('every way to be wrong is told, with its time', async (t) => {
  const change = (index: number, changed: Partial<StoredRange>) =>
    right.map((one, at) => (at === index ? { ...one, ...changed } : one));
  t.same(told(change(0, { endedUs: 15 })), ['15–20 UP '], 'ends too soon');
  t.same(told(change(0, { endedUs: 25 })), ['20–25 DOWN UP+DOWN'], 'ends too late');
  t.same(told(change(2, { startedUs: 35 })), ['35–40 null UP'], 'begins too soon');
  t.same(told(change(1, { status: 'TIMEOUT' })), ['20–30 DOWN TIMEOUT']);
  t.same(told(right.slice(1)), ['10–20 UP '], 'is missing');
  t.same(told([...right, range(31, 33, 'DOWN')]), ['31–33 null DOWN'], 'is one too many');
  t.same(told(change(2, { endedUs: 50 })), ['50–60 UP '], 'is not open any more');
  t.same(told([...change(0, { endedUs: 15 }), range(15, 20, 'UP')]), ['15–15 UP UP'], 'is in two parts');
  t.same(told([]), ['10–20 UP ', '20–30 DOWN ', '40–60 UP ']);
  t.same(told(change(0, { endedUs: 15 }), 16, 18), ['16–18 UP '], 'as far as one looks');
});

const statuses = ['UP', 'DOWN', 'TIMEOUT'] as const;
const piece = fc.record({
  gap: fc.integer({ min: 0, max: 3 }),
  length: fc.integer({ min: 1, max: 6 }),
  status: fc.constantFrom(...statuses),
});
/** Runs that do not overlap. */
const runs = fc.array(piece, { maxLength: 8 }).map((pieces) => {
  let atUs = 0;
  return pieces.map(({ gap, length, status }) => {
    const fromUs = atUs + gap;
    atUs = fromUs + length;
    return run(fromUs, atUs, status);
  });
});
/** Anything, in any order. */
const anyStored = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 50 }), fc.option(fc.integer({ min: 0, max: 20 })), fc.constantFrom(...statuses))
    .map(([from, length, status]) => range(from, length === null ? null : from + length, status)),
  { maxLength: 8 },
);

t.test('each instant differs when and as what is stored of it differs, in whatever order and overlap', async (t) => {
  fc.assert(
    fc.property(runs, anyStored, (expectedRuns, stored) => {
      const differences = rangeDifferences(null, expectedRuns, stored, 5, 45);
      for (let atUs = 5; atUs < 45; atUs += 1) {
        const expected = expectedRuns.find((one) => one.fromUs <= atUs && atUs < one.toUs)?.status ?? null;
        const found = stored
          .filter(({ startedUs, endedUs }) => startedUs <= atUs && atUs < (endedUs ?? 45))
          .map(({ status }) => status);
        const isRight = found.length === (expected === null ? 0 : 1) && found.every((status) => status === expected);
        const told = differences.filter(({ fromUs, toUs }) => fromUs <= atUs && atUs < toUs);
        if (told.length !== (isRight ? 0 : 1)) throw new Error(`${atUs} is told ${told.length} times`);
        const [one] = told;
        if (one !== undefined && (one.expected !== expected || one.found.toSorted().join() !== found.toSorted().join()))
          throw new Error(`${atUs}: ${JSON.stringify(one)}`);
      }
    }),
  );
  t.pass('all instants');
});
