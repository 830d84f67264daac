import { historyWindows } from '@parallax/api-contract';
import t from 'tap';
import { samplesOf, spanOf } from './samples.ts';

const minute = 60_000;
const span = { fromMs: 0, untilMs: 32 * minute, stepMs: 5 * minute };
const told = (...runs: Parameters<typeof samplesOf>[0]) =>
  samplesOf(runs, span).map(({ atMs, state }) => `${atMs / minute} ${state}`);

void t.test('a window has some 300 samples, none of them before it', async (t) => {
  const now = Date.parse('2026-11-22T17:01:02.003Z');
  for (const window of historyWindows) {
    const all = spanOf(window, now);
    const samples = samplesOf([{ state: 'clean', startedMs: 0, endedMs: null }], all);
    t.ok(samples.length >= 280 && samples.length <= 340, `${window}: ${samples.length}`);
    t.equal(samples[0]?.atMs, all.fromMs);
    t.ok(all.fromMs > now - ({ '24h': 1, '7d': 7, '30d': 30 }[window] ?? 0) * 86_400_000);
    t.same(spanOf(window, now + 1).fromMs, all.fromMs);
  }
});

void t.test(
  'each sample holds the gravest state of its time, and none stands for a time that nobody knows',
  async (t) => {
    t.same(
      told(
        { state: 'clean', startedMs: -minute, endedMs: 6 * minute },
        { state: 'listed', startedMs: 6 * minute, endedMs: 7 * minute },
        { state: 'error', startedMs: 7 * minute, endedMs: 10 * minute },
        { state: 'clean', startedMs: 26 * minute, endedMs: null },
      ),
      ['0 clean', '5 listed', '25 clean', '30 clean'],
    );
    t.same(
      told({ state: 'clean', startedMs: -9, endedMs: 0 }, { state: 'clean', startedMs: 32 * minute, endedMs: null }),
      [],
    );
  },
);
