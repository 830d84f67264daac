import t from 'tap';
import { cancelDeadline, setDeadline } from './deadlines.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;

void t.test('deadlines end once, in order and not too early; those that were called off do not', async (t) => {
  const before = timers();
  const ended: string[] = [];
  const early: string[] = [];
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const note = (name: string, afterMs: number) => () => {
      ended.push(name);
      if (performance.now() - startMs < afterMs - 2) early.push(name);
    };
    const set = (name: string, afterMs: number) => setDeadline(note(name, afterMs), afterMs);
    const first = set('first', 30);
    set('second', 30);
    const third = set('third', 30);
    set('fourth', 30);
    set('short', 5);
    cancelDeadline(first);
    cancelDeadline(third);
    cancelDeadline(third);
    const calledOff = set('called off by another', 30);
    setDeadline(() => {
      cancelDeadline(calledOff);
      set('set by another', 30);
      setDeadline(resolve, 60);
    }, 20);
  });
  t.strictSame(ended, ['short', 'second', 'fourth', 'set by another']);
  t.strictSame(early, []);
  t.equal(timers(), before, 'no timer is left');
});

void t.test('when all are called off no timer is left, however many durations there were', async (t) => {
  const before = timers();
  const ended: number[] = [];
  const set = Array.from({ length: 2_000 }, (_, at) => setDeadline(() => ended.push(at), 10_000 + (at % 700)));
  t.ok(timers() > before);
  for (const deadline of set.reverse()) cancelDeadline(deadline);
  t.equal(timers(), before);
  t.strictSame(ended, []);
});
