import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { createEd25519Pair } from '@parallax/pki';
import type { ResultRecord } from '@parallax/wire';
import { lateFlag } from '../flags.ts';
import { admit } from './admit.ts';
import type { AdmitOptions, KnownMonitor } from './admit.ts';
import { message, result } from './testing/fixture.ts';
import type { FixturePlace } from './testing/fixture.ts';

const key = createEd25519Pair();
const probe = { id: 3, region: 'r', seed: key.seed };
const receivedUs = 1_772_323_200_000_000;
const monitors = new Map<number, KnownMonitor>([
  [1, { isDeleted: false, probes: new Set([3]) }],
  [2, { isDeleted: true, probes: new Set([3]) }],
  [4, { isDeleted: false, probes: new Set([5]) }],
]);
const knowledge = { probes: new Map([[3, { publicKey: key.publicKey, isRevoked: false }]]), monitors };
const options: AdmitOptions = { shard: 0, knowledge, receivedUs, isFresh: true };
const subject = 'results.3.0';
const at: FixturePlace = { epoch: 9, shard: 0, firstSeq: 11 };
const judge = (results: readonly ResultRecord[], changed: Partial<AdmitOptions> = {}) =>
  admit({ subject, data: message(probe, at, results) }, { ...options, ...changed });
const rowsOf = (results: readonly ResultRecord[]) => {
  const admitted = judge(results);
  if (admitted.type !== 'results') throw new Error(JSON.stringify(admitted));
  return admitted;
};

const flagsAt = (ageUs: number) => rowsOf([result(1, receivedUs - ageUs, { totalUs: 2_000_000 })]).rows[0]?.flags ?? 0;

t.test('a good batch has its place and its rows', async (t) => {
  const admitted = rowsOf([
    result(1, receivedUs - 9_000_000, { outcome: 'slow', source: 'target' }),
    result(1, receivedUs - 5_000_000),
  ]);
  t.same(admitted.place, { probeId: 3, epoch: 9, firstSeq: 11, lastSeq: 12 });
  t.match(admitted.rows[0], {
    monitorId: 1,
    voter: 3,
    outcome: 'slow',
    kind: 'scheduled',
    flags: (1 << 2) | (1 << 6),
    receivedUs,
  });
  t.same(admitted.leftOut, { tooOld: 0, inFuture: 0, deleted: 0, beforeReset: 0 });
});

t.test('a receipt is stamped in whole milliseconds, never before it was', async (t) => {
  const stamped = (receivedLaterUs: number) => {
    const admitted = judge([result(1, receivedUs)], { receivedUs: receivedUs + receivedLaterUs });
    return admitted.type === 'results' ? admitted.rows[0]?.receivedUs : undefined;
  };
  t.same(
    [0, 1, 999, 1_000, 1_001].map(stamped),
    [0, 1_000, 1_000, 1_000, 2_000].map((us) => receivedUs + us),
  );
});

t.test('rows are left out at 49 h, beyond 60 s ahead, and of deleted monitors, and nothing else is', async (t) => {
  const hour = 3_600_000_000;
  const admitted = rowsOf([
    result(1, receivedUs - 49 * hour - 1),
    result(1, receivedUs - 49 * hour),
    result(1, receivedUs + 60_000_001),
    result(1, receivedUs + 60_000_000),
    result(2, receivedUs - 1),
  ]);
  t.same(admitted.leftOut, { tooOld: 1, inFuture: 1, deleted: 1, beforeReset: 0 });
  t.same(
    admitted.rows.map((row) => row?.eUs),
    [undefined, receivedUs - 49 * hour, undefined, receivedUs - 2, undefined],
    'what is ahead is cut to the receipt',
  );
});

t.test('late is what took more than 15 s from the end of its check', async (t) => {
  t.equal(flagsAt(17_000_000) & lateFlag, 0);
  t.equal(flagsAt(17_000_001) & lateFlag, lateFlag);
});

