import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { Announcer } from './announcer.ts';
import type { Circumstances } from './announcer.ts';
import { createMonitorFold } from './increment.ts';
import type { Opinion, Outlook } from './outlook.ts';
import { at, fresh, inputsOf, result, seats } from './test-support.ts';
import type { Status } from './types.ts';

const evidence = { rule: 'answered', quorum: 2, voters: [], missing: [] } as const;
const opinion = (voter: number, more: Partial<Opinion> = {}): Opinion => ({
  voter,
  isFailing: false,
  sinceUs: at(0),
  lastUs: at(0),
  isInDoubt: false,
  ...more,
});
const outlook = (...opinions: Opinion[]): Outlook => ({ evidence, quorum: 2, opinions, silent: [] });
const when = (seconds: number, more: Partial<Circumstances> = {}): Circumstances => ({
  nowUs: at(seconds),
  isHeld: false,
  isBehind: () => false,
  ...more,
});
const since = (status: Status, seconds: number) => ({ status, sinceUs: at(seconds) });
const failing = (voter: number) => opinion(voter, { isFailing: true });
const bothFail = outlook(failing(1), failing(2), opinion(3));

void t.test('an outage is told at once', async (t) => {
  const announcer = new Announcer('UP', at(-100));
  t.same(announcer.next(since('DOWN', 0), bothFail, when(6)), { from: 'UP' });
  t.equal(announcer.told, 'DOWN');
  t.equal(announcer.next(since('DOWN', 0), bothFail, when(7)), undefined, 'and once');
});

void t.test('while the backlog of the control plane is read no outage is told, for two minutes at most', async (t) => {
  const announcer = new Announcer('UP', at(-100));
  const held = { isHeld: true };
  t.equal(announcer.next(since('DOWN', 0), bothFail, when(6, held)), undefined);
  t.ok(announcer.isWaiting);
  t.equal(announcer.next(since('DOWN', 0), bothFail, when(125, held)), undefined);
  t.same(announcer.next(since('DOWN', 0), bothFail, when(126, held)), { from: 'UP' });
});

void t.test('what was over before the backlog was read is never told', async (t) => {
  const announcer = new Announcer('UP', at(-100));
  t.equal(announcer.next(since('DOWN', 0), bothFail, when(6, { isHeld: true })), undefined);
  t.equal(announcer.next(since('UP', 20), outlook(opinion(1)), when(30, { isHeld: true })), undefined);
  t.notOk(announcer.isWaiting);
  t.equal(announcer.next(since('UP', 20), outlook(opinion(1)), when(60)), undefined);
  t.equal(announcer.takeUntold(), at(0), 'and can be recorded, once');
  t.equal(announcer.takeUntold(), undefined);
});

void t.test('of an outage that was not told and that lasts, or was told, nothing is left to be recorded', async (t) => {
  const held = { isHeld: true };
  const lasting = new Announcer('UP', at(-100));
  lasting.next(since('DOWN', 0), bothFail, when(6, held));
  t.equal(lasting.takeUntold(), undefined);
  lasting.next(since('PARTIAL', 10), outlook(failing(1)), when(11, held));
  t.equal(lasting.takeUntold(), undefined, 'it may go on');
  lasting.next(since('DOWN', 20), bothFail, when(21));
  t.equal(lasting.takeUntold(), at(0), 'it began before what was told');
  const told = new Announcer('UP', at(-100));
  told.next(since('DOWN', 0), bothFail, when(6, held));
  told.next(since('DOWN', 0), bothFail, when(7));
  told.next(since('UP', 20), outlook(opinion(1), opinion(2)), when(30));
  t.equal(told.takeUntold(), undefined);
});

void t.test('votes of a probe that still sends what had gathered make no outage alone', async (t) => {
  const behind = (...voters: number[]) => ({ isBehind: (voter: number) => voters.includes(voter) });
  const two = new Announcer('UP', at(-100));
  t.equal(two.next(since('DOWN', 0), bothFail, when(6, behind(2))), undefined, 'one of two that are needed');
  t.same(two.next(since('DOWN', 0), bothFail, when(7)), { from: 'UP' }, 'told when it is drained');
  const three = new Announcer('UP', at(-100));
  const all = outlook(failing(1), failing(2), failing(3));
  t.same(three.next(since('DOWN', 0), all, when(6, behind(2))), { from: 'UP' }, 'enough others fail');
});

