import t from 'tap';
import { createMonitorFold } from './increment.ts';
import { at, fresh, inputsOf, result, seats, three } from './test-support.ts';

/* Rule 7: who is asked to check at once. */

void t.test('a first failure asks for the second opinions that a quorum needs, other regions first', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu', 'eu', 'us', 'ap', 'eu') });
  const fold = createMonitorFold(fresh(inputs));
  fold.apply(
    [1, 2, 3, 5].map((voter) => result(voter, 0, 'ok')),
    at(1),
  );
  t.same(fold.take().rechecks, []);
  fold.apply([result(1, 20, 'fail')], at(21));
  t.same(fold.take().rechecks, [{ monitorId: 7, voters: [3, 4], reason: 'first_failure' }]);
  fold.apply([result(1, 25, 'fail')], at(26));
  t.same(fold.take().rechecks, [], 'only the first of a streak asks');
});

void t.test('who fails already is not asked, or a moment would be confirmed', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu', 'us', 'ap', 'sa', 'af') });
  const fold = createMonitorFold(fresh(inputs));
  fold.apply(
    [1, 2, 3, 4, 5].map((voter) => result(voter, 0, 'ok')),
    at(1),
  );
  fold.take();
  fold.apply([result(1, 20, 'fail')], at(21));
  t.match(fold.take().rechecks, [{ voters: [2, 3] }]);
  fold.apply([result(2, 21, 'fail')], at(21.5));
  t.match(fold.take().rechecks, [{ voters: [3, 4] }]);
  fold.apply([result(3, 22, 'fail'), result(4, 22, 'fail')], at(22.5));
  t.same(
    fold.take().rechecks.map(({ voters }) => voters),
    [[5], [5]],
    'what is known together is known to both',
  );
});

void t.test('a first failure older than a minute asks nobody', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'ok'), result(1, 20, 'fail')], at(81));
  t.same(fold.take().rechecks, []);
});

void t.test('a first good result asks those that still fail', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'fail'), ...three(10, 'fail')], at(11));
  fold.take();
  fold.apply([result(2, 20, 'ok')], at(21));
  t.same(fold.take().rechecks, [{ monitorId: 7, voters: [1, 3], reason: 'first_good' }]);
});

void t.test('while a voter fails each voter is asked whenever its last check is half a minute old', async (t) => {
  const fold = createMonitorFold(fresh(inputsOf()));
  fold.apply([...three(0, 'ok'), result(1, 10, 'fail'), result(1, 15, 'fail')], at(16));
  t.same(
    fold.take().rechecks.map(({ reason, voters }) => [reason, voters]),
    [['first_failure', [2]]],
  );
  t.equal(fold.nextExpiryUs, at(30), 'the third was last seen at 0');
  fold.advance(at(30));
  t.same(fold.take().rechecks, [{ monitorId: 7, voters: [3], reason: 'while_failing' }]);
  t.equal(fold.nextExpiryUs, at(45));
  fold.apply([result(1, 40, 'fail')]);
  fold.advance(at(46));
  t.same(fold.take().rechecks, [{ monitorId: 7, voters: [2], reason: 'while_failing' }]);
  fold.apply([result(1, 50, 'ok')], at(51));
  fold.take();
  fold.advance(at(100));
  t.same(fold.take().rechecks, [], 'nobody fails any more');
});

void t.test('intervals of half a minute and less need none', async (t) => {
  const inputs = inputsOf({
    configurations: [{ fromUs: at(0), probeRevision: 1, confirmations: 2, policy: 'majority', intervalS: 30 }],
  });
  const fold = createMonitorFold(fresh(inputs));
  fold.apply([...three(0, 'ok'), result(1, 10, 'fail')], at(11));
  fold.take();
  fold.advance(at(45));
  t.same(fold.take().rechecks, []);
});
