import t from 'tap';
import { BitReader, BitWriter, BitsError } from './bits.ts';
import { writeNumbers } from './numbers.ts';
import { LatencySketch } from './sketch.ts';

const longestUs = 2_147_483_647;

const sketchOf = (...values: readonly number[]): LatencySketch => {
  const sketch = new LatencySketch();
  for (const value of values) sketch.add(value);
  return sketch;
};

t.test('buckets are 2 % wide, begin at 1 µs, and the first of them holds 0', async (t) => {
  const buckets = sketchOf(0, 1, 2, 1_000).buckets();
  t.same(
    buckets.map(({ count }) => count),
    [1, 1, 1, 1],
    'those that hold nothing are not told',
  );
  t.same(buckets[0], { fromUs: 0, toUs: 1, count: 1 });
  t.same(buckets[1], { fromUs: 1, toUs: 1.02, count: 1 });
  for (const { fromUs, toUs } of buckets.slice(1)) t.ok(Math.abs(toUs / fromUs - 1.02) < 1e-9);
  t.same(sketchOf().buckets(), []);
});

t.test('a quantile inside is the middle of its bucket, never beyond the least and the greatest', async (t) => {
  t.equal(sketchOf(0, 0, 5).quantile(0.5), 0);
  const second = sketchOf(0, 1, 1, 1, 2).quantile(0.5) ?? 0;
  t.ok(Math.abs(second - (2 * 1.02) / 2.02) < 1e-9, `${second}`);
  // The last bucket of all begins here, and its middle lies beyond what a column can tell.
  const firstUs = Math.ceil(1.02 ** Math.floor(Math.log(longestUs) / Math.log(1.02)));
  t.equal(sketchOf(firstUs, firstUs, firstUs, longestUs).quantile(0.5), longestUs);
});

t.test('the least and the greatest are exact, and so are the quantiles 0 and 1', async (t) => {
  for (let us = 1_000; us < 1_100; us += 1) {
    const sketch = sketchOf(us, 5_000, 20_000 + us);
    t.same([sketch.quantile(0), sketch.quantile(0.3), sketch.quantile(1)], [us, us, 20_000 + us]);
  }
});

t.test('the mean is the sum by the count', async (t) => {
  t.equal(sketchOf(1, 2, 6).meanUs, 3);
  t.equal(sketchOf(10).meanUs, 10);
  const none = sketchOf();
  t.equal(none.meanUs, null);
  t.equal(none.minUs, null);
  t.equal(none.maxUs, null);
  t.equal(none.quantile(0.5), null);
});

t.test('a sketch that was emptied knows no greatest, and less than none is none', async (t) => {
  const sketch = sketchOf(7);
  sketch.clear();
  sketch.add(0);
  t.equal(sketch.maxUs, 0);
  t.equal(sketchOf(-1).minUs, 0);
  t.same([sketchOf(longestUs + 1).maxUs, sketchOf(longestUs).sumUs], [longestUs, longestUs]);
});

type Written = { sum: number; min: number; span: number; used: number; gaps: number[]; counts: number[] };

/** Reads what is written of three latencies of 5, 5 and 100 µs, with what differs. */
function read(changes: Partial<Written>): LatencySketch {
  const first = bucketOf(5);
  const { sum, min, span, used, gaps, counts } = {
    sum: 110,
    min: 5,
    span: 95,
    used: 2,
    gaps: [1, bucketOf(100) - first],
    counts: [2, 1],
    ...changes,
  };
  const out = new BitWriter();
  for (const number of [sum, min, span, used]) out.writeCount(number);
  for (const list of [gaps, counts]) writeNumbers(out, Float64Array.from(list), list.length);
  const reader = new BitReader();
  reader.open(out.bytes());
  const sketch = new LatencySketch();
  sketch.addWritten(reader, 3);
  return sketch;
}

const bucketOf = (us: number): number => Math.floor(Math.log(us) / Math.log(1.02)) + 1;

t.test('what was written is read, and what contradicts itself is refused by what is wrong with it', async (t) => {
  t.same(read({}).buckets(), sketchOf(5, 5, 100).buckets());
  const refused = (changes: Partial<Written>, message: RegExp): void => {
    t.throws(() => read(changes), { name: BitsError.name, message });
  };
  refused({ span: longestUs - 4 }, /^a latency of 2147483648 µs$/);
  refused({ used: 5_000 }, /^5000 buckets$/);
  refused({ gaps: [0, 1] }, /^2 latencies in bucket/);
  refused({ gaps: [1, 0] }, /^1 latencies in bucket/);
  refused({ gaps: [1, -1] }, /^1 latencies in bucket/);
  refused({ counts: [3, 0] }, /^0 latencies in bucket/);
  refused({ counts: [4, -1] }, /^-1 latencies in bucket/);
  refused({ gaps: [1, bucketOf(100) - bucketOf(5) + 1] }, /^1 latencies in bucket/);
  refused({ gaps: [1, 2] }, /^3 latencies up to bucket \d+ where 3 were expected$/);
  refused({ counts: [2, 2] }, /^4 latencies up to bucket \d+ where 3 were expected$/);
});

t.test('the longest latency is written and read', async (t) => {
  const out = new BitWriter();
  sketchOf(longestUs).write(out);
  const reader = new BitReader();
  reader.open(out.bytes());
  const sketch = new LatencySketch();
  sketch.addWritten(reader, 1);
  t.equal(sketch.maxUs, longestUs);
});