void t.test('a recovery is told when two results say so, or after a minute', async (t) => {
  const one = opinion(1, { sinceUs: at(50), lastUs: at(50) });
  const again = opinion(1, { sinceUs: at(50), lastUs: at(80) });
  const fromDown = () => new Announcer('DOWN', at(0));
  const waiting = fromDown();
  t.equal(waiting.next(since('UP', 50), outlook(one), when(51)), undefined);
  t.equal(waiting.told, 'DOWN');
  t.same(waiting.next(since('UP', 50), outlook(again), when(81)), { from: 'DOWN' }, 'two of one probe');
  const minute = fromDown();
  t.equal(minute.next(since('UP', 50), outlook(one), when(51)), undefined);
  t.equal(minute.next(since('UP', 50), outlook(one), when(110.9)), undefined);
  t.same(minute.next(since('UP', 50), outlook(one), when(111)), { from: 'DOWN' }, 'a minute');
  t.same(
    fromDown().next(since('WARNING', 50), outlook(one, opinion(2)), when(51)),
    { from: 'DOWN' },
    'one of each of two',
  );
  const blip = fromDown();
  t.equal(blip.next(since('UP', 50), outlook(one), when(51)), undefined);
  t.equal(
    blip.next(since('DOWN', 60), bothFail, when(66)),
    undefined,
    'it was over for a moment only: nobody hears of it',
  );
  t.notOk(blip.isWaiting);
});

void t.test('a recovery by way of PARTIAL or UNKNOWN waits like any', async (t) => {
  const announcer = new Announcer('DOWN', at(0));
  t.same(announcer.next(since('UNKNOWN', 40), outlook(), when(40)), { from: 'DOWN' });
  const one = outlook(opinion(1, { sinceUs: at(50), lastUs: at(50) }));
  t.equal(announcer.next(since('UP', 50), one, when(51)), undefined);
  t.same(announcer.next(since('UP', 50), one, when(111)), { from: 'UNKNOWN' });
  t.same(announcer.next(since('UNKNOWN', 200), outlook(), when(200)), { from: 'UP' });
  t.same(announcer.next(since('UP', 210), one, when(211)), { from: 'UNKNOWN' }, 'nothing to recover from');
});

void t.test('what the owner before had told or held back is kept to', async (t) => {
  const one = outlook(opinion(1, { sinceUs: at(50), lastUs: at(50) }));
  for (const told of ['PARTIAL', 'UNKNOWN'] as const) {
    const partly = new Announcer(told, at(40));
    t.equal(partly.next(since('UP', 50), one, when(51)), undefined, `an outage may have come before ${told}`);
    t.same(partly.next(since('UP', 50), one, when(111)), { from: told });
    const waiting = new Announcer(told, null, since('UP', 50));
    t.equal(waiting.next(since('UP', 50), one, when(51)), undefined);
  }
  t.same(new Announcer('UNKNOWN', null).next(since('UP', 50), one, when(51)), { from: 'UNKNOWN' }, 'a new monitor');

  const held = () => new Announcer('UP', null, since('DOWN', 0));
  const lasting = held();
  t.equal(lasting.next(since('DOWN', 0), bothFail, when(20)), undefined, 'who is behind shows within some seconds');
  t.same(lasting.next(since('DOWN', 0), bothFail, when(30)), { from: 'UP' });
  const over = held();
  t.equal(over.next(since('UP', 15), outlook(opinion(1)), when(20)), undefined);
  t.equal(over.takeUntold(), at(0), 'one that is over when it is looked at first is recorded all the same');
  t.same(over.next(since('DOWN', 60), bothFail, when(66)), { from: 'UP' }, 'the next one is told at once');
});

void t.test('that probes differ is told after those that were asked have looked', async (t) => {
  const partial = since('PARTIAL', 10);
  const sees = (voter: number, lastS: number, more: Partial<Opinion> = {}) =>
    opinion(voter, { lastUs: at(lastS), ...more });
  const first = opinion(1, { isFailing: true, sinceUs: at(10), lastUs: at(15) });
  const announcer = new Announcer('UP', at(-100));
  t.equal(
    announcer.next(partial, outlook(first, sees(2, 5), sees(3, 8)), when(15.1)),
    undefined,
    'nobody else has looked',
  );
  t.equal(
    announcer.next(partial, outlook(first, sees(2, 15.5, { isInDoubt: true }), sees(3, 8)), when(16)),
    undefined,
    'the other has failed once',
  );
  t.same(announcer.next(partial, outlook(first, sees(2, 20), sees(3, 8)), when(21)), { from: 'UP' });
  const silent = new Announcer('UP', at(-100));
  t.equal(silent.next(partial, outlook(first, sees(2, 5)), when(15.1)), undefined);
  t.equal(silent.next(partial, outlook(first, sees(2, 5)), when(45)), undefined);
  t.same(
    silent.next(partial, outlook(first, sees(2, 5)), when(45.1)),
    { from: 'UP' },
    'nobody answers for half a minute',
  );
  const alone = new Announcer('UP', at(-100));
  t.same(alone.next(partial, outlook(first), when(15.1)), { from: 'UP' }, 'there is nobody to be asked');
});

