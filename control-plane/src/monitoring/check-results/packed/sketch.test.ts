import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { BitReader, BitWriter, BitsError } from './bits.ts';
import { LatencySketch } from './sketch.ts';
import type { Sketch } from './sketch.ts';

const latency = fc.oneof(
  fc.nat(300),
  fc.integer({ min: 0, max: 2_147_483_647 }),
  fc.integer({ min: 20_000, max: 24_000 }),
);
const latencies = fc.array(latency, { maxLength: 200 });
const shares = [0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 1];

const sketchOf = (values: readonly number[]): LatencySketch => {
  const sketch = new LatencySketch();
  for (const value of values) sketch.add(value);
  return sketch;
};

/** The quantile by nearest rank, of the values themselves. */
const exact = (values: readonly number[], share: number): number | null =>
  values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1] ?? null;

const told = (sketch: Sketch) => ({
  count: sketch.count,
  sumUs: sketch.sumUs,
  minUs: sketch.minUs,
  maxUs: sketch.maxUs,
  meanUs: sketch.meanUs,
  buckets: sketch.buckets(),
  quantiles: shares.map((share) => sketch.quantile(share)),
});

const written = (sketch: LatencySketch, into = new LatencySketch()): LatencySketch => {
  const writer = new BitWriter();
  sketch.write(writer);
  const reader = new BitReader();
  reader.open(writer.bytes());
  into.addWritten(reader, sketch.count);
  reader.end();
  return into;
};

void t.test('every quantile is within 1 % of the exact one; count, sum and bounds are exact', async () => {
  fc.assert(
    fc.property(latencies, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
      const sketch = sketchOf(values);
      for (const q of [...shares, share]) {
        const expected = exact(values, q);
        const found = sketch.quantile(q);
        if (expected === null || found === null) assert.equal(found, expected);
        else assert.ok(Math.abs(found - expected) <= expected * 0.01, `${q}: ${found} for ${expected}`);
      }
      assert.equal(sketch.count, values.length);
      assert.equal(
        sketch.sumUs,
        values.reduce((sum, value) => sum + value, 0),
      );
      assert.equal(sketch.minUs, exact(values, 0));
      assert.equal(sketch.maxUs, exact(values, 1));
    }),
    { numRuns: 1_000 },
  );
});

void t.test('parts make exactly the whole, in any order and grouping, written or not', async () => {
  fc.assert(
    fc.property(fc.array(latencies, { maxLength: 6 }), fc.nat(), (parts, turn) => {
      const whole = told(sketchOf(parts.flat()));
      const turned = [...parts.slice(turn % (parts.length + 1)), ...parts.slice(0, turn % (parts.length + 1))];
      const added = new LatencySketch();
      for (const part of turned) added.addSketch(sketchOf(part));
      assert.deepEqual(told(added), whole);

      const grouped = new LatencySketch();
      grouped.addSketch(sketchOf(turned.slice(2).flat()));
      grouped.addSketch(sketchOf(turned.slice(0, 2).flat()));
      assert.deepEqual(told(grouped), whole);

      const read = new LatencySketch();
      for (const part of turned) written(sketchOf(part), read);
      assert.deepEqual(told(read), whole);
    }),
    { numRuns: 500 },
  );
});

void t.test('the buckets hold all, without overlap, and what they hold lies in them', async () => {
  fc.assert(
    fc.property(latencies, (values) => {
      const buckets = sketchOf(values).buckets();
      assert.equal(
        buckets.reduce((sum, bucket) => sum + bucket.count, 0),
        values.length,
      );
      for (const [index, bucket] of buckets.entries()) {
        assert.ok(bucket.fromUs < bucket.toUs && bucket.fromUs >= (buckets[index - 1]?.toUs ?? 0));
        const inside = values.filter((value) => value > bucket.fromUs * (1 + 1e-9) && value < bucket.toUs * (1 - 1e-9));
        assert.ok(inside.length <= bucket.count);
      }
    }),
  );
});

void t.test('without what took no time it is the sketch of the others, the least of them by its bucket', async (t) => {
  fc.assert(
    fc.property(latencies, fc.nat(20), (values, zeros) => {
      const all = sketchOf([...values, ...Array.from({ length: zeros }, () => 0)]);
      const others = sketchOf(values.filter((value) => value > 0));
      const timed = all.timed();
      assert.deepEqual({ ...told(timed), minUs: 0, quantiles: [] }, { ...told(others), minUs: 0, quantiles: [] });
      for (const share of shares) {
        const [found, expected] = [timed.quantile(share), others.quantile(share)];
        if (found === null || expected === null) assert.equal(found, expected);
        else assert.ok(Math.abs(found - expected) <= expected * 0.02 + 1, `${share}: ${found} for ${expected}`);
      }
    }),
  );
  t.match(sketchOf([0, 0]).timed(), { count: 0, meanUs: null, minUs: null });
});

void t.test('an emptied sketch is as a new one', async () => {
  fc.assert(
    fc.property(latencies, latencies, (before, after) => {
      const sketch = sketchOf(before);
      sketch.clear();
      for (const value of after) sketch.add(value);
      assert.deepEqual(told(sketch), told(sketchOf(after)));
    }),
  );
});

void t.test('what lies outside of the column counts as its bound', async (t) => {
  const sketch = sketchOf([-5, 3_000_000_000]);
  t.same([sketch.minUs, sketch.maxUs, sketch.count], [0, 2_147_483_647, 2]);
});

void t.test('bytes that no sketch wrote are refused', async (t) => {
  const read = (count: number, write: (out: BitWriter) => void) => () => {
    const writer = new BitWriter();
    write(writer);
    const reader = new BitReader();
    reader.open(writer.bytes());
    new LatencySketch().addWritten(reader, count);
    reader.end();
  };
  const good = sketchOf([5, 80, 80, 1_000]);
  t.doesNotThrow(read(4, (out) => good.write(out)));
  t.throws(
    read(5, (out) => good.write(out)),
    BitsError,
    'another number than its buckets hold',
  );
  t.throws(
    read(4, () => undefined),
    BitsError,
    'nothing',
  );
  const numbers =
    (...values: number[]) =>
    (out: BitWriter) => {
      for (const value of values) out.writeCount(value);
    };
  t.throws(read(1, numbers(1, 2_147_483_647, 1)), BitsError, 'longer than a column can tell');
  t.throws(read(1, numbers(1, 1, 1, 100_000)), BitsError, 'more buckets than there are');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(100), (bytes, count) => {
      const reader = new BitReader();
      reader.open(bytes);
      try {
        new LatencySketch().addWritten(reader, count);
      } catch (error) {
        if (!(error instanceof BitsError)) throw error;
      }
    }),
    { numRuns: 2_000 },
  );
});
