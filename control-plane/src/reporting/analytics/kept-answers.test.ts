import t from 'tap';
import { keepAnswers } from './kept-answers.ts';

void t.test('an answer is made once for a while, also for those who ask while it is being made', async (t) => {
  const kept = keepAnswers(10_000, 2);
  let made = 0;
  const ask = (key: string, nowMs: number) =>
    kept.answer(key, nowMs, async () => {
      made += 1;
      return `${key} ${made}`;
    });
  t.same(await Promise.all([ask('a', 0), ask('a', 5), ask('b', 5)]), ['a 1', 'a 1', 'b 2']);
  t.equal(await ask('a', 9_999), 'a 1');
  t.equal(await ask('a', 10_000), 'a 3', 'and anew when its time is over');
  t.equal(await ask('c', 10_001), 'c 4');
  t.equal(await ask('b', 10_002), 'b 5', 'the oldest went when there were too many');
});

void t.test('what failed is not kept', async (t) => {
  const kept = keepAnswers(10_000, 2);
  await t.rejects(
    kept.answer('a', 0, () => Promise.reject(new Error('away'))),
    /away/,
  );
  t.equal(await kept.answer('a', 1, async () => 'here'), 'here');
});
