import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { uptimeOf } from './events/uptime.ts';
import { deliver, miss, newState, pause, reschedule, resume } from './state.ts';
import type { Change, Expectation, State } from './state.ts';

const hourly: Expectation = { intervalMs: 3_600_000, graceMs: 300_000 };
const unscheduled: Expectation = { intervalMs: null, graceMs: 300_000 };
const whats = (change: Change | null) => change?.announcements.map(({ what }) => what);

void t.test('a delivery says how it is, and when the next one is due', async (t) => {
  const first = deliver(hourly, newState(0), 'up', 1_000);
  t.same(first.announcements, [], 'the first good one is no news');
  t.match(first.state, { status: 'up', statusSinceMs: 1_000, nextExpectedMs: 3_601_000, deadlineMs: 3_901_000 });
  const failed = deliver(hourly, first.state, 'down', 2_000);
  t.same(failed.announcements, [{ what: 'failed', from: 'up', to: 'down', atMs: 2_000 }]);
  t.match(failed.state, { reason: 'failed', nextExpectedMs: 3_602_000, deadlineMs: null });
  t.same(whats(deliver(hourly, failed.state, 'down', 3_000)), [], 'once');
  t.same(whats(deliver(hourly, failed.state, 'degraded', 3_000)), ['recovered']);
  t.same(whats(deliver(hourly, newState(0), 'down', 1)), ['failed'], 'a first bad one is');
  t.same(whats(deliver(unscheduled, first.state, 'degraded', 2_000)), [], 'degraded is no alarm');
  t.equal(deliver(unscheduled, first.state, 'up', 2_000).state.deadlineMs, null);
});

void t.test('what says nothing moves no deadline', async (t) => {
  const { state } = deliver(hourly, newState(0), 'up', 1_000);
  t.same(deliver(hourly, state, null, 9_000).state, { ...state, lastReceivedMs: 9_000 });
  t.same(deliver(hourly, newState(0), null, 9_000).state.status, 'new');
});

void t.test('a miss is told once, of when it was due, and ends with the next delivery', async (t) => {
  const { state } = deliver(hourly, newState(0), 'degraded', 0);
  t.equal(miss(state, 3_899_999), null);
  const missed = miss(state, 9_000_000);
  t.same(missed?.announcements, [{ what: 'missed', from: 'degraded', to: 'down', atMs: 3_900_000 }]);
  const down = missed?.state ?? state;
  t.equal(miss(down, 99_000_000), null);
  t.same(whats(deliver(hourly, down, 'up', 9_500_000)), ['recovered']);
  t.same(whats(deliver(hourly, down, 'down', 9_500_000)), ['failed'], 'down for another reason');
  t.equal(miss(newState(0), 99_000_000), null, 'nothing is missed before the first delivery');
});

void t.test('paused, nothing counts; resumed, it is new and waits', async (t) => {
  const { state } = deliver(hourly, newState(0), 'down', 0);
  const paused = pause(state, 10);
  t.same(paused?.announcements, [{ what: 'paused', from: 'down', to: 'paused', atMs: 10 }]);
  const rest = paused?.state ?? state;
  t.equal(pause(rest, 20), null);
  t.same(deliver(hourly, rest, 'up', 30).state, { ...rest, lastReceivedMs: 30 });
  t.match(resume(hourly, rest, 40)?.state, { status: 'new', nextExpectedMs: 3_600_040, deadlineMs: 3_900_040 });
  t.same(whats(miss(resume(hourly, rest, 40)?.state ?? rest, 3_900_040)), ['missed']);
  t.equal(resume(hourly, state, 40), null);
  const never = pause(newState(0), 10)?.state ?? rest;
  t.equal(resume(hourly, never, 40)?.state.deadlineMs, null, 'one that never had any waits for the first');
});