void t.test('while nobody held a vote before, those without one are waited for', async (t) => {
  const partial = since('PARTIAL', 10);
  const first = opinion(1, { isFailing: true, sinceUs: at(10), lastUs: at(15) });
  const silent = (...lastS: number[]) => lastS.map((s) => ({ lastUs: at(s), isInDoubt: false }));
  const before = new Announcer('UNKNOWN', at(-100));
  t.equal(before.next(partial, { ...outlook(first), silent: silent(-50, -50) }, when(15.1)), undefined);
  t.same(
    before.next(partial, { ...outlook(first), silent: silent(16, -50) }, when(17)),
    { from: 'UNKNOWN' },
    'one looked',
  );
  const waiting = new Announcer('UNKNOWN', at(-100));
  t.equal(waiting.next(partial, { ...outlook(first), silent: silent(-50) }, when(15.1)), undefined);
  t.same(waiting.next(partial, { ...outlook(first), silent: silent(-50) }, when(45.1)), { from: 'UNKNOWN' }, 'in vain');
  const known = new Announcer('UP', at(-100));
  const doubting = [{ lastUs: at(11), isInDoubt: true }];
  t.equal(known.next(partial, { ...outlook(first), silent: doubting }, when(15.1)), undefined, 'it has failed once');
  t.same(
    known.next(partial, { ...outlook(first), silent: silent(-50) }, when(16)),
    { from: 'UP' },
    'it was lost before',
  );
});

void t.test('an onset that moves is told while the outage lasts', async (t) => {
  const announcer = new Announcer('DOWN', at(0));
  t.same(announcer.next(since('DOWN', -20), bothFail, when(30)), { from: 'DOWN' });
  t.same(announcer.next(since('TIMEOUT', -20), bothFail, when(31)), { from: 'DOWN' });
});

const statuses = ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'] as const;
const isOutage = (status: Status) => status === 'DOWN' || status === 'TIMEOUT';

void t.test(
  'whatever happens, each telling continues the last, nothing waits for ever, and held outages are not told',
  (t) => {
    const step = fc.record({
      status: fc.constantFrom(...statuses),
      afterS: fc.integer({ min: 1, max: 50 }),
      failing: fc.integer({ min: 0, max: 3 }),
      isHeld: fc.boolean(),
      behind: fc.subarray([1, 2, 3]),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.constantFrom(...statuses), (steps, first) => {
        const announcer = new Announcer(first, at(0));
        let told: Status = first;
        let seconds = 0;
        let sinceS = 0;
        let status: Status = first;
        for (const one of steps) {
          seconds += one.afterS;
          if (one.status !== status) sinceS = seconds;
          status = one.status;
          const opinions = [1, 2, 3].map((voter) =>
            opinion(voter, { isFailing: voter <= one.failing, lastUs: at(seconds) }),
          );
          const circumstances = when(seconds, { isHeld: one.isHeld, isBehind: (voter) => one.behind.includes(voter) });
          const waited = announcer.isWaiting;
          const announcement = announcer.next({ status, sinceUs: at(sinceS) }, outlook(...opinions), circumstances);
          if (announcement !== undefined) {
            if (announcement.from !== told) return false;
            if (one.isHeld && isOutage(status) && !isOutage(told) && !waited) return false;
            if (status === told && !isOutage(status)) return false;
            told = status;
          }
          if (announcer.told !== told || announcer.isWaiting !== (told !== status)) return false;
        }
        announcer.next({ status, sinceUs: at(sinceS) }, outlook(), when(seconds + 121, { isHeld: true }));
        return announcer.told === status;
      }),
      { numRuns: Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500) },
    );
    t.end();
  },
);

void t.test('the outlook of a fold says who counts, since when, and whose failure is not confirmed', async (t) => {
  const inputs = inputsOf({
    assignments: seats('eu', 'us', 'ap', 'sa'),
    quarantines: [{ voter: 4, fromUs: at(0), toUs: null }],
  });
  const fold = createMonitorFold(fresh(inputs));
  for (const voter of [1, 2, 3, 4]) fold.apply([result(voter, voter, 'ok')], at(5));
  fold.apply([result(1, 61, 'fail'), result(1, 66, 'fail'), result(2, 62, 'fail'), result(3, 63, 'ok')], at(67));
  t.same(fold.outlook.opinions, [
    { voter: 1, isFailing: true, sinceUs: at(61), lastUs: at(66), isInDoubt: false },
    { voter: 2, isFailing: false, sinceUs: at(2), lastUs: at(62), isInDoubt: true },
    { voter: 3, isFailing: false, sinceUs: at(3), lastUs: at(63), isInDoubt: false },
  ]);
  t.equal(fold.outlook.quorum, 3);
  t.equal(fold.outlook.evidence.rule, 'some_failing');
});
