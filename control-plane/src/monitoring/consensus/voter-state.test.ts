import t from 'tap';
import { PreparedInputs } from './prepared-inputs.ts';
import { at, inputsOf, result } from './test-support.ts';
import type { MonitorInputs, StoredResult } from './types.ts';
import { isSettled, nextState, outOfReach } from './voter-state.ts';
import type { VoterState } from './voter-state.ts';

/* Rules 2 and 3, one step at a time. */

const prepared = (changes: Partial<MonitorInputs> = {}) => new PreparedInputs(inputsOf(changes));
const after = (rows: readonly StoredResult[], inputs = prepared()): VoterState => {
  let state: VoterState | null = null;
  for (const row of rows) state = nextState(state, row, inputs);
  if (state === null) throw new Error('no rows');
  return state;
};
const paused = (fromS: number, toS: number) => prepared({ pauses: [{ fromUs: at(fromS), toUs: at(toS) }] });

t.test('a vote ends with its freshness, the right to vote, or the revision', async (t) => {
  t.match(after([result(1, 10, 'ok')]), { vote: 'UP', endsUs: at(170), freshUs: 160_000_000, streak: null });
  t.equal(after([result(1, 10, 'ok')], paused(60, 70)).endsUs, at(60));
  const rules = { confirmations: 2, policy: 'majority' } as const;
  const configurations = [1, 2].map((probeRevision) => ({
    ...rules,
    probeRevision,
    fromUs: at(50 * (probeRevision - 1)),
  }));
  t.equal(after([result(1, 10, 'ok')], prepared({ configurations })).endsUs, at(50));
  t.equal(after([result(1, 10, 'ok', { probeRevision: 2 })], prepared({ configurations })).endsUs, at(170));
});

t.test('a failure joins a streak up to the freshness of the one before it', async (t) => {
  const count = (gapS: number, changes: Partial<StoredResult> = {}, inputs = prepared()) =>
    after([result(1, 0, 'fail'), result(1, gapS, 'fail', changes)], inputs).streak?.count;
  t.equal(count(160), 2);
  t.equal(count(160.000001), 1);
  t.equal(count(160, { freshS: 1 }), 2, 'its own freshness is of what comes');
  t.equal(count(60, { probeRevision: 2 }), 1);
  t.equal(count(60, {}, paused(59, 60)), 1, 'not over a pause, however short');
  t.equal(count(60, {}, paused(60.000001, 70)), 2);
  t.equal(count(60, {}, paused(60, 70)), 1, 'nor into one');
});

t.test('a streak is known by its first failure, its first fail and its last', async (t) => {
  const rows = [result(1, 0, 'timeout'), result(1, 60, 'fail', { freshS: 100 }), result(1, 120, 'timeout')];
  t.match(after(rows).streak, {
    startUs: at(0),
    count: 3,
    firstFailUs: at(60),
    confirmed: true,
    lastUs: at(120),
    lastFreshUs: 160_000_000,
    revision: 1,
  });
  t.match(after(rows.slice(0, 1)).streak, { firstFailUs: Number.POSITIVE_INFINITY, confirmed: false });
  t.equal(after(rows.slice(0, 1)).streak?.confirmed, false);
  t.match(after(rows.slice(0, 2)).streak, { lastUs: at(60), lastFreshUs: 100_000_000, confirmed: true });
});

t.test(
  'the own error of a probe ends the vote; the streak it leaves while another failure could join it',
  async (t) => {
    const rows = (errorS: number) => [result(1, 0, 'fail'), result(1, errorS, 'probe_error')];
    t.equal(after(rows(60)).vote, null);
    t.match(after(rows(60)).streak, { startUs: at(0), lastUs: at(0), count: 1 });
    t.match(after(rows(160)).streak, { count: 1 });
    t.equal(after(rows(160.000001)).streak, null, 'nothing can join it any more');
    t.equal(after(rows(60), paused(30, 50)).streak, null, 'nor over a pause');
    t.equal(after([result(1, 0, 'ok'), result(1, 60, 'probe_error')]).streak, null);
  },
);

t.test('out of reach is what is too late, or beyond the right to vote, whatever its revision', async (t) => {
  const { streak } = after([result(1, 0, 'fail')]);
  if (streak === null) throw new Error('no streak');
  const isOut = (seconds: number, inputs = prepared()) =>
    outOfReach(inputs, result(1, seconds, 'fail', { probeRevision: 9 }), streak);
  t.equal(isOut(160), false);
  t.equal(isOut(160.000001), true);
  t.equal(isOut(60, paused(61, 70)), false);
  t.equal(isOut(60, paused(60, 70)), true);
  t.equal(isOut(60, paused(20, 30)), true);
});

t.test('an unconfirmed failure carries the vote before it as far as that reaches', async (t) => {
  const carried = (gapS: number, changes: Partial<StoredResult> = {}) =>
    after([result(1, 0, 'slow'), result(1, gapS, 'fail', changes)]).vote;
  t.equal(carried(160), 'DEGRADED');
  t.equal(carried(161), null);
  t.equal(carried(60, { probeRevision: 2 }), null);
  t.equal(after([result(1, 0, 'fail')]).vote, null);
  t.equal(after([result(1, 0, 'fail'), result(1, 60, 'fail')]).vote, 'DOWN');
  t.equal(after([result(1, 0, 'timeout'), result(1, 60, 'timeout')]).vote, 'TIMEOUT');
});

t.test('a state is settled unless a streak waits for its confirmation', async (t) => {
  t.equal(isSettled(after([result(1, 0, 'ok')])), true);
  t.equal(isSettled(after([result(1, 0, 'fail')])), false);
  t.equal(isSettled(after([result(1, 0, 'fail'), result(1, 60, 'timeout')])), true);
});
