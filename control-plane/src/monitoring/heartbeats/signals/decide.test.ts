import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { deadlineOf } from '../deadline.ts';
import { noticeMiss } from '../miss.ts';
import { newState } from '../state.ts';
import type { Rules, State } from '../state.ts';
import { pause, reschedule, resume } from '../switches.ts';
import { decide } from './decide.ts';
import type { Decided } from './decide.ts';
import type { Signal } from './signal.ts';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.UTC(2026, 2, 1, 12);

const rulesWith = (more: Partial<Rules> = {}): Rules => ({
  schedule: { next: (afterMs) => afterMs + hour },
  graceMs: 10 * minute,
  maxRuntimeMs: null,
  minRuntimeMs: null,
  failuresBeforeAlert: 1,
  resumeOnPing: false,
  methods: 'any',
  ...more,
});

const signal = (kind: Signal['kind'], atMs: number, more: Partial<Signal> = {}): Signal => ({
  kind,
  exitCode: null,
  rid: null,
  durationMs: null,
  method: 'GET',
  atMs,
  ...more,
});

/** Lets signals come one after another; what was made of the last. */
function play(rules: Rules, signals: readonly Signal[], from: State = newState(start)): Decided {
  let last: Decided = { state: from, kind: 'log', durationMs: null, warnings: [], announcements: [] };
  for (const each of signals) last = decide(rules, last.state, each);
  return last;
}

void t.test('a ping is expected again after the period, and missed after the grace', async (t) => {
  const rules = rulesWith();
  const { state } = play(rules, [signal('ping', start)]);
  t.match(state, { status: 'up', nextExpectedMs: start + hour, deadlineMs: start + 70 * minute, lastPingMs: start });
  t.equal(noticeMiss(rules, state, start + 70 * minute - 1), null, 'not a moment sooner');
  const missed = noticeMiss(rules, state, start + 71 * minute);
  t.match(missed, {
    state: { status: 'down', reason: 'missed', deadlineMs: null, statusSinceMs: start + 70 * minute },
    announcements: [{ kind: 'heartbeat.missed', from: 'up', to: 'down', atMs: start + 70 * minute }],
  });
  const back = play(rules, [signal('ping', start + 2 * hour)], missed?.state);
  t.match(back, {
    state: { status: 'up', failures: 0, reason: null },
    announcements: [{ kind: 'heartbeat.recovered', from: 'down', to: 'up', reason: 'missed' }],
  });
  t.equal(back.announcements.length, 1);
});

void t.test('a ping after the deadline and before the miss was noticed is no miss', async (t) => {
  const rules = rulesWith();
  const late = play(rules, [signal('ping', start), signal('ping', start + 3 * hour)]);
  t.same(late.announcements, []);
  t.equal(noticeMiss(rules, late.state, start + 3 * hour + 1), null);
});

void t.test('a failure alarms at once, and again only for another cause', async (t) => {
  const rules = rulesWith();
  const first = play(rules, [signal('ping', start), signal('fail', start + 1, { exitCode: 3 })]);
  t.match(first, {
    state: { status: 'down', reason: 'failed', failures: 1, deadlineMs: null },
    announcements: [{ kind: 'heartbeat.failed', from: 'up', reason: 'failed', atMs: start + 1 }],
  });
  t.same(play(rules, [signal('fail', start + 2)], first.state).announcements, []);
  const missed = noticeMiss(rules, play(rules, [signal('ping', start)]).state, start + 2 * hour)?.state;
  t.match(play(rules, [signal('fail', start + 3 * hour)], missed).announcements, [
    { kind: 'heartbeat.failed', from: 'down', to: 'down', reason: 'failed' },
  ]);
});

void t.test('only so many failures in a row alarm, and misses are among them', async (t) => {
  const rules = rulesWith({ failuresBeforeAlert: 3 });
  const twice = play(rules, [signal('fail', start), signal('fail', start + 1)]);
  t.match(twice, { state: { status: 'up', failures: 2 }, announcements: [] });
  t.match(play(rules, [signal('success', start + 2)], twice.state).state, { failures: 0 }, 'a success begins anew');
  const missed = noticeMiss(rules, twice.state, start + 2 * hour);
  t.match(missed, { state: { status: 'down', failures: 3 }, announcements: [{ kind: 'heartbeat.missed' }] });
  const once = noticeMiss(rules, play(rules, [signal('ping', start)]).state, start + 2 * hour);
  t.match(once, { state: { status: 'up', failures: 1, nextExpectedMs: start + 3 * hour }, announcements: [] });
});

