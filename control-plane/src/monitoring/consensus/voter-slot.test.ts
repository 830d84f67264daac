import t from 'tap';
import { PreparedInputs } from './prepared-inputs.ts';
import { at, inputsOf, result } from './test-support.ts';
import type { MonitorInputs, StoredResult } from './types.ts';
import { VoterSlot } from './voter-slot.ts';

/* What one voter keeps in memory: which results only make a vote last longer, and what is let go. */

const prepared = (changes: Partial<MonitorInputs> = {}) => new PreparedInputs(inputsOf(changes));

/** A voter after some results, told up to the last of them or to a later second. */
function slotAfter(rows: readonly StoredResult[], inputs = prepared(), untilS?: number): VoterSlot {
  const slot = new VoterSlot(1, 100);
  for (const row of rows) slot.log.rows.insert(row);
  slot.settle(inputs, untilS === undefined ? (rows.at(-1)?.eUs ?? 0) : at(untilS));
  return slot;
}

t.test('a result repeats the vote that is held when it says the same in time, and nothing else does', async (t) => {
  const repeats = (row: StoredResult, inputs = prepared()) => slotAfter([result(1, 0, 'ok')], inputs).repeat(row);
  t.equal(repeats(result(1, 60, 'ok')), true);
  t.equal(repeats(result(1, 0.000001, 'ok')), true);
  t.equal(repeats(result(1, 0, 'ok')), false, 'at the instant of the last one');
  t.equal(repeats(result(1, -1, 'ok')), false);
  t.equal(repeats(result(1, 160, 'ok')), true, 'just when the vote would end');
  t.equal(repeats(result(1, 160.000001, 'ok')), false);
  for (const outcome of ['slow', 'warn', 'fail', 'timeout', 'probe_error', 'skipped'] as const)
    t.equal(repeats(result(1, 60, outcome)), false, outcome);
  t.equal(repeats(result(1, 60, 'ok', { probeRevision: 2 })), false);
  t.equal(repeats(result(1, 60, 'ok', { kind: 'manual' })), false);
  t.equal(repeats(result(1, 60, 'ok', { kind: 'recheck' })), true);
  const tooLateUs = 49 * 3_600_000_000;
  t.equal(repeats(result(1, 60, 'ok', { receivedUs: at(60) + tooLateUs })), true);
  t.equal(repeats(result(1, 60, 'ok', { receivedUs: at(60) + tooLateUs + 1 })), false);
  t.equal(repeats(result(1, 60, 'ok', { freshS: 1 })), false, 'one that makes the vote end earlier');
  t.equal(repeats(result(1, 60, 'ok', { freshS: 100 })), true, 'one that lets it end when it would anyway');
});

t.test('each vote is repeated by the outcomes that say it', async (t) => {
  const repeaters = (...rows: readonly StoredResult[]) =>
    (['ok', 'slow', 'warn', 'fail', 'timeout'] as const).filter((outcome) =>
      slotAfter(rows).repeat(result(1, 100, outcome)),
    );
  t.same(repeaters(result(1, 0, 'ok')), ['ok']);
  t.same(repeaters(result(1, 0, 'slow')), ['slow']);
  t.same(repeaters(result(1, 0, 'warn')), ['warn']);
  t.same(repeaters(result(1, 0, 'fail'), result(1, 10, 'fail')), ['fail', 'timeout'], 'a failed streak stays one');
  t.same(repeaters(result(1, 0, 'timeout'), result(1, 10, 'timeout')), ['timeout']);
  t.same(repeaters(result(1, 0, 'ok'), result(1, 10, 'fail')), [], 'while a failure waits for its confirmation');
  t.same(repeaters(result(1, 0, 'ok'), result(1, 10, 'probe_error')), []);
  t.same(repeaters(), []);
});

t.test('nothing is repeated from where the right to vote or the revision ends', async (t) => {
  const rules = { confirmations: 2, policy: 'majority' } as const;
  const revised = prepared({
    configurations: [
      { ...rules, fromUs: at(0), probeRevision: 1 },
      { ...rules, fromUs: at(60), probeRevision: 2 },
    ],
  });
  const paused = prepared({ pauses: [{ fromUs: at(60), toUs: at(70) }] });
  for (const inputs of [paused, revised]) {
    const repeats = (...seconds: readonly number[]) => {
      const slot = slotAfter([result(1, 0, 'ok')], inputs);
      return seconds.map((second) => slot.repeat(result(1, second, 'ok')));
    };
    t.same(repeats(59.999999), [true]);
    t.same(repeats(60), [false]);
    t.same(repeats(60.000001), [false]);
    t.same(repeats(30, 59.999999), [true, true]);
    t.same(repeats(30, 60), [true, false]);
    t.same(repeats(30, 60.000001), [true, false]);
    const slot = slotAfter([result(1, 0, 'ok')], inputs);
    t.equal(slot.expiryUs, at(60));
    t.equal(slot.repeat(result(1, 30, 'ok')), true);
    t.equal(slot.expiryUs, at(60), 'nor does it last longer');
    t.equal(slot.repeat(result(1, 40, 'ok', { freshS: 20 })), true);
    t.equal(slot.repeat(result(1, 60, 'ok')), false, 'also where freshness ends there as well');
  }
});

