import t from 'tap';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import { BadgeCache } from './badge-cache.ts';

/** A cache over a database that a test makes slow or takes away, with a clock that it moves. */
function stage(maxBytes = 1_000_000) {
  const clock = { ms: 1_000_000 };
  const state = { isAway: false, reads: 0, percent: 99, hold: undefined as Promise<void> | undefined };
  const failures: unknown[] = [];
  const ids = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ]);
  const cache = new BadgeCache<string>({
    read: async (asked) => {
      state.reads += 1;
      const { percent, hold } = state;
      await hold;
      if (state.isAway) throw new Error('the database is away');
      const id = ids.get(asked);
      return id === undefined ? null : { id, facts: { kind: 'uptime', percent, hours: 720 } };
    },
    onFailure: (error) => void failures.push(error),
    now: () => clock.ms,
    sleep: () => new Promise(() => undefined),
    maxBytes,
  });
  const percent = async (key: string) => {
    const badge = await cache.get(key, key);
    return badge?.facts.kind === 'uptime' ? badge.facts.percent : badge;
  };
  return { clock, state, failures, ids, cache, percent };
}

t.test('a badge is read once for all who ask, and again after a minute', async (t) => {
  const { clock, state, cache, percent } = stage();
  t.equal(cache.peek('a'), undefined);
  t.same(await Promise.all([percent('a'), percent('a'), percent('a')]), [99, 99, 99]);
  t.equal(state.reads, 1);
  state.percent = 98;
  clock.ms += 59_999;
  t.equal(await percent('a'), 99);
  clock.ms += 1;
  t.equal(cache.peek('a'), undefined);
  t.ok(cache.has('a'));
  t.same(await Promise.all([percent('a'), percent('a')]), [98, 98]);
  t.equal(state.reads, 2);
});

t.test('what is not there is known for a minute too, and does not push out what is', async (t) => {
  const { clock, state, ids, cache, percent } = stage();
  t.equal(await percent('a'), 99);
  for (let number = 0; number < 20_000; number += 1) await cache.get(`made up ${number}`, 'none');
  t.equal(await percent('a'), 99);
  t.equal(state.reads, 20_001);
  t.equal(cache.peek('made up 19999'), null);
  t.equal(cache.peek('made up 1'), undefined, 'the oldest are forgotten');
  t.notOk(cache.has('made up 19999'));
  ids.delete('a');
  clock.ms += 60_000;
  t.equal(await percent('a'), null);
  t.notOk(cache.has('a'));
  ids.set('a', 1);
  clock.ms += 60_000;
  t.equal(await percent('a'), 99);
});

t.test('what cannot be read anew is shown as it was, and tried again every five seconds', async (t) => {
  const { clock, state, failures, percent } = stage();
  await percent('a');
  state.isAway = true;
  state.percent = 98;
  clock.ms += 3_600_000;
  t.same(await Promise.all([percent('a'), percent('a')]), [99, 99]);
  t.equal(await percent('a'), 99);
  t.equal(state.reads, 2);
  t.equal(failures.length, 1, 'told once');
  clock.ms += 5_000;
  t.equal(await percent('a'), 99);
  t.equal(state.reads, 3);
  await t.rejects(percent('b'), { message: 'the database is away' });
  state.isAway = false;
  clock.ms += 5_000;
  t.equal(await percent('a'), 98);
});

t.test('a key that has ended is shown no more, also when it was being read', async (t) => {
  const { state, ids, cache, percent } = stage();
  await percent('a');
  await percent('b');
  cache.forget(1);
  t.notOk(cache.has('a'));
  t.ok(cache.has('b'));
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hold = promise;
  const reading = percent('a');
  cache.forget(1);
  resolve();
  t.equal(await reading, 99);
  t.notOk(cache.has('a'), 'it may have been read before the end was committed');
  ids.delete('a');
  t.equal(await percent('a'), null);
});

t.test('memory has a bound: who was not asked for the longest goes', async (t) => {
  const { cache, percent } = stage(10_000);
  const keep = async (key: string, of: string, bytes: number) => {
    const badge = await cache.get(key, key);
    if (badge != null) cache.keep(key, badge, of, prepareAnswer(200, {}, 'x'.repeat(bytes)));
  };
  await keep('a', 'svg', 500);
  await keep('b', 'svg', 500);
  await percent('a');
  await keep('c', 'svg', 500);
  t.ok(cache.bytes <= 10_000);
  await keep('c', 'json', 200);
  t.same(
    ['a', 'b', 'c'].map((key) => cache.has(key)),
    [true, false, true],
  );
  for (let number = 0; number < 200; number += 1) await keep('c', `label ${number}`, 50);
  t.ok(cache.has('c'));
  t.ok(cache.bytes < 30_000, `${cache.bytes} bytes, however many labels`);
  cache.forget(3);
  cache.forget(1);
  t.equal(cache.bytes, 0, 'all that was counted is given back');
});
