import t from 'tap';
import { ChainCache, keptMs } from './chain-cache.ts';

void t.test('a look serves all who ask meanwhile and is kept for five minutes; a failed one is not kept', async (t) => {
  t.equal(keptMs, 300_000, 'five minutes');
  let nowMs = 0;
  const cache = new ChainCache<number>(() => nowMs);
  let looks = 0;
  let finish: (value: number) => void = () => undefined;
  const slow = () => {
    looks += 1;
    return new Promise<number>((resolve) => (finish = resolve));
  };
  const asked = [cache.get('a', false, slow), cache.get('a', true, slow), cache.get('a', false, slow)];
  finish(7);
  t.same(
    await Promise.all(asked),
    Array.from({ length: 3 }, () => ({ seen: 7, cached: false })),
  );
  t.equal(looks, 1);
  const at = async (value: number, isForced = false) => cache.get('a', isForced, async () => value);
  nowMs = keptMs - 1;
  t.same(await at(8), { seen: 7, cached: true });
  t.same(await at(9, true), { seen: 9, cached: false });
  nowMs += keptMs;
  t.same(await at(10), { seen: 10, cached: false });
  await t.rejects(
    cache.get('b', false, () => Promise.reject(new Error('no'))),
    /no/,
  );
  t.same(await cache.get('b', false, async () => 1), { seen: 1, cached: false });
});

void t.test('it does not grow without end, and what was looked at last stays', async (t) => {
  const cache = new ChainCache<number>(() => 0);
  for (let index = 0; index < 1_000; index += 1) await cache.get(String(index), false, async () => index);
  t.same(await cache.get('999', false, async () => -1), { seen: 999, cached: true });
  t.same(await cache.get('0', false, async () => -1), { seen: -1, cached: false });
});