t.test('what is unknown is asked for once, and then refused with the batch as a whole', async (t) => {
  const stranger = [result(1, receivedUs - 1), result(77, receivedUs - 1)];
  t.same(judge(stranger, { isFresh: false }), { type: 'unknown', monitorIds: [77] });
  t.match(judge(stranger), { type: 'poison', reason: 'unknown_monitor', place: { firstSeq: 11, lastSeq: 12 } });
  t.same(judge([result(4, receivedUs - 1)], { isFresh: false }), { type: 'unknown', monitorIds: [4] });
  t.match(judge([result(4, receivedUs - 1)]), { type: 'poison', reason: 'never_assigned', place: { lastSeq: 11 } });
  const noProbes = { ...knowledge, probes: new Map() };
  t.same(judge([result(1, receivedUs - 1)], { isFresh: false, knowledge: noProbes }), {
    type: 'unknown',
    monitorIds: [],
  });
  t.match(judge([result(1, receivedUs - 1)], { knowledge: noProbes }), {
    type: 'poison',
    reason: 'unknown_probe',
    place: undefined,
  });
});

t.test('a revoked probe, another subject and another shard are refused', async (t) => {
  const good = message(probe, at, [result(1, receivedUs - 1)]);
  const revoked = { ...knowledge, probes: new Map([[3, { publicKey: key.publicKey, isRevoked: true }]]) };
  t.match(admit({ subject, data: good }, { ...options, knowledge: revoked }), { reason: 'revoked_probe' });
  t.match(admit({ subject: 'results.3.1', data: good }, options), { reason: 'bad_subject' });
  t.match(admit({ subject: 'results.03.0', data: good }, options), { reason: 'bad_subject' });
  t.match(admit({ subject: 'results.3.1', data: good }, { ...options, shard: 1 }), { reason: 'other_shard' });
  t.match(admit({ subject, data: message(probe, { ...at, epoch: 2 ** 53 }, [result(1, receivedUs - 1)]) }, options), {
    reason: 'malformed',
  });
});

t.test('nothing that is not signed by the probe gets a place or rows', async () => {
  const good = message(probe, at, [result(1, receivedUs - 1)]);
  fc.assert(
    fc.property(fc.nat({ max: good.length - 1 }), fc.integer({ min: 1, max: 255 }), (index, change) => {
      const damaged = Uint8Array.from(good);
      damaged[index] = (damaged[index] ?? 0) ^ change;
      const admitted = admit({ subject, data: damaged }, options);
      return admitted.type === 'poison' && admitted.place === undefined;
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (data) => admit({ subject, data }, options).type === 'poison'),
  );
});

t.test('results of before a reset of their monitor are left out, those of its instant are not', async (t) => {
  const resetUs = receivedUs - 60_000_000;
  const reset = { isDeleted: false, probes: new Set([3]), inputs: { resetUs } };
  const admitted = judge([result(5, resetUs - 1), result(5, resetUs), result(1, resetUs - 1)], {
    knowledge: { ...knowledge, monitors: new Map([...knowledge.monitors, [5, reset]]) },
  });
  if (admitted.type !== 'results') throw new Error(JSON.stringify(admitted));
  t.same(
    admitted.rows.map((row) => row?.monitorId),
    [undefined, 5, 1],
  );
  t.same(admitted.leftOut, { tooOld: 0, inFuture: 0, deleted: 0, beforeReset: 1 });
});

t.test(
  'soon after a restore results of monitors and assignments that nobody remembers are left out, and the rest is taken',
  async (t) => {
    const results = [1, 77, 4, 1].map((monitorId) => result(monitorId, receivedUs - 5_000_000));
    const restored = (agoUs: number) => ({ knowledge: { ...knowledge, restoredUs: receivedUs - agoUs } });
    const admitted = judge(results, restored(3_600_000_000));
    if (admitted.type !== 'results') throw new Error(JSON.stringify(admitted));
    t.same(
      admitted.rows.map((row) => row?.monitorId),
      [1, undefined, undefined, 1],
    );
    t.same(admitted.leftOut, { tooOld: 0, inFuture: 0, deleted: 2, beforeReset: 0 });
    t.match(judge(results, { ...restored(3_600_000_000), isFresh: false }), { type: 'unknown', monitorIds: [77, 4] });
    t.match(judge(results, restored(80 * 3_600_000_000)), { type: 'poison', reason: 'unknown_monitor' });
    t.match(judge(results), { type: 'poison', reason: 'unknown_monitor' }, 'without a restore never');
  },
);