void t.test('a run that began in time is waited for as long as it may take', async (t) => {
  const rules = rulesWith({ maxRuntimeMs: 3 * hour });
  const running = play(rules, [signal('ping', start), signal('start', start + 65 * minute)]).state;
  t.equal(running.deadlineMs, start + 65 * minute + 3 * hour);
  const overran = noticeMiss(rules, running, start + 65 * minute + 3 * hour);
  t.match(overran, { state: { status: 'down', reason: 'overran' }, announcements: [{ reason: 'overran' }] });
  const done = play(rules, [signal('success', start + 5 * hour)], overran?.state);
  t.match(done, { state: { status: 'up', runs: [] }, durationMs: 235 * minute, warnings: ['overran'] });
  const alive = play(rules, [signal('keepalive', start + 2 * hour)], running).state;
  t.equal(alive.deadlineMs, start + 5 * hour, 'a sign of life counts anew');
});

void t.test(
  'without a maximum a run must end by the deadline, also the first one, and a sign of life holds it',
  async (t) => {
    const rules = rulesWith();
    t.equal(
      play(rules, [signal('ping', start), signal('start', start + 65 * minute)]).state.deadlineMs,
      start + 70 * minute,
    );
    const first = play(rules, [signal('start', start)]).state;
    t.match(first, { status: 'new', deadlineMs: start + 70 * minute });
    t.match(noticeMiss(rules, first, start + 70 * minute)?.announcements, [{ kind: 'heartbeat.missed', from: 'new' }]);
    t.equal(play(rules, [signal('keepalive', start + 69 * minute)], first).state.deadlineMs, start + 79 * minute);
  },
);

void t.test('a run that began before the last one ended holds nothing up', async (t) => {
  const rules = rulesWith({ maxRuntimeMs: 48 * hour });
  const { state } = play(rules, [
    signal('start', start, { rid: 'a' }),
    signal('start', start + 1, { rid: 'b' }),
    signal('success', start + minute, { rid: 'b' }),
  ]);
  t.equal(state.runs.length, 1);
  t.equal(state.deadlineMs, start + minute + 70 * minute);
});

void t.test('runs are paired by their identifiers', async (t) => {
  const rules = rulesWith();
  const two = play(rules, [signal('start', start, { rid: 'a' }), signal('start', start + minute, { rid: 'b' })]);
  t.same(two.warnings, ['overlap']);
  const ended = decide(rules, two.state, signal('success', start + 5 * minute, { rid: 'a' }));
  t.match(ended, { durationMs: 5 * minute, warnings: [], state: { runs: [{ rid: 'b' }] } });
  t.same(decide(rules, two.state, signal('success', start + 5, { rid: 'c' })).warnings, ['unknown_run']);
  t.same(decide(rules, two.state, signal('start', start + 5, { rid: 'a' })).warnings, ['restarted', 'overlap']);
  t.match(
    decide(rules, two.state, signal('fail', start + 2 * minute)),
    { durationMs: minute },
    'without one it is the last',
  );
  t.match(
    play(rules, [signal('success', start)]),
    { warnings: [], durationMs: null },
    'a success before any start is one',
  );
});

void t.test('a client may say how long it took; too fast is a failure', async (t) => {
  const rules = rulesWith({ minRuntimeMs: minute });
  t.match(play(rules, [signal('success', start, { durationMs: 59_999 })]), {
    warnings: ['too_fast'],
    state: { status: 'down', reason: 'too_fast' },
    announcements: [{ kind: 'heartbeat.failed', reason: 'too_fast' }],
  });
  t.match(play(rules, [signal('start', start), signal('success', start + minute)]), { state: { status: 'up' } });
});

void t.test('what is paused records, and is resumed by a signal only where it is told to', async (t) => {
  const up = play(rulesWith(), [signal('ping', start)]).state;
  const paused = pause(up, start + 1);
  t.match(paused, {
    state: { status: 'paused', deadlineMs: null },
    announcements: [{ kind: 'heartbeat.paused', from: 'up' }],
  });
  t.equal(pause(paused?.state ?? up, start), null, 'twice is once');
  const state = paused?.state ?? up;
  t.match(decide(rulesWith(), state, signal('fail', start + 2)), { state: { status: 'paused' }, warnings: ['paused'] });
  t.match(decide(rulesWith({ resumeOnPing: true }), state, signal('ping', start + 2)), {
    state: { status: 'up' },
    announcements: [{ kind: 'heartbeat.resumed' }],
  });
  t.match(resume(rulesWith(), state, start + hour)?.state, { status: 'up', nextExpectedMs: start + 2 * hour });
  t.match(resume(rulesWith(), pause(newState(start), start)?.state ?? up, start)?.state, {
    status: 'new',
    deadlineMs: null,
  });
});