t.test('repeating goes on from the last repetition, and the vote lasts by its freshness', async (t) => {
  const slot = slotAfter([result(1, 0, 'ok')]);
  t.equal(slot.expiryUs, at(160));
  t.equal(slot.repeat(result(1, 150, 'ok')), true);
  t.equal(slot.expiryUs, at(310));
  t.equal(slot.lastUs, at(150));
  t.equal(slot.repeat(result(1, 150, 'ok')), false, 'the same again');
  t.equal(slot.repeat(result(1, 310, 'ok')), true);
  t.equal(slot.repeat(result(1, 470.000001, 'ok')), false);
  t.equal(slot.log.rows.length, 3, 'what repeats is kept');
});

t.test('after something that repeats nothing all go the long way', async (t) => {
  const slot = slotAfter([result(1, 0, 'ok')]);
  t.equal(slot.isRepeating, true);
  slot.unsettle();
  t.equal(slot.isRepeating, false);
  t.equal(slot.repeat(result(1, 60, 'ok')), false);
  const failed = slotAfter([result(1, 0, 'ok')]);
  failed.log.rows.insert(result(1, 10, 'fail'));
  failed.settle(prepared(), at(10));
  t.equal(failed.isRepeating, false, 'nor while a failure waits for its confirmation');
  t.equal(failed.repeat(result(1, 60, 'ok')), false);
  slot.settle(prepared({ assignments: [] }), at(0));
  t.equal(slot.isRepeating, false, 'nor where it may not vote');
  t.equal(slot.repeat(result(1, 60, 'ok')), false);
});

t.test('a voter holds a vote until it ends, and fails while that says so', async (t) => {
  const state = (rows: readonly StoredResult[], untilS: number) => {
    const { isHolding, isFailing, expiryUs, isRepeating } = slotAfter(rows, prepared(), untilS);
    return { isHolding, isFailing, expiryUs, isRepeating };
  };
  const nothing = { isHolding: false, isFailing: false, expiryUs: Number.POSITIVE_INFINITY, isRepeating: false };
  t.same(state([], 0), nothing);
  const up = [result(1, 0, 'ok')];
  t.same(state(up, 159.999999), { isHolding: true, isFailing: false, expiryUs: at(160), isRepeating: true });
  t.same(state(up, 160), nothing);
  const down = [result(1, 0, 'fail'), result(1, 60, 'fail')];
  t.same(state(down, 60), { isHolding: true, isFailing: true, expiryUs: at(220), isRepeating: true });
  t.same(state(down, 220), nothing);
  const timedOut = [result(1, 0, 'timeout'), result(1, 60, 'timeout')];
  t.same(state(timedOut, 60), { isHolding: true, isFailing: true, expiryUs: at(220), isRepeating: true });
  const fresh = new VoterSlot(1, 100);
  t.same([fresh.isHolding, fresh.isFailing, fresh.isRepeating], [false, false, false]);
  t.equal(fresh.repeat(result(1, 0, 'ok')), false, 'before it was ever settled');
});

t.test('a row that does not count after the last one that does leaves nothing to repeat', async (t) => {
  const slot = slotAfter([result(1, 0, 'ok'), result(1, 60, 'ok', { probeRevision: 0 })], prepared(), 60);
  t.equal(slot.isHolding, true);
  t.equal(slot.isRepeating, false);
  t.equal(slot.lastUs, at(60));
});

t.test('rows up to the horizon are let go, but for what the vote at it rests on', async (t) => {
  const inputs = prepared();
  const kept = (slot: VoterSlot, horizonS: number) => {
    slot.compact(inputs, at(horizonS));
    return { baseUs: slot.log.baseUs, rows: [...slot.log.rows].map(({ eUs }) => (eUs - at(0)) / 1_000_000) };
  };
  const repeated = () => {
    const slot = slotAfter([result(1, 0, 'ok')]);
    for (const second of [60, 120, 180]) slot.repeat(result(1, second, 'ok', { freshS: 160, error: second }));
    return slot;
  };
  t.same(kept(repeated(), 120), { baseUs: at(120), rows: [180] });
  t.same(kept(repeated(), 179.999999), { baseUs: at(120), rows: [180] });
  t.same(kept(repeated(), 1_000), { baseUs: at(180), rows: [] });
  t.same(kept(repeated(), 59.999999), { baseUs: at(0), rows: [60, 120, 180] });
  t.same(kept(repeated(), -1), { baseUs: Number.NEGATIVE_INFINITY, rows: [0, 60, 120, 180] });
  const slot = repeated();
  kept(slot, 120);
  t.match(slot.log.base, {
    state: { eUs: at(120), freshUs: 160_000_000, error: 120, endsUs: at(280), vote: 'UP', streak: null },
    sinceUs: at(0),
  });
  t.equal(slot.log.base?.state.streak, null);
  t.equal(slot.repeat(result(1, 240, 'ok')), true, 'and it goes on');
  slot.settle(inputs, at(240));
  t.same(slot.pieces, [
    { fromUs: at(120), toUs: at(180), vote: 'UP', sinceUs: at(0), error: 120 },
    { fromUs: at(180), toUs: at(240), vote: 'UP', sinceUs: at(0), error: 180 },
    { fromUs: at(240), toUs: at(400), vote: 'UP', sinceUs: at(0), error: 0 },
  ]);
});

t.test('what a streak is known by moves on with what repeats it', async (t) => {
  const inputs = prepared();
  const slot = slotAfter([result(1, 0, 'fail'), result(1, 10, 'fail')]);
  for (const second of [100, 200, 300]) slot.repeat(result(1, second, 'fail', { freshS: 150 + second / 100 }));
  slot.compact(inputs, at(200));
  t.match(slot.log.base, {
    state: {
      eUs: at(200),
      vote: 'DOWN',
      streak: { startUs: at(0), lastUs: at(200), lastFreshUs: 152_000_000, confirmed: true },
    },
  });
});
