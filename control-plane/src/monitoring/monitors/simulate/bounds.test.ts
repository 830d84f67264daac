import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { createGate, inSlices } from './bounds.ts';
import { notesOf } from './notes.ts';
import { reachOf, slicesOf, windowWanted } from './window.ts';

const dayMs = 86_400_000;

void t.test('only so many are let in at once', async (t) => {
  const gate = createGate(2);
  let finish: (() => void) | undefined;
  const waits = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const first = gate(() => waits);
  const second = gate(async () => {
    await waits;
    throw new Error('it failed');
  });
  await t.rejects(
    gate(async () => 1),
    { code: 'busy', retryAfterSeconds: 5 },
  );
  finish?.();
  await first;
  await t.rejects(second, /it failed/);
  t.equal(await gate(async () => 7), 7, 'and the place of one that failed is free again');
});

void t.test('long work lets others in, and may be ended', async (t) => {
  const busy = (ms: number) => {
    for (const until = performance.now() + ms; performance.now() < until; );
  };
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let steps = 0;
  function* work(): Generator<void, void, undefined> {
    for (; steps < 20; steps += 1) {
      busy(10);
      yield;
    }
  }
  await inSlices(work(), () => undefined);
  isDone = true;
  t.equal(steps, 20);
  t.ok(turns >= 5, `others had ${turns} turns in 200 ms`);
  steps = 0;
  await t.rejects(
    inSlices(work(), () => {
      throw new Error('enough');
    }),
    /enough/,
  );
  t.ok(steps < 10, `ended after ${steps} steps`);
});

void t.test('the window is at most 30 days and ends now', async (t) => {
  const nowMs = Date.parse('2026-03-31T12:00:00Z');
  const iso = (ms: number) => new Date(ms).toISOString();
  t.same(windowWanted({}, nowMs), { fromMs: nowMs - 7 * dayMs, toMs: nowMs });
  t.same(windowWanted({ end_time: iso(nowMs + dayMs), start_time: iso(nowMs - dayMs) }, nowMs), {
    fromMs: nowMs - dayMs,
    toMs: nowMs,
  });
  t.same(windowWanted({ start_time: iso(nowMs - 30 * dayMs) }, nowMs), { fromMs: nowMs - 30 * dayMs, toMs: nowMs });
  t.same(windowWanted({ end_time: iso(nowMs - 5 * dayMs) }, nowMs), {
    fromMs: nowMs - 12 * dayMs,
    toMs: nowMs - 5 * dayMs,
  });
  t.throws(() => windowWanted({ start_time: iso(nowMs - 30 * dayMs - 1) }, nowMs), {
    errors: [{ code: 'window_too_long' }],
  });
  t.throws(() => windowWanted({ start_time: iso(nowMs) }, nowMs), { errors: [{ code: 'empty_window' }] });
  t.throws(() => windowWanted({ start_time: iso(nowMs - 5), end_time: iso(nowMs - 6) }, nowMs), Problem);
});

void t.test(
  'results are read from before the streaks that reach into the window until what confirms those that begin in it',
  async (t) => {
    const window = { fromMs: 100 * dayMs, toMs: 101 * dayMs };
    const far = { floorUs: 0, nowUs: 200 * dayMs * 1_000 };
    t.same(reachOf(window, far, 160e6, 0), {
      playFromUs: 100 * dayMs * 1_000 - 7 * 160e6,
      readFromUs: 100 * dayMs * 1_000 - 14 * 160e6,
      readToUs: 101 * dayMs * 1_000 + 7 * 160e6,
    });
    t.equal(reachOf(window, far, 160e6, 1_000e6).playFromUs, 100 * dayMs * 1_000 - 7_000e6);
    const near = { floorUs: 100 * dayMs * 1_000 - 5, nowUs: 101 * dayMs * 1_000 + 5 };
    t.same(reachOf(window, near, 160e6, 0), {
      playFromUs: near.floorUs,
      readFromUs: near.floorUs,
      readToUs: near.nowUs,
    });
  },
);

void t.test('slices cover their time and end at whole hours', async (t) => {
  const hourUs = 3_600_000_000;
  const slices = slicesOf(hourUs / 2, 10 * hourUs + 5, 2_000);
  t.equal(slices[0]?.fromUs, hourUs / 2);
  t.equal(slices.at(-1)?.toUs, 10 * hourUs + 5);
  for (const [index, { fromUs }] of slices.entries()) {
    if (index === 0) continue;
    t.equal(fromUs, slices[index - 1]?.toUs);
    t.equal(fromUs % hourUs, 0);
  }
  t.equal(slicesOf(0, 30 * 24 * hourUs, 10_800 * 3).length, 720, 'an hour at least');
  t.ok(slicesOf(0, 30 * 24 * hourUs, 0.1).length < 5);
  t.same(slicesOf(5, 5, 1), []);
});

void t.test('what could not be simulated is said', async (t) => {
  const given = {
    proposal: {},
    cadences: [{ fromUs: 0, intervalS: 60, timeoutS: 10 }],
    confirmations: 2,
    unmeasuredProbes: [],
    wantedFromUs: 1_000_000_000,
    wantedToUs: 2_000_000_000,
    floorUs: 0,
    keptFromUs: 0,
    untilUs: 2_000_000_000,
  };
  const codes = (more: object) => notesOf({ ...given, ...more }).map(({ code }) => code);
  t.same(codes({}), []);
  t.same(codes({ proposal: { intervalS: 60, confirmations: 2 } }), []);
  t.same(codes({ proposal: { intervalS: 30 } }), ['shorter_interval']);
  t.same(codes({ proposal: { intervalS: 90, confirmations: 3 } }), ['rechecks_stand_in', 'more_confirmations']);
  t.same(codes({ unmeasuredProbes: [7, 8] }), ['probes_not_measured']);
  t.same(codes({ floorUs: 1_500_000_000, keptFromUs: 1_400_000_000 }), ['began_later']);
  t.same(codes({ keptFromUs: 1_500_000_000, floorUs: 1_400_000_000, untilUs: 1_900_000_000 }), [
    'began_later',
    'beyond_retention',
    'not_known_further',
  ]);
});
