import t from 'tap';
import { Placement } from './placement.ts';

const s = (seconds: number): number => seconds * 1_000_000;

void t.test('between two synchronisations it interpolates, beyond them it goes on at their rate', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  t.equal(placement.place(s(110)), s(1_010));
  placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(1_102) });
  t.equal(placement.place(s(150)), s(1_051));
  t.equal(placement.place(s(300)), s(1_204), 'after the last');
  t.equal(placement.place(s(50)), s(949), 'before the first');
  t.end();
});

void t.test('it never reaches across a break', (t) => {
  const placement = new Placement();
  placement.add({ kind: 'sync', monotonicUs: s(100), serverUs: s(1_000) });
  placement.add({ kind: 'break', monotonicUs: s(150), serverUs: 0 });
  placement.add({ kind: 'sync', monotonicUs: s(200), serverUs: s(5_000) });
  t.equal(placement.place(s(140)), s(1_040));
  t.equal(placement.place(s(160)), s(4_960));
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
  t.equal(placement.place(s(22)), s(1_022), 'only the kept ones are left');
  placement.add({ kind: 'sync', monotonicUs: s(48), serverUs: s(1_050) }, true);
  placement.keepLast();
  placement.add({ kind: 'sync', monotonicUs: s(148), serverUs: s(1_150) });
  t.equal(placement.place(s(48)), s(1_050));
  placement.forgetBefore(s(148));
  t.equal(placement.place(s(60)), s(1_062));
  t.end();
});
