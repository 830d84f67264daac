import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { Alert, AlertStep, QuietHours } from '../alert.ts';
import { alert, occasion, target, World } from './testing.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A Monday, midnight in UTC. */
const base = Date.UTC(2026, 0, 5);

const names = ['a', 'b'] as const;
const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;

const quietHours: fc.Arbitrary<QuietHours | null> = fc.option(
  fc.record({
    windows: fc.array(
      fc.record({
        days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
        start: fc.integer({ min: 0, max: 95 }).map((n) => clock(n * 15)),
        end: fc.integer({ min: 0, max: 95 }).map((n) => clock(n * 15)),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    timezone: fc.constant('UTC'),
    except_severity: fc.constantFrom(null, null, 'critical' as const),
  }),
  { nil: null },
);

const steps: fc.Arbitrary<readonly AlertStep[]> = fc
  .uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 3 })
  .chain((after) =>
    fc.tuple(
      ...after
        .toSorted((a, b) => a - b)
        .map((minutes) =>
          fc
            .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
            .map((some): AlertStep => ({ after_seconds: minutes * 60, targets: some.map(target) })),
        ),
    ),
  );

const someAlert: fc.Arbitrary<Partial<Alert>> = fc.record({
  steps,
  quietHours,
  minDurationSeconds: fc.constantFrom(0, 0, 300, 3_600),
  reminderIntervalSeconds: fc.constantFrom(null, 600, 3_600),
  notifyOnRecovery: fc.constantFrom(true, true, true, false),
});

const timeline = fc.array(
  fc.record({
    afterMinutes: fc.integer({ min: 0, max: 400 }),
    what: fc.constantFrom('turn' as const, 'turn' as const, 'acknowledged' as const, 'members' as const),
  }),
  { minLength: 1, maxLength: 8 },
);

/** The same rule as the code's, told another way: by walking through the minutes of a week. */
function isQuiet(quiet: QuietHours | null, atMs: number): boolean {
  if (quiet === null) return false;
  const minuteOfWeek = Math.floor(((((atMs - base) % (7 * day)) + 7 * day) % (7 * day)) / minute);
  return quiet.windows.some(({ days, start, end }) => {
    const of = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    const length = of(end) > of(start) ? of(end) - of(start) : of(end) - of(start) + 1_440;
    return days.some((weekday) => {
      const from = (weekday - 1) * 1_440 + of(start);
      const into = (minuteOfWeek - from + 10_080) % 10_080;
      return into < length;
    });
  });
}

void t.test(
  'over any timeline a target is told of problems and their ends in turn, outside of quiet hours, and of nothing twice',
  async (t) => {
    fc.assert(
      fc.property(
        fc.array(someAlert, { minLength: 1, maxLength: 3 }),
        timeline,
        fc.constantFrom('major' as const, 'critical' as const),
        fc.integer({ min: 0, max: 7 * 96 }).map((n) => base + n * 15 * minute),
        fc.constantFrom(0, 0, 90_000),
        (some, events, severity, startMs, latencyMs) => {
          const alerts = some.map((more, index) => alert({ ...more, id: index + 1 }));
          const world = new World(occasion(startMs, { severity }), alerts, latencyMs);
          for (const { afterMinutes, what } of events) {
            world.passTo(world.nowMs + afterMinutes * minute);
            checkReminders(world, alerts);
            if (what === 'turn') world.change(world.occasion.endedMs === null ? 'resolved' : 'reopened');
            else if (world.occasion.endedMs === null && what === 'acknowledged') world.change('acknowledged');
            else if (world.occasion.endedMs === null) world.change('updated', 'members');
            world.look();
            check(world, alerts);
            const told = JSON.stringify([...world.told]);
            const count = world.queued.length;
            world.look();
            if (JSON.stringify([...world.told]) !== told || world.queued.length !== count)
              throw new Error('looking again changed something');
          }
          const isOpen = world.occasion.endedMs === null;
          if (isOpen) world.change('resolved');
          world.passTo(world.nowMs + 15 * day);
          check(world, alerts);
          checkEnd(world, alerts);
        },
      ),
      { numRuns: 400 },
    );
    t.end();
  },
);

function namers(alerts: readonly Alert[], name: string): readonly Alert[] {
  return alerts.filter((each) => each.steps.some((step) => step.targets.some((one) => one.target === name)));
}

function check(world: World, alerts: readonly Alert[]): void {
  for (const name of names) {
    let isProblem = false;
    let lastMs = 0;
    const wanting = namers(alerts, name);
    for (const [kind, atMs] of world.heard(name)) {
      if (kind === 'resolved') {
        if (!isProblem) throw new Error(`${name} is told of an end without a problem`);
        isProblem = false;
      } else if (kind === 'opened') {
        if (isProblem && wanting.every((each) => each.notifyOnRecovery))
          throw new Error(`${name} is told twice that it began`);
        isProblem = true;
      } else if (kind === 'escalated') {
        isProblem = true;
      } else if (kind === 'was_down') {
        if (isProblem && wanting.every((each) => each.notifyOnRecovery))
          throw new Error(`${name} is told that it was down while it is`);
        isProblem = false;
      } else if (!isProblem) {
        throw new Error(`${name} is told ${kind} of what it does not know`);
      }
      if (kind === 'reminder') {
        const least = Math.min(...wanting.map((each) => each.reminderIntervalSeconds ?? Infinity));
        if (atMs - lastMs < least * 1_000) throw new Error(`${name} is reminded too soon`);
      }
      lastMs = atMs;
      const { severity } = world.occasion;
      const isSilent = wanting.every(
        ({ quietHours }) =>
          isQuiet(quietHours, atMs) && !(quietHours?.except_severity === 'critical' && severity === 'critical'),
      );
      if (isSilent) throw new Error(`${name} is told ${kind} in quiet hours`);
    }
  }
}

/** Nobody waits for a reminder longer than was asked for, where no silence is in the way. */
function checkReminders({ occasion: { endedMs, isAcknowledged }, told, nowMs }: World, alerts: readonly Alert[]): void {
  if (endedMs !== null || isAcknowledged || alerts.some((each) => each.quietHours !== null)) return;
  for (const [name, { state, lastMs }] of told) {
    const ready = namers(alerts, name).filter((each) => nowMs >= base + each.minDurationSeconds * 1_000);
    const least = Math.min(...ready.map((each) => each.reminderIntervalSeconds ?? Infinity));
    if (state === 'problem' && lastMs !== null && nowMs - lastMs > least * 1_000)
      throw new Error(`${name} waits for a reminder`);
  }
}

/** After everything is over and every silence has ended, nothing is owed to anybody. */
function checkEnd(world: World, alerts: readonly Alert[]): void {
  if (world.held.size > 0 && !isAlwaysQuiet(alerts)) throw new Error(`held for ever: ${[...world.held.keys()].join()}`);
  for (const name of names) {
    const wanting = namers(alerts, name);
    if (wanting.length === 0 || !wanting.every((each) => each.notifyOnRecovery) || isAlwaysQuiet(wanting)) continue;
    const last = world.heard(name).at(-1);
    if (last !== undefined && last[0] !== 'resolved' && last[0] !== 'was_down')
      throw new Error(`${name} believes that it lasts`);
    const { startedMs, endedMs } = world.occasion;
    const isDue = wanting.some(
      (each) =>
        each.steps[0]?.targets.some((one) => one.target === name) === true &&
        (endedMs ?? 0) - Math.max(world.occasion.openedMs, startedMs + each.minDurationSeconds * 1_000) >=
          (each.steps[0]?.after_seconds ?? 0) * 1_000,
    );
    if (isDue && last === undefined) throw new Error(`${name} is told nothing`);
  }
}

/** Windows may leave no time to speak. */
function isAlwaysQuiet(alerts: readonly Alert[]): boolean {
  return alerts.some(({ quietHours: quiet }) => {
    for (let at = 0; at < 7 * day; at += 15 * minute) if (!isQuiet(quiet, base + at)) return false;
    return true;
  });
}

void t.test('reminders come on time while nobody takes care of it', async (t) => {
  const world = new World(occasion(base), [alert({ reminderIntervalSeconds: 600 })]);
  world.passTo(base + 35 * minute);
  t.same(
    world.heard('a').map(([kind, at]) => [kind, (at - base) / minute]),
    [
      ['opened', 0],
      ['reminder', 10],
      ['reminder', 20],
      ['reminder', 30],
    ],
  );
  world.change('acknowledged');
  world.passTo(base + 3 * hour);
  t.equal(world.heard('a').length, 4, 'somebody takes care');
  world.change('resolved');
  world.passTo(base + 4 * hour);
  t.same(world.heard('a').at(-1), ['resolved', base + 3 * hour]);
});

void t.test('steps follow each other until somebody acknowledges', async (t) => {
  const steps = [0, 5, 10].map((minutes, index) => ({
    after_seconds: minutes * 60,
    targets: [target(['a', 'b', 'c'][index] ?? '')],
  }));
  const world = new World(occasion(base), [alert({ steps })]);
  world.passTo(base + 6 * minute);
  world.change('acknowledged');
  world.passTo(base + hour);
  world.change('resolved');
  world.passTo(base + 2 * hour);
  t.same(
    world.heard('a').map(([kind]) => kind),
    ['opened', 'resolved'],
  );
  t.same(world.heard('b'), [
    ['escalated', base + 5 * minute],
    ['resolved', base + hour],
  ]);
  t.same(world.heard('c'), [], 'who was not told of the problem is not told of its end');
});

void t.test(
  'whoever stands in is told after 60 s, or at once where nothing will arrive, and of the end too',
  async (t) => {
    const failover = target('z');
    const slow = new World(occasion(base), [alert({ failover })], 2 * minute);
    slow.passTo(base + hour);
    t.same(slow.heard('z'), [['opened', base + minute]]);
    slow.change('resolved');
    slow.passTo(base + 2 * hour);
    t.same(slow.heard('z').at(-1), ['resolved', base + hour]);
    const gone = new World(occasion(base), [alert({ failover })]);
    gone.unusable.add('a');
    gone.passTo(base + 10);
    t.same(gone.heard('a'), []);
    t.same(
      gone.heard('z').map(([kind]) => kind),
      ['opened'],
    );
  },
);

void t.test('a problem whose message has not left when it ends is told in one message', async (t) => {
  const world = new World(occasion(base), [alert()], minute);
  world.passTo(base + 1_000);
  world.change('resolved');
  world.passTo(base + hour);
  t.same(
    world.heard('a').map(([kind]) => kind),
    ['was_down'],
  );
  t.equal(world.withdrawn.length, 1);
});

void t.test('quiet hours hold, and what is over by their end is told as such', async (t) => {
  const quietHours: QuietHours = {
    windows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: '22:00', end: '07:00' }],
    timezone: 'UTC',
    except_severity: 'critical',
  };
  const over = new World(occasion(base + 23 * hour), [alert({ quietHours })]);
  over.passTo(base + 26 * hour);
  t.same([...over.held.keys()], ['a opened 1']);
  over.change('resolved');
  over.passTo(base + 48 * hour);
  t.same(over.heard('a'), [['was_down', base + 31 * hour]]);
  t.equal(over.held.size, 0);
  const lasting = new World(occasion(base + 23 * hour), [alert({ quietHours })]);
  lasting.passTo(base + 48 * hour);
  t.same(lasting.heard('a'), [['opened', base + 31 * hour]]);
  t.ok(lasting.queued[0]?.afterQuiet);
  const critical = new World(occasion(base + 23 * hour, { severity: 'critical' }), [alert({ quietHours })]);
  critical.passTo(base + 24 * hour);
  t.same(critical.heard('a'), [['opened', base + 23 * hour]]);
});