void t.test('a new schedule counts from the last run, or from now where it would be overdue', async (t) => {
  const { state } = play(rulesWith(), [signal('ping', start)]);
  const longer = rulesWith({ schedule: { next: (afterMs) => afterMs + 24 * hour } });
  t.equal(reschedule(longer, state, start + 5 * minute).nextExpectedMs, start + 24 * hour);
  const shorter = rulesWith({ schedule: { next: (afterMs) => afterMs + minute }, graceMs: 0 });
  t.equal(reschedule(shorter, state, start + 30 * minute).deadlineMs, start + 31 * minute);
});

void t.test('methods, logs', async (t) => {
  const rules = rulesWith({ methods: 'post' });
  t.match(decide(rules, newState(start), signal('fail', start)), {
    kind: 'ignored',
    state: { status: 'new', lastPingMs: null },
  });
  t.match(decide(rules, newState(start), signal('ping', start, { method: 'POST' })), {
    kind: 'ping',
    state: { status: 'up' },
  });
  t.match(decide(rulesWith(), newState(start), signal('log', start)).state, { status: 'new', lastPingMs: start });
});

const anyKind = fc.constantFrom('ping', 'start', 'success', 'fail', 'log', 'keepalive', 'miss', 'pause', 'resume');
const anySteps = fc.array(
  fc.record({
    kind: anyKind,
    rid: fc.constantFrom(null, 'a', 'b'),
    afterMs: fc.integer({ min: 0, max: 3 * hour }),
    durationMs: fc.option(fc.integer({ min: 0, max: 3 * hour })),
  }),
  { maxLength: 40 },
);
const anyRules = fc.record({
  graceMs: fc.integer({ min: 0, max: hour }),
  maxRuntimeMs: fc.option(fc.integer({ min: 1_000, max: 2 * hour })),
  minRuntimeMs: fc.option(fc.integer({ min: 1_000, max: hour })),
  failuresBeforeAlert: fc.integer({ min: 1, max: 4 }),
  resumeOnPing: fc.boolean(),
});

void t.test('whatever comes, states and news agree', async () => {
  fc.assert(
    fc.property(anyRules, anySteps, (given, steps) => {
      const rules = rulesWith(given);
      let state = newState(start);
      let nowMs = start;
      for (const step of steps) {
        nowMs += step.afterMs;
        const before = state;
        const outcome =
          step.kind === 'miss'
            ? noticeMiss(rules, state, nowMs)
            : step.kind === 'pause'
              ? pause(state, nowMs)
              : step.kind === 'resume'
                ? resume(rules, state, nowMs)
                : decide(rules, state, signal(step.kind, nowMs, { rid: step.rid, durationMs: step.durationMs }));
        if (outcome === null) continue;
        state = outcome.state;
        const told = outcome.announcements.map(({ kind }) => kind);
        const toDown = before.status !== 'down' && state.status === 'down';
        const isAlarm = told.includes('heartbeat.missed') || told.includes('heartbeat.failed');
        // Exactly what becomes down is told, exactly what was down and is up has recovered, and nothing is told twice.
        if (toDown && !isAlarm) return false;
        if (isAlarm && state.status !== 'down') return false;
        if (told.includes('heartbeat.recovered') !== (before.status === 'down' && state.status === 'up')) return false;
        if (new Set(told).size !== told.length) return false;
        // A deadline stands only where something is expected, equals what the rules say, and is in the future of what set it.
        if (state.deadlineMs !== null && !['up', 'new'].includes(state.status)) return false;
        if (deadlineOf(rules, state) !== state.deadlineMs) return false;
        if (state.status === 'up' && state.deadlineMs === null) return false;
        if ((state.reason !== null) !== (state.status === 'down')) return false;
        if (state.status === 'down' && state.failures < 1) return false;
        if (noticeMiss(rules, state, nowMs - 1) !== null && step.kind === 'miss') return false;
        if (state.runs.length > 3) return false;
      }
      return true;
    }),
    { numRuns: 500 },
  );
});