void t.test('another interval counts from the last delivery, and misses nothing by itself', async (t) => {
  const { state } = deliver(unscheduled, newState(0), 'up', 1_000);
  t.match(reschedule(hourly, state, 2_000), { nextExpectedMs: 3_601_000, deadlineMs: 3_901_000 });
  t.match(reschedule(hourly, state, 9_000_000), { nextExpectedMs: 12_600_000 }, 'from now where it would be missed');
  t.match(reschedule(unscheduled, deliver(hourly, newState(0), 'up', 0).state, 1), {
    nextExpectedMs: null,
    deadlineMs: null,
  });
  t.same(reschedule(hourly, newState(0), 5), newState(0));
});

type Step =
  | { readonly kind: 'deliver'; readonly said: 'up' | 'degraded' | 'down' | null }
  | { readonly kind: 'look' | 'pause' | 'resume' };
const step = fc.oneof(
  fc.record({
    kind: fc.constant('deliver' as const),
    said: fc.constantFrom('up' as const, 'degraded' as const, 'down' as const, null),
  }),
  fc.record({ kind: fc.constantFrom('look' as const, 'pause' as const, 'resume' as const) }),
);

void t.test(
  'whatever comes in whatever order: alarms and recoveries alternate, and no time runs backwards',
  async (t) => {
    const history = fc.array(fc.tuple(step, fc.integer({ min: -500, max: 5_000 })), { maxLength: 60 });
    const expectation = fc.record({
      intervalMs: fc.option(fc.integer({ min: 1, max: 3_000 })),
      graceMs: fc.nat({ max: 2_000 }),
    });
    fc.assert(
      fc.property(expectation, history, (by, steps) => {
        let state = newState(0);
        let nowMs = 0;
        let isAlarmed = false;
        for (const [one, afterMs] of steps) {
          nowMs += afterMs;
          const before = state;
          const change = run(by, state, one, nowMs);
          if (change === null) continue;
          state = change.state;
          if (state.statusSinceMs < before.statusSinceMs) return false;
          if ((state.status === 'down') !== (state.reason !== null)) return false;
          if (state.deadlineMs !== null && !['new', 'up', 'degraded'].includes(state.status)) return false;
          for (const { what } of change.announcements) {
            if (what === 'recovered' && !isAlarmed) return false;
            isAlarmed = what === 'missed' || what === 'failed';
          }
          if (isAlarmed !== (state.status === 'down')) return false;
        }
        return true;
      }),
    );
    t.pass();
  },
);

function run(by: Expectation, state: State, one: Step, nowMs: number): Change | null {
  switch (one.kind) {
    case 'deliver':
      return deliver(by, state, one.said, nowMs);
    case 'look':
      return miss(state, nowMs);
    case 'pause':
      return pause(state, nowMs);
    case 'resume':
      return resume(by, state, nowMs);
  }
}

void t.test('uptime is what ranges sum up to', async (t) => {
  const ranges = [
    { startedMs: 0, endedMs: 10_000, status: 'up' as const, isMissed: false },
    { startedMs: 10_000, endedMs: 20_000, status: 'down' as const, isMissed: true },
    { startedMs: 30_000, endedMs: null, status: 'degraded' as const, isMissed: false },
  ];
  t.same(uptimeOf(ranges, [], 5_000, 35_000), {
    seconds: { up: 5, degraded: 5, down: 10 },
    uptime_percent: 50,
    missed: 1,
  });
  t.same(uptimeOf(ranges, [], 15_000, 18_000), {
    seconds: { up: 0, degraded: 0, down: 3 },
    uptime_percent: 0,
    missed: 0,
  });
  const uncounted = [
    { fromMs: 8_000, toMs: 12_000 },
    { fromMs: 19_000, toMs: 32_000 },
  ];
  t.match(uptimeOf(ranges, uncounted, 5_000, 35_000), { seconds: { up: 3, degraded: 3, down: 7 }, missed: 1 });
  const whole = [{ fromMs: 10_000, toMs: 20_000 }];
  t.match(uptimeOf(ranges, whole, 5_000, 35_000), { seconds: { down: 0 }, uptime_percent: 100, missed: 0 });
  t.equal(uptimeOf([], [], 0, 1).uptime_percent, null);
});