void t.test('several alerts that want the same tell a target once', async (t) => {
  const world = new World(occasion(base), [
    alert(),
    alert({ id: 2 }),
    alert({ id: 3, events: new Set(['monitor.unknown']) }),
  ]);
  world.passTo(base + minute);
  t.equal(world.heard('a').length, 1);
});

void t.test('a snooze silences all but the end, and is followed by a reminder', async (t) => {
  const world = new World(occasion(base), [alert({ reminderIntervalSeconds: 600 })]);
  world.passTo(base + minute);
  const told = world.told.get('a');
  if (told !== undefined) world.told.set('a', { ...told, snoozedUntilMs: base + hour });
  world.lookAtMs = world.nowMs;
  world.passTo(base + hour);
  t.same(
    world.heard('a').map(([kind, at]) => [kind, at - base]),
    [
      ['opened', 0],
      ['reminder', hour],
    ],
  );
});

void t.test('what flaps, and what is planned, is held; a minimum duration counts from the onset', async (t) => {
  for (const held of [{ isFlapping: true }, { isUnderMaintenance: true }]) {
    const world = new World(occasion(base, held), [alert()]);
    world.passTo(base + hour);
    t.same(world.heard('a'), []);
    world.occasion = { ...world.occasion, isFlapping: false, isUnderMaintenance: false };
    world.passTo(base + hour + minute);
    t.same(
      world.heard('a').map(([kind]) => kind),
      ['opened'],
      'it lasts when the hold ends',
    );
  }
  const short = new World(occasion(base, { openedMs: base + minute }), [alert({ minDurationSeconds: 300 })]);
  short.passTo(base + 4 * minute);
  t.same(short.heard('a'), []);
  short.passTo(base + 6 * minute);
  t.same(short.heard('a'), [['opened', base + 5 * minute]]);
});

void t.test(
  'an alert that is made while something fails tells it at once; what is told once is not told again',
  async (t) => {
    const world = new World(occasion(base), []);
    world.passTo(base + hour);
    world.alerts = [alert({ activeSinceMs: base + hour })];
    world.lookAtMs = base + hour;
    world.passTo(base + hour + minute);
    t.same(world.heard('a'), [['opened', base + hour]]);
    const once = occasion(base, {
      event: 'certificate.expiring',
      isLasting: false,
      subjects: [{ type: 'monitor', id: 7, event: 'certificate.expiring', tags: [], groupIds: [] }],
    });
    const events = new Set(['certificate.expiring']);
    const expiring = new World(once, [alert({ events, reminderIntervalSeconds: 600 })]);
    expiring.passTo(base + day);
    t.same(expiring.heard('a'), [['information', base]]);
    expiring.alerts = [
      alert({ events }),
      alert({ id: 2, events, activeSinceMs: base + day, steps: [{ after_seconds: 0, targets: [target('b')] }] }),
    ];
    expiring.lookAtMs = base + day;
    expiring.passTo(base + 2 * day);
    t.same(expiring.heard('b'), []);
  },
);
