import t from 'tap';
import { keptAnswers } from './kept-answers.ts';

function openKept(mostEntries = 3) {
  const clock = { ms: 1_000_000 };
  const kept = keptAnswers({ keepMs: 10_000, mostEntries, now: () => clock.ms });
  let reads = 0;
  const get = (key: string) => kept.get(key, () => Promise.resolve(`${key} ${(reads += 1)}`));
  return { clock, kept, get };
}

t.test('an answer is kept for its time, and no longer', async (t) => {
  const { clock, get } = openKept();
  t.equal(await get('a'), 'a 1');
  clock.ms += 9_999;
  t.equal(await get('a'), 'a 1');
  t.equal(await get('b'), 'b 2');
  clock.ms += 1;
  t.equal(await get('a'), 'a 3');
  clock.ms -= 60_000;
  t.equal(await get('a'), 'a 4', 'nor when the clock was set back');
});

t.test('the oldest answer makes room', async (t) => {
  const { get } = openKept(2);
  await get('a');
  await get('b');
  await get('c');
  t.equal(await get('b'), 'b 2');
  t.equal(await get('c'), 'c 3');
  t.equal(await get('a'), 'a 4');
  t.equal(await get('c'), 'c 3');
  t.equal(await get('b'), 'b 5');
});

t.test('requests at once share one reading, and a failure is not kept', async (t) => {
  const { kept } = openKept();
  let reads = 0;
  const failing = async (): Promise<string> => {
    reads += 1;
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('away');
  };
  const outcomes = await Promise.allSettled([kept.get('a', failing), kept.get('a', failing)]);
  t.same(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.equal(reads, 1);
  t.equal(await kept.get('a', () => Promise.resolve('there')), 'there');
});
