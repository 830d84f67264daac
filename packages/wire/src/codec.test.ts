import assert from 'node:assert/strict';
import path from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import { errorCodes } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import {
  decodeBatch,
  decodeSigned,
  encodeBatch,
  encodeLost,
  encodeSigned,
  maxBatchBytes,
  maxBatchResults,
  packFlags,
  signedContent,
  unpackFlags,
} from './codec.ts';
import type { BatchHeader, ResultRecord } from './codec.ts';
import { Batch, SignedBatch } from './generated/parallax/probe/v1/results.ts';

const kinds = ['scheduled', 'recheck', 'manual'] as const;
const outcomes = ['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error'] as const;
const sources = ['target', 'resolver', 'probe'] as const;

const duration = fc.integer({ min: 0, max: 60_000_000 });
const phase = fc.option(duration, { nil: undefined });
const result: fc.Arbitrary<ResultRecord> = fc.record({
  monitorId: fc.integer({ min: 1, max: 2_147_483_647 }),
  effectiveUs: fc.integer({ min: 1_700_000_000_000_000, max: 1_900_000_000_000_000 }),
  probeRevision: fc.integer({ min: 1, max: 1_000_000 }),
  kind: fc.constantFrom(...kinds),
  outcome: fc.constantFrom(...outcomes),
  source: fc.option(fc.constantFrom(...sources), { nil: undefined }),
  error: fc.constantFrom(0, ...Object.values(errorCodes)),
  freshS: fc.integer({ min: 1, max: 216_060 }),
  totalUs: duration,
  dnsUs: phase,
  connectUs: phase,
  tlsUs: phase,
  firstByteUs: phase,
  transferUs: phase,
  evidence: fc.option(fc.record({ message: fc.string(), json: fc.json() }), { nil: undefined }),
});
const header: fc.Arbitrary<BatchHeader> = fc.record({
  probeId: fc.integer({ min: 1, max: 2_147_483_647 }),
  epoch: fc.bigInt({ min: 1n, max: 2n ** 53n }),
  shard: fc.integer({ min: 0, max: 63 }),
  firstSeq: fc.bigInt({ min: 1n, max: 2n ** 53n }),
});

t.test('a batch reads back as it was written, in any order of time', async (t) => {
  fc.assert(
    fc.property(header, fc.array(result, { minLength: 1, maxLength: maxBatchResults }), (head, results) => {
      t.same(decodeBatch(encodeBatch(head, results)), { header: head, results });
    }),
    { numRuns: 200 },
  );
});

t.test(
  'a batch has the bytes that the generated encoder gives it, however many results and whatever their texts are',
  async () => {
    const edge = fc.constantFrom(0, 1, 126, 127, 128, 16_382, 16_383, 16_384, 2_097_151, 2_147_483_647);
    const wide = fc.oneof(edge, fc.constant(4_000_000_000));
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\ud800 alone'), fc.constant('ü'.repeat(20_000)));
    const any = fc
      .tuple(
        result,
        fc.record({ totalUs: wide, tlsUs: wide, probeRevision: edge }),
        fc.record({ message: text, json: text }),
      )
      .map(([made, edges, evidence]) => ({ ...made, ...edges, ...(made.evidence && { evidence }) }));
    fc.assert(
      fc.property(header, fc.array(any, { minLength: 1, maxLength: 300 }), (head, results) => {
        assert.deepEqual(Buffer.from(encodeBatch(head, results)), Buffer.from(generated(head, results)));
      }),
      { numRuns: 200 },
    );
  },
);

