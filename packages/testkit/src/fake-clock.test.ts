import t from 'tap';
import { fakeClock } from './fake-clock.ts';

t.test(
  'timers run in order of their time, each at its own moment, those of equal time in order of creation',
  async (t) => {
    const clock = fakeClock(0);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`);
    clock.setTimeout(note('c'), 30);
    clock.setTimeout(note('a'), 10);
    clock.setTimeout(note('b'), 10);
    clock.clearTimeout(clock.setTimeout(note('never'), 5));
    clock.setTimeout(() => clock.setTimeout(note('nested'), 5), 20);
    await clock.advance(29);
    t.same(seen, ['a@10', 'b@10', 'nested@25']);
    t.equal(clock.pending(), 1);
    t.equal(clock.now(), 29);
    t.equal(await clock.advanceToNext(), true);
    t.equal(seen.at(-1), 'c@30');
    t.equal(await clock.advanceToNext(), false);
  },
);

t.test('a sleep ends by time or by its signal, and a loop of sleeps advances through all of its rounds', async (t) => {
  const clock = fakeClock();
  const controller = new AbortController();
  const cut = clock.sleep(1_000, controller.signal);
  controller.abort(new Error('enough'));
  await t.rejects(cut, { message: 'enough' });
  t.equal(clock.pending(), 0);
  let rounds = 0;
  const loop = (async () => {
    while (rounds < 5) {
      await clock.sleep(10);
      rounds++;
    }
  })();
  await clock.advance(50);
  await loop;
  t.equal(rounds, 5);
});

t.test('a jump of the wall clock fires no timer and leaves monotonic time alone', async (t) => {
  const clock = fakeClock(0);
  let fired = false;
  clock.setTimeout(() => (fired = true), 100);
  const before = clock.monotonic();
  clock.jumpWall(-5_000);
  await clock.advance(99);
  t.equal(fired, false);
  t.equal(clock.now(), -4_901);
  t.equal(clock.monotonic() - before, 99);
});
