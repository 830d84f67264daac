import t from 'tap';
import { SkippedSlots } from './skipped.ts';

void t.test('of the skipped slots of a monitor one in ten seconds or in an interval is recorded', (t) => {
  const skipped = new SkippedSlots();
  const recorded = (id: number, intervalMs: number, untilMs: number): number => {
    let count = 0;
    for (let dueMs = 0; dueMs < untilMs; dueMs += intervalMs)
      if (skipped.add({ id, intervalMs }, dueMs, 'overload')) count += 1;
    return count;
  };
  t.equal(recorded(1, 1_000, 60_000), 6);
  t.equal(recorded(2, 60_000, 600_000), 10, 'each of a monitor that is checked once in a minute');
  t.notOk(skipped.add({ id: 1, intervalMs: 1_000 }, 59_000, 'overload'));
  skipped.forget(1);
  t.ok(skipped.add({ id: 1, intervalMs: 1_000 }, 59_000, 'overload'), 'another monitor begins anew');
  t.ok(skipped.add({ id: 1, intervalMs: 1_000 }, 9_000, 'overload'), 'and so does a time that has jumped back');
  t.end();
});

void t.test('what was skipped is told once a minute, and a slow target alone is not', (t) => {
  const skipped = new SkippedSlots();
  const monitor = { id: 1, intervalMs: 1_000 };
  skipped.add(monitor, 0, 'overrun');
  t.equal(skipped.toTell(0), undefined);
  skipped.add(monitor, 1_000, 'overload');
  t.strictSame(skipped.toTell(1_000), { overrun: 1, overload: 1 });
  t.equal(skipped.toTell(61_000), undefined, 'nothing new');
  for (let index = 0; index < 5; index += 1) skipped.add(monitor, 2_000, 'overload');
  t.equal(skipped.toTell(60_999), undefined, 'too soon');
  t.strictSame(skipped.toTell(61_000), { overrun: 0, overload: 5 });
  t.end();
});
