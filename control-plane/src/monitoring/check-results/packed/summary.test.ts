import assert from 'node:assert/strict';
import { checkKinds, failureSources, outcomes } from '@parallax/checks';
import type { CheckKind, Outcome } from '@parallax/checks';
import { packFlags } from '@parallax/wire';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { centralFlag, fallbackFlag, lateFlag } from '../flags.ts';
import { ResultColumns } from './columns.ts';
import { RunningSummary, SummaryError, decodeSummary, encodeSummary, mergeSummaries, summaryOf } from './summary.ts';

type Result = {
  readonly kind: CheckKind;
  readonly outcome: Outcome;
  readonly origin: 'probe' | 'central' | 'fallback';
  readonly late: boolean;
  readonly totalUs: number;
};

const anyResult: fc.Arbitrary<Result> = fc.record({
  kind: fc.constantFrom(...checkKinds),
  outcome: fc.constantFrom(...outcomes),
  origin: fc.constantFrom('probe', 'central', 'fallback'),
  late: fc.boolean(),
  totalUs: fc.oneof(fc.nat(100_000), fc.nat(2_147_483_647)),
});
const results = fc.array(anyResult, { maxLength: 60 });

const flagsOf = ({ kind, outcome, origin, late }: Result): number =>
  packFlags(kind, outcome, outcome === 'fail' ? failureSources[0] : undefined) |
  (origin === 'probe' ? 0 : centralFlag) |
  (origin === 'fallback' ? fallbackFlag : 0) |
  (late ? lateFlag : 0);

const columnsOf = (list: readonly Result[]): ResultColumns => {
  const columns = new ResultColumns();
  const rest = { receivedUs: 0, probeRevision: 1, freshS: 160, error: 0 };
  const phases = { dnsUs: null, connectUs: null, tlsUs: null, firstByteUs: null, transferUs: null };
  for (const [index, result] of list.entries()) {
    columns.push({ eUs: index, flags: flagsOf(result), totalUs: result.totalUs, ...rest, ...phases });
  }
  return columns;
};

const told = (summary: RunningSummary) => ({
  entries: summary.counts.entries(),
  results: summary.counts.results,
  count: summary.latency.count,
  sumUs: summary.latency.sumUs,
  bounds: [summary.latency.minUs, summary.latency.maxUs],
  buckets: summary.latency.buckets(),
});

void t.test(
  'results are counted by kind, outcome and origin, and latencies are of answered scheduled ones',
  async () => {
    fc.assert(
      fc.property(results, (list) => {
        const summary = summaryOf(columnsOf(list));
        assert.equal(summary.counts.results, list.length);
        for (const kind of [undefined, ...checkKinds]) {
          for (const outcome of [undefined, ...outcomes]) {
            for (const origin of [undefined, 'probe', 'central', 'fallback'] as const) {
              const expected = list.filter(
                (one) =>
                  (kind === undefined || one.kind === kind) &&
                  (outcome === undefined || one.outcome === outcome) &&
                  (origin === undefined || one.origin === origin),
              );
              assert.equal(summary.counts.of({ kind, outcome, origin }), expected.length);
            }
          }
        }
        assert.equal(
          summary.counts.entries().reduce((sum, entry) => sum + entry.count, 0),
          list.length,
        );
        const timed = list.filter(
          ({ kind, outcome, origin }) =>
            kind === 'scheduled' && ['ok', 'slow', 'warn'].includes(outcome) && origin !== 'fallback',
        );
        assert.equal(summary.latency.count, timed.length);
        assert.equal(
          summary.latency.sumUs,
          timed.reduce((sum, one) => sum + one.totalUs, 0),
        );
      }),
    );
  },
);

void t.test(
  'merging is commutative and associative, has the empty one as its nothing, and survives writing',
  async () => {
    const rounds = fc.property(results, results, results, (a, b, c) => {
      const [one, two, three] = [a, b, c].map((list) => summaryOf(columnsOf(list))) as [
        RunningSummary,
        RunningSummary,
        RunningSummary,
      ];
      const whole = told(summaryOf(columnsOf([...a, ...b, ...c])));
      assert.deepEqual(told(mergeSummaries([one, two, three])), whole);
      assert.deepEqual(told(mergeSummaries([three, one, two])), whole);
      assert.deepEqual(told(mergeSummaries([one, mergeSummaries([two, three])])), whole);
      assert.deepEqual(told(mergeSummaries([mergeSummaries([two, one]), new RunningSummary(), three])), whole);
      assert.deepEqual(told(decodeSummary(encodeSummary(mergeSummaries([one, two, three])))), whole);
      const read = new RunningSummary();
      for (const part of [two, three, one]) read.addEncoded(encodeSummary(part));
      assert.deepEqual(told(read), whole);
      read.clear();
      assert.deepEqual(told(read), told(new RunningSummary()));
    });
    fc.assert(rounds, { numRuns: 300 });
  },
);

void t.test('an empty summary has no latency', async (t) => {
  const summary = decodeSummary(encodeSummary(new RunningSummary()));
  t.equal(summary.counts.results, 0);
  t.same(
    [summary.latency.count, summary.latency.meanUs, summary.latency.minUs, summary.latency.quantile(0.5)],
    [0, null, null, null],
  );
});

void t.test('flags of no known meaning count as the readers show them', async (t) => {
  const summary = new RunningSummary();
  summary.addRow(3, 10);
  summary.addRow(15 << 2, 10);
  t.equal(summary.counts.of({ kind: 'scheduled', outcome: 'probe_error', origin: 'probe' }), 2);
  t.equal(summary.latency.count, 0);
});

void t.test('bytes that are cut, changed or made up are refused', async (t) => {
  const list = fc.sample(results, { seed: 7, numRuns: 40 }).flat();
  const bytes = encodeSummary(summaryOf(columnsOf(list)));
  for (let length = 0; length < bytes.length; length += 1) {
    t.throws(() => decodeSummary(bytes.subarray(0, length)), SummaryError);
  }
  t.throws(() => decodeSummary(Buffer.concat([bytes, Buffer.alloc(2)])), SummaryError);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
    t.throws(() => decodeSummary(changed), SummaryError);
  }
});