/** The batch by the generated encoder. */
function generated(head: BatchHeader, results: readonly ResultRecord[]): Uint8Array {
  const times = results.map((each) => each.effectiveUs);
  const plusOne = (value: number | undefined): number => (value === undefined ? 0 : value + 1);
  return Batch.encode({
    ...head,
    baseUs: BigInt(times[0] ?? 0),
    monitorId: results.map((each) => each.monitorId),
    deltaUs: times.map((time, index) => BigInt(time - (times[index - 1] ?? time))),
    probeRevision: results.map((each) => each.probeRevision),
    flags: results.map((each) => packFlags(each.kind, each.outcome, each.source)),
    error: results.map((each) => each.error),
    freshS: results.map((each) => each.freshS),
    totalUs: results.map((each) => each.totalUs),
    dnsUs: results.map((each) => plusOne(each.dnsUs)),
    connectUs: results.map((each) => plusOne(each.connectUs)),
    tlsUs: results.map((each) => plusOne(each.tlsUs)),
    firstByteUs: results.map((each) => plusOne(each.firstByteUs)),
    transferUs: results.map((each) => plusOne(each.transferUs)),
    evidence: results.flatMap(({ evidence }, index) =>
      evidence === undefined ? [] : [{ index, message: evidence.message, evidenceJson: Buffer.from(evidence.json) }],
    ),
    lost: undefined,
  }).finish();
}

t.test('another reader of the same contract understands what is written', async (t) => {
  const proto = path.resolve(import.meta.dirname, '../../../proto');
  const definition = loadSync('parallax/probe/v1/results.proto', {
    includeDirs: [proto],
    keepCase: true,
    longs: Number,
  });
  const type = definition['parallax.probe.v1.Batch'];
  t.ok(type !== undefined && 'deserialize' in type);
  const records: ResultRecord[] = [
    {
      monitorId: 7,
      effectiveUs: 1_800_000_000_000_000,
      probeRevision: 1,
      kind: 'scheduled',
      outcome: 'ok',
      error: 0,
      freshS: 160,
      totalUs: 1_234,
      connectUs: 0,
    },
    {
      monitorId: 8,
      effectiveUs: 1_799_999_999_999_990,
      probeRevision: 3,
      kind: 'recheck',
      outcome: 'fail',
      source: 'target',
      error: errorCodes.connect_refused,
      freshS: 160,
      totalUs: 55,
    },
  ];
  const bytes = Buffer.from(encodeBatch({ probeId: 3, epoch: 12n, shard: 1, firstSeq: 99n }, records));
  const { deserialize } = type as { deserialize: (bytes: Buffer) => Record<string, unknown> };
  t.match(deserialize(bytes), {
    probe_id: 3,
    epoch: 12,
    shard: 1,
    first_seq: 99,
    base_us: 1_800_000_000_000_000,
    monitor_id: [7, 8],
    delta_us: [0, -10],
    probe_revision: [1, 3],
    error: [0, 20],
    total_us: [1_234, 55],
    connect_us: [1, 0],
    flags: [0, 1 | (3 << 2) | (1 << 6)],
  });
});

t.test('bytes that no agent wrote are refused and never throw', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      decodeBatch(bytes);
      decodeSigned(bytes);
    }),
    { numRuns: 2_000 },
  );
  const whole = encodeBatch({ probeId: 1, epoch: 1n, shard: 0, firstSeq: 1n }, [
    {
      monitorId: 1,
      effectiveUs: 1_800_000_000_000_000,
      probeRevision: 1,
      kind: 'scheduled',
      outcome: 'ok',
      error: 0,
      freshS: 20,
      totalUs: 1,
    },
  ]);
  for (let length = 0; length < whole.length; length += 1) decodeBatch(whole.subarray(0, length));
  t.pass('every cut of a batch was survived');
});

