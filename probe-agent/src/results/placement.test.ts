import t from 'tap';
import { Placement } from './placement.ts';

const s = (seconds: number): number => seconds * 1_000_000;

void t.test('between two synchronisations it interpolates, beyond them it goes on at their rate', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  t.equal(placement.place(s(110))?.serverUs, s(1_010));
  placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(1_102) });
  t.equal(placement.place(s(150))?.serverUs, s(1_051));
  t.equal(placement.place(s(300))?.serverUs, s(1_204), 'after the last');
  t.equal(placement.place(s(50))?.serverUs, s(949), 'before the first');
  t.end();
});

void t.test('it never reaches across a break', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  placement.add({ kind: 'break', monotonicUs: s(150), serverUs: 0 });
  placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(5_000) });
  t.equal(placement.place(s(140))?.serverUs, s(1_040));
  t.equal(placement.place(s(160))?.serverUs, s(4_960));
  t.end();
});

void t.test('what lies after the last synchronisation is not settled; nothing is placed without any', (t) => {
  const placement = new Placement();
  t.equal(placement.place(s(1)), undefined);
  t.notOk(placement.settled(s(1)));
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  t.ok(placement.settled(s(99)));
  t.notOk(placement.settled(s(101)));
  t.end();
});

void t.test('passing synchronisations give way to the next, kept ones stay', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(0), serverUs: s(1_000) });
  for (let at = 4; at <= 40; at += 4)
    placement.add({ kind: 'sync', monotonicUs: s(at), serverUs: s(1_000 + at * 1.5) }, true);
  placement.add({ kind: 'sync', monotonicUs: s(44), serverUs: s(1_044) });
  t.equal(placement.place(s(22))?.serverUs, s(1_022), 'only the kept ones are left');
  placement.add({ kind: 'sync', monotonicUs: s(48), serverUs: s(1_050) }, true);
  placement.keepLast();
  placement.add({ kind: 'sync', monotonicUs: s(148), serverUs: s(1_150) });
  t.equal(placement.place(s(48))?.serverUs, s(1_050));
  placement.forgetBefore(s(148));
  t.equal(placement.place(s(60))?.serverUs, s(1_062));
  t.end();
});

void t.test('a jump of the wall clock is a sleep only when the synchronisations around it say so', (t) => {
  const world = (serverAfter: number): Placement => {
    const placement = new Placement();
    placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
    placement.add({ kind: 'jump', monotonicUs: s(150), serverUs: 0 });
    t.notOk(placement.settled(s(140)), 'only they can tell');
    placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(serverAfter) });
    placement.add({ kind: 'sync', monotonicUs: s(210), serverUs: s(serverAfter + 10) });
    return placement;
  };
  const awake = world(1_100);
  t.same(awake.place(s(140)), { serverUs: s(1_040), errorUs: 0 });
  const asleep = world(1_190);
  t.equal(asleep.place(s(140))?.serverUs, s(1_040), 'before the sleep');
  t.equal(asleep.place(s(160))?.serverUs, s(1_150), 'after it');
  t.end();
});

void t.test('time that is missing without a trace makes places as uncertain as it is long', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(1_190) });
  t.equal(placement.place(s(150))?.errorUs, s(90));
  t.end();
});

void t.test('far before the first synchronisation it waits until the rate of the clock is known', (t) => {
  const placement = new Placement();
  const sync = (at: number): void => placement.add({ kind: 'sync', monotonicUs: s(at), serverUs: s(at * 1.01) });
  sync(1_000);
  t.ok(placement.settled(s(996)), 'not for seconds');
  t.notOk(placement.settled(s(900)));
  sync(1_008);
  t.notOk(placement.settled(s(900)));
  sync(1_012);
  t.ok(placement.settled(s(900)), 'a tenth of the way is enough');
  t.ok(Math.abs((placement.place(s(900))?.serverUs ?? 0) - s(909)) < 1_000);
  t.notOk(placement.settled(s(0)));
  sync(1_060);
  t.ok(placement.settled(s(0)), 'and a minute in any case');
  t.end();
});
