import t from 'tap';
import type { MonitorFold } from './fold.ts';
import { createMonitorFold } from './increment.ts';
import { at, fresh, inputsOf, result, seats, three } from './test-support.ts';
import type { RecheckWish } from './types.ts';

/* Rule 7 over time: when somebody is asked, to the microsecond. */

const askedFor = (fold: MonitorFold, reason: RecheckWish['reason']) =>
  fold
    .take()
    .rechecks.filter((wish) => wish.reason === reason)
    .map(({ voters }) => voters);

t.test('a streak lasts as long as another failure could join it, also where no vote is held', async (t) => {
  const asked = (secondS: number) => {
    const fold = createMonitorFold(fresh(inputsOf()));
    fold.apply([result(1, 0, 'fail')], at(1));
    t.same(askedFor(fold, 'first_failure'), [[2]]);
    fold.apply([result(2, secondS, 'fail')], at(secondS));
    return askedFor(fold, 'first_failure');
  };
  t.same(asked(60), [[3]], 'the first fails itself and is not asked');
  t.same(asked(159.999999), [[3]]);
  t.same(asked(160), [[1]], 'its failure is too old to be one of a streak');
});

t.test('a streak that nothing could join any more is followed by a new first failure', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([result(1, 0, 'fail')], at(1));
  t.equal(askedFor(fold, 'first_failure').length, 1);
  fold.apply([result(1, 60, 'fail')], at(61));
  t.equal(askedFor(fold, 'first_failure').length, 0);
  fold.apply([result(1, 300, 'fail')], at(301));
  t.equal(askedFor(fold, 'first_failure').length, 1);
});

t.test('those that are there to answer are asked before those that never said anything', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([result(1, 0, 'ok'), result(3, 0, 'ok')], at(1));
  fold.take();
  fold.apply([result(1, 20, 'fail')], at(21));
  t.same(askedFor(fold, 'first_failure'), [[3]]);
});

t.test('a first good result asks nobody who never failed', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ assignments: seats('eu', 'us', 'ap', 'sa') })));
  fold.apply([...three(0, 'fail'), ...three(10, 'fail')], at(11));
  fold.take();
  fold.apply([result(2, 20, 'ok')], at(21));
  t.same(askedFor(fold, 'first_good'), [[1, 3]]);
});

t.test('nor one of whom nothing is known', async (t) => {
  const rules = { fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'any', intervalS: 30 } as const;
  const fold = createMonitorFold(
    fresh(inputsOf({ assignments: seats('eu', 'us', 'ap', 'sa'), configurations: [rules] })),
  );
  fold.apply([...three(0, 'fail'), ...three(10, 'fail')], at(11));
  t.same(fold.take().rechecks, [], 'one is enough here, so nobody was asked');
  fold.apply([result(2, 20, 'ok')], at(21));
  t.same(askedFor(fold, 'first_good'), [[1, 3]]);
});

t.test('what is a minute old is not acted upon, and looked at again half a minute later', async (t) => {
  const failing = () => {
    const fold = createMonitorFold(fresh(inputsOf()));
    fold.apply([...three(0, 'ok'), result(1, 10, 'fail')], at(11));
    fold.take();
    return fold;
  };
  const young = failing();
  young.advance(at(69.999999));
  t.equal(askedFor(young, 'while_failing').length, 1);
  const old = failing();
  old.advance(at(70));
  t.same(askedFor(old, 'while_failing'), []);
  t.equal(old.nextExpiryUs, at(100));
});

t.test('nobody is planned to be asked while a pause lasts', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf({ pauses: [{ fromUs: at(20), toUs: null }] })));
  fold.apply([...three(0, 'ok'), result(1, 10, 'fail')], at(11));
  fold.take();
  fold.advance(at(21));
  fold.take();
  t.equal(fold.nextExpiryUs, Number.POSITIVE_INFINITY);
});