t.test('each rule of a batch is checked', async (t) => {
  const good: ResultRecord = {
    monitorId: 1,
    effectiveUs: 1_800_000_000_000_000,
    probeRevision: 1,
    kind: 'scheduled',
    outcome: 'ok',
    error: 0,
    freshS: 20,
    totalUs: 1,
  };
  const head = { probeId: 1, epoch: 1n, shard: 0, firstSeq: 1n };
  const changed = (change: (batch: Batch) => void) => {
    const batch = Batch.decode(encodeBatch(head, [good, good]));
    change(batch);
    return decodeBatch(Batch.encode(batch).finish());
  };
  t.notMatch(
    changed(() => undefined),
    { refused: /./ },
    'unchanged it is taken',
  );
  const cases: [string, RegExp, (batch: Batch) => void][] = [
    ['no probe', /header/, (batch) => (batch.probeId = 0)],
    ['epoch 0', /header/, (batch) => (batch.epoch = 0n)],
    ['sequence 0', /header/, (batch) => (batch.firstSeq = 0n)],
    ['a negative shard', /header/, (batch) => (batch.shard = -1)],
    ['a short column', /columns/, (batch) => batch.totalUs.pop()],
    ['a long column', /columns/, (batch) => batch.error.push(0)],
    ['no results', /0 results/, (batch) => (batch.monitorId = [])],
    ['501 results', /501 results/, (batch) => (batch.monitorId = Array.from({ length: 501 }, () => 1))],
    ['an unknown outcome', /outcome/, (batch) => (batch.flags[0] = 15 << 2)],
    ['an unknown kind', /outcome or kind/, (batch) => (batch.flags[0] = 3)],
    ['flags of another width', /outcome or kind/, (batch) => (batch.flags[0] = 256)],
    ['monitor 0', /monitor/, (batch) => (batch.monitorId[1] = 0)],
    ['revision 0', /revision/, (batch) => (batch.probeRevision[0] = 0)],
    ['a time before 2000', /time/, (batch) => (batch.baseUs = 0n)],
    ['a time after 2100', /time/, (batch) => (batch.deltaUs[1] = 10n ** 16n)],
    ['freshness 0', /freshness/, (batch) => (batch.freshS[0] = 0)],
    ['a freshness of weeks', /freshness/, (batch) => (batch.freshS[0] = 300_001)],
    ['an error beyond its column', /error/, (batch) => (batch.error[0] = 32_768)],
    [
      'evidence without its result',
      /evidence/,
      (batch) => batch.evidence.push({ index: 2, message: '', evidenceJson: Buffer.alloc(0) }),
    ],
    ['lost beside results', /beside/, (batch) => (batch.lost = { fromSeq: 1n, toSeq: 2n, fromUs: 1n, toUs: 2n })],
  ];
  for (const [name, reason, change] of cases) {
    const decoded = changed(change);
    t.ok(
      'refused' in decoded && reason.test(decoded.refused),
      `${name} is refused: ${JSON.stringify('refused' in decoded ? decoded.refused : 'taken')}`,
    );
  }
});

t.test('a lost range reads back, and one out of order is refused', async (t) => {
  const head = { probeId: 1, epoch: 5n, shard: 0, firstSeq: 10n };
  const lost = { fromSeq: 10n, toSeq: 12n, fromUs: 1_800_000_000_000_000, toUs: 1_800_000_001_000_000 };
  t.same(decodeBatch(encodeLost(head, lost)), { header: head, results: [], lost });
  t.match(decodeBatch(encodeLost(head, { ...lost, toSeq: 9n })), { refused: /order/ });
  t.match(decodeBatch(encodeLost(head, { ...lost, fromSeq: 11n })), { refused: /order/ });
  t.match(decodeBatch(encodeLost(head, { ...lost, toUs: 1 })), { refused: /times/ });
});

t.test('flags hold every kind, outcome and source', async (t) => {
  for (const kind of kinds)
    for (const outcome of outcomes)
      for (const source of [undefined, ...sources])
        t.same(unpackFlags(packFlags(kind, outcome, source)), { kind, outcome, source });
});

t.test('a signed message carries its batch and bounds it', async (t) => {
  const batch = Buffer.from('batch');
  t.match(decodeSigned(encodeSigned(batch, Buffer.alloc(64, 1))), { batch, signature: Buffer.alloc(64, 1) });
  for (const length of [1, 127, 128, 16_383, 16_384, maxBatchBytes]) {
    const [long, signature] = [Buffer.alloc(length, 7), Buffer.alloc(64, 1)];
    const expected = SignedBatch.encode({ batch: long, signature }).finish();
    t.ok(Buffer.from(encodeSigned(long, signature)).equals(expected), `${length} bytes`);
  }
  t.match(decodeSigned(encodeSigned(batch, Buffer.alloc(63))), { refused: /signature of 63/ });
  t.match(decodeSigned(encodeSigned(Buffer.alloc(maxBatchBytes + 1), Buffer.alloc(64))), { refused: /batch of/ });
  t.equal(Buffer.from(signedContent(batch)).toString(), 'parallax-batch\nbatch');
});
