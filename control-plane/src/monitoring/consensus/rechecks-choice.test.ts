import t from 'tap';
import { electorateAt } from './decide.ts';
import { PreparedInputs } from './prepared-inputs.ts';
import { mayBeAsked, overdue, secondOpinions, stillFailing } from './rechecks.ts';
import type { Candidate } from './rechecks.ts';
import { createMonitorFold } from './increment.ts';
import { at, fresh, inputsOf, result, seats, three } from './test-support.ts';
import type { MonitorInputs } from './types.ts';

/* Rule 7, by voter: who is chosen. */

const electorate = (inputs: Partial<MonitorInputs>) => electorateAt(new PreparedInputs(inputsOf(inputs)), at(10));
const candidate = (voter: number, changes: Partial<Candidate> = {}): Candidate => ({
  voter,
  isHolding: true,
  isFailing: false,
  isInStreak: false,
  lastUs: at(0),
  ...changes,
});

t.test('other regions go before, then those that hold a vote, then the lower number', async (t) => {
  const all = electorate({
    assignments: seats('eu', 'eu', 'us', 'ap', 'eu', 'us'),
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'all' }],
  });
  const silent = { isHolding: false };
  t.same(
    secondOpinions(all, 1, [
      candidate(6),
      candidate(5),
      candidate(4, silent),
      candidate(3, silent),
      candidate(2, silent),
      candidate(1),
    ]),
    [6, 3, 4, 5, 2],
  );
  t.same(secondOpinions(all, 1, [candidate(5), candidate(2), candidate(4), candidate(3)]), [3, 4, 2, 5]);
  t.same(secondOpinions(all, 1, [candidate(2), candidate(3, silent)]), [3, 2], 'the region weighs more than the vote');
});

t.test('of the others only those are asked that still fail', async (t) => {
  const three = electorate({});
  const failing = { isFailing: true };
  t.same(stillFailing(three, 1, [candidate(1, failing), candidate(2), candidate(3, failing)]), [3]);
  t.same(stillFailing(three, 1, [candidate(2), candidate(3)]), []);
  t.same(stillFailing(three, 1, [candidate(9, failing)]), [], 'who is not assigned is not there');
});

t.test('who is overdue has neither checked nor been asked for half a minute', async (t) => {
  const three = electorate({});
  const list = [candidate(1, { lastUs: at(10) }), candidate(2, { lastUs: at(10.000001) }), candidate(9)];
  t.same(overdue(three, at(40), list), [1]);
});

t.test('nobody is asked while nobody may vote; the control plane only where it is the voter', async (t) => {
  t.same(
    [1, 0, 9].map((voter) => mayBeAsked(electorate({}), voter)),
    [true, false, false],
  );
  t.same(
    [1, 0].map((voter) => mayBeAsked(electorate({ assignments: [] }), voter)),
    [false, true],
  );
  const paused = electorate({ pauses: [{ fromUs: at(5), toUs: null }] });
  t.same(
    [1, 0].map((voter) => mayBeAsked(paused, voter)),
    [false, false],
  );
  const [seat] = seats('eu');
  const beside = electorate({ assignments: seat === undefined ? [] : [{ ...seat, supplement: true }] });
  t.same(
    [1, 0].map((voter) => mayBeAsked(beside, voter)),
    [true, false],
    'beside a supplement it only stands in',
  );
});

t.test('a failure is acted upon until it is a minute old', async (t) => {
  const asked = (ageS: number) => {
    const fold = createMonitorFold(fresh(inputsOf()));
    fold.apply([...three(0, 'ok'), result(1, 20, 'fail')], at(20) + Math.round(ageS * 1_000_000));
    return fold.take().rechecks.filter(({ reason }) => reason === 'first_failure').length;
  };
  t.equal(asked(59.999999), 1);
  t.equal(asked(60), 0);
});
