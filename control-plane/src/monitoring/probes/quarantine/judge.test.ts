import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { isClean, isUnfit, testify } from './judge.ts';
import type { Look, SeenMonitor } from './judge.ts';

const intervalMs = 60_000;
const untilMs = 1_000_000_000;
const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 300);

/** Seconds before the present, and what was seen then. */
type Sight = readonly [secondsAgo: number, answer: 'ok' | 'fail', kind?: 'recheck'];

function monitor(views: Readonly<Record<number, readonly Sight[]>>, workspaceId = 1): SeenMonitor {
  const looks = Object.entries(views).flatMap(([probeId, sights]) =>
    sights.map(
      ([secondsAgo, answer, kind]): Look => ({
        probeId: Number(probeId),
        atMs: untilMs - secondsAgo * 1_000,
        isFailing: answer === 'fail',
        isScheduled: kind === undefined,
      }),
    ),
  );
  return { workspaceId, intervalMs, untilMs, looks };
}

const regions = new Map([
  [1, 'eu'],
  [2, 'us'],
  [3, 'ap'],
  [4, 'sa'],
  [5, 'eu'],
]);
const always = (answer: 'ok' | 'fail', phase = 0): Sight[] => [
  [100 - phase, answer],
  [40 - phase, answer],
];
const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const tally = (monitors: readonly SeenMonitor[], probeId = 1) => testify(probeId, monitors, regions);
const isGuilty = (monitors: readonly SeenMonitor[], probeId = 1) => isUnfit(tally(monitors, probeId));

void t.test('five monitors and half of what it checks: no fewer', async (t) => {
  const wrong = monitor({ 1: always('fail'), 2: always('ok', 5), 3: always('ok', 3) });
  const right = monitor({ 1: always('ok'), 2: always('ok'), 3: always('ok') });
  t.same(tally([wrong, right]), { checked: 2, alone: 1, again: 1, elsewhere: null });
  t.notOk(isGuilty(times(4, () => wrong)));
  t.ok(isGuilty(times(5, () => wrong)));
  t.ok(isGuilty([...times(5, () => wrong), ...times(5, () => right)]));
  t.notOk(isGuilty([...times(5, () => wrong), ...times(6, () => right)]));
  const alone = monitor({ 1: always('fail') });
  t.notOk(isGuilty([...times(5, () => wrong), ...times(6, () => alone)]), 'where it is alone it counts as checked');
});

void t.test('it must last over both intervals, in the rhythm of the probe', async (t) => {
  const once = monitor({
    1: [
      [100, 'ok'],
      [40, 'fail'],
    ],
    2: always('ok', 5),
    3: always('ok', 5),
  });
  t.match(tally([once]), { alone: 1, again: 0 });
  t.notOk(isGuilty(times(20, () => once)), 'trouble that is shorter than an interval');
  const rechecked = monitor({
    1: [
      [100, 'ok'],
      [62, 'fail', 'recheck'],
      [57, 'fail'],
      [30, 'fail', 'recheck'],
    ],
    2: always('ok', 5),
    3: always('ok', 5),
  });
  t.notOk(isGuilty(times(20, () => rechecked)), 'rechecks do not make it longer');
  const twice = monitor({ 1: always('fail'), 2: always('ok', 5), 3: always('ok', 3) });
  t.ok(isGuilty([...times(3, () => twice), ...times(21, () => once)]), 'an eighth of them in both');
  t.notOk(isGuilty([...times(3, () => twice), ...times(22, () => once)]));
  t.ok(isGuilty([...times(2, () => twice), ...times(5, () => once)]), 'and on two at least');
  t.notOk(isGuilty([...times(1, () => twice), ...times(6, () => once)]));
});

void t.test('of two that disagree about everything nobody can tell who is right', async (t) => {
  const monitors = times(50, () => monitor({ 1: always('fail'), 2: always('ok', 5) }));
  t.notOk(isGuilty(monitors, 1));
  t.notOk(isGuilty(monitors, 2));
  t.same(tally(monitors), { checked: 50, alone: 0, again: 0, elsewhere: null });
});

void t.test('who checks alone cannot be judged', async (t) => {
  t.notOk(isGuilty(times(50, () => monitor({ 1: always('fail') }))));
});

void t.test('a region that is cut off is not quarantined when several probes see it', async (t) => {
  const monitors = times(50, () =>
    monitor({ 1: always('fail'), 5: always('fail', 2), 2: always('ok', 3), 3: always('ok', 4), 4: always('ok', 5) }),
  );
  for (const probeId of [1, 2, 3, 4, 5]) t.notOk(isGuilty(monitors, probeId), `probe ${probeId}`);
});

void t.test('who alone sees what is down for others as up is unfit, if they see it from two regions', async (t) => {
  const liar = times(10, () => monitor({ 1: always('ok', 2), 2: always('fail', 5), 3: always('fail') }));
  t.ok(isGuilty(liar));
  t.notOk(isGuilty(liar, 2));
  const cutOff = times(10, () => monitor({ 2: always('ok', 2), 1: always('fail', 5), 5: always('fail') }));
  t.notOk(isGuilty(cutOff, 2), 'both others are in one region');
  const sameRegion = new Map([1, 2, 3].map((id) => [id, 'eu'] as const));
  const all = times(10, () => monitor({ 1: always('ok', 2), 2: always('fail', 5), 3: always('fail') }));
  t.ok(isUnfit(testify(1, all, sameRegion)), 'there is only one region');
});

void t.test('an outage that begins or ends tells against nobody', async (t) => {
  // Down since 70 s ago for everybody; each found out at its next look.
  const begun = times(20, (index) =>
    monitor({
      1: [
        [110, 'ok'],
        [72, 'ok'],
        [12 + (index % 5), 'fail'],
      ],
      2: [
        [65, 'fail'],
        [5, 'fail'],
      ],
      3: [
        [60, 'fail'],
        [3, 'fail'],
      ],
    }),
  );
  t.match(tally(begun), { alone: 0 });
  const ended = times(20, () =>
    monitor({
      1: [
        [110, 'fail'],
        [50, 'ok'],
        [5, 'ok'],
      ],
      2: [
        [100, 'fail'],
        [55, 'fail'],
      ],
      3: [
        [90, 'fail'],
        [52, 'fail'],
      ],
    }),
  );
  t.match(tally(ended), { alone: 0 }, 'nobody looked after its good answer');
  const first = times(20, () =>
    monitor({
      1: [
        [100, 'ok'],
        [1, 'fail'],
      ],
      2: always('ok'),
      3: always('ok'),
    }),
  );
  t.match(tally(first), { alone: 0 }, 'it may be the first to know');
});

void t.test('others that do not agree among themselves bear no witness', async (t) => {
  t.match(
    tally([
      monitor({
        1: always('fail'),
        2: always('ok'),
        3: [
          [95, 'ok'],
          [35, 'fail'],
        ],
      }),
    ]),
    { alone: 0 },
  );
  t.match(
    tally([
      monitor({
        1: always('ok'),
        2: always('fail', 5),
        3: [
          [100, 'ok'],
          [30, 'fail'],
        ],
      }),
    ]),
    { alone: 0 },
  );
});

void t.test('the monitors of one workspace do not suffice where there are others', async (t) => {
  const hostile = times(200, () => monitor({ 1: always('fail'), 2: always('ok', 5), 3: always('ok', 3) }, 7));
  const honest = times(3, () => monitor({ 1: always('ok'), 2: always('ok'), 3: always('ok') }, 8));
  const nobodyKnows = times(3, () => monitor({ 1: always('ok'), 2: always('ok') }, 9));
  t.ok(isGuilty(hostile));
  t.notOk(isGuilty([...hostile, ...honest]));
  t.ok(isGuilty([...hostile, ...nobodyKnows]), 'elsewhere nobody can tell');
  const also = times(3, () => monitor({ 1: always('fail'), 2: always('ok', 5), 3: always('ok', 3) }, 8));
  t.ok(isGuilty([...hostile, ...also]));
});

void t.test('its time runs while it agrees with the others, and not while it says nothing', async (t) => {
  const tallied = (checked: number, alone: number) => ({ checked, alone, again: 0 });
  t.ok(isClean(tallied(100, 0)));
  t.ok(isClean(tallied(8, 4)));
  t.ok(isClean(tallied(100, 24)));
  t.notOk(isClean(tallied(100, 25)));
  t.notOk(isClean(tallied(0, 0)));
});

/** What a probe with some habit sees of a target, over looks of everybody in their own phases for a number of intervals. */
type Habit = 'honest' | 'failing' | 'fine' | 'random' | { readonly failsFor: number };

function history(
  options: {
    readonly monitors: number;
    readonly habits: readonly Habit[];
    /** Share of looks that find an answering target failing by chance. */
    readonly noise: number;
    /** Since when each monitor is down, intervals ago; 0: it is up. */
    readonly downFor: (index: number) => number;
    readonly elapsed: number;
  },
  random: () => number,
): SeenMonitor[] {
  const { habits, noise, downFor, elapsed } = options;
  const isDownAt = (index: number, atMs: number): boolean =>
    downFor(index) > 0 && atMs >= untilMs - downFor(index) * intervalMs;
  return times(options.monitors, (index) => {
    const looks = habits.flatMap((habit, position): Look[] => {
      const phaseMs = random() * intervalMs;
      return times(3, (slot) => untilMs - phaseMs - slot * intervalMs)
        .filter((atMs) => atMs > untilMs - 2 * intervalMs)
        .map((atMs) => {
          const truth = isDownAt(index, atMs) || random() < noise;
          const lies = atMs > untilMs - elapsed * intervalMs;
          return { probeId: position + 1, atMs, isScheduled: true, isFailing: seen(habit, truth, lies, atMs, random) };
        });
    });
    return { workspaceId: 1, intervalMs, untilMs, looks };
  });
}

function seen(habit: Habit, truth: boolean, lies: boolean, atMs: number, random: () => number): boolean {
  if (typeof habit === 'object') return truth || atMs > untilMs - habit.failsFor * intervalMs;
  if (habit === 'honest' || !lies) return truth;
  return habit === 'random' ? random() < 0.5 : habit === 'failing';
}

function generator(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state = Math.imul(state ^ (state >>> 15), state | 1);
    state ^= state + Math.imul(state ^ (state >>> 7), state | 61);
    return ((state ^ (state >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const seeds = fc.integer({ min: 1, max: 2 ** 30 });
const noises = fc.constantFrom(0, 0.002);

void t.test('a liar is found within two intervals whatever it says, and nobody else', (t) => {
  const liars = fc.constantFrom('failing' as const, 'random' as const, 'fine' as const);
  const cases = fc.record({
    seed: seeds,
    liar: liars,
    others: fc.integer({ min: 2, max: 4 }),
    monitors: fc.integer({ min: 300, max: 400 }),
    noise: noises,
  });
  fc.assert(
    fc.property(cases, ({ seed, liar, others, monitors, noise }) => {
      const habits: Habit[] = [liar, ...times(others, () => 'honest' as const)];
      // Who says that all is fine is found when something is not.
      const downFor = liar === 'fine' ? () => 4 : () => 0;
      const seenNow = history(
        { monitors, habits, noise: liar === 'fine' ? 0 : noise, downFor, elapsed: 2 },
        generator(seed),
      );
      const guilty = habits.flatMap((_, index) => (isGuilty(seenNow, index + 1) ? [index + 1] : []));
      return guilty.join() === '1';
    }),
    { numRuns },
  );
  t.end();
});

void t.test(
  'nobody is unfit while targets fail for everybody, by chance, or for a probe for less than an interval',
  (t) => {
    const cases = fc.record({
      seed: seeds,
      probes: fc.integer({ min: 1, max: 5 }),
      // So many that chance does nothing that it does not do always.
      some: fc.integer({ min: 5, max: 40 }),
      noise: fc.constantFrom(0, 0.01, 0.1, 0.3, 0.5, 0.8),
      share: fc.constantFrom(0, 0.1, 0.6, 1),
      downFor: fc.double({ min: 0.01, max: 3, noNaN: true }),
      failsFor: fc.constantFrom(0, 0.1, 0.5, 0.99),
    });
    fc.assert(
      fc.property(cases, ({ seed, probes, some, noise, share, downFor, failsFor }) => {
        const monitors = noise > 0.01 ? some + 80 : some;
        const habits: Habit[] = [{ failsFor: noise > 0 ? 0 : failsFor }, ...times(probes - 1, () => 'honest' as const)];
        const isDown = (index: number) => (index < share * monitors ? downFor : 0);
        const seenNow = history({ monitors, habits, noise, downFor: isDown, elapsed: 0 }, generator(seed));
        return habits.every((_, index) => !isGuilty(seenNow, index + 1));
      }),
      { numRuns: 3 * numRuns },
    );
    t.end();
  },
);

void t.test('the order of what is told changes nothing', (t) => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 1, max: 30 }), (seed, monitors) => {
      const random = generator(seed);
      const habits: Habit[] = ['random', 'honest', 'honest'];
      const seenNow = history({ monitors, habits, noise: 0.05, downFor: () => 0, elapsed: 2 }, random);
      const mixed = seenNow.map((one) => ({ ...one, looks: one.looks.toReversed() })).toReversed();
      return JSON.stringify(tally(seenNow)) === JSON.stringify(tally(mixed));
    }),
    { numRuns },
  );
  t.end();
});

void t.test(
  'of others the first and the last of each answer tell as much as all, and of its own those in its rhythm',
  (t) => {
    const look = fc.record({
      probeId: fc.integer({ min: 1, max: 4 }),
      secondsAgo: fc.integer({ min: 0, max: 119 }),
      isFailing: fc.boolean(),
      isScheduled: fc.boolean(),
    });
    // Mostly agreeing, or nothing would be compared.
    const looks = fc
      .tuple(fc.array(look, { maxLength: 14 }), fc.boolean(), fc.boolean())
      .map(([all, answer, isAgreed]) =>
        all.map(
          ({ secondsAgo, ...rest }): Look => ({
            ...rest,
            atMs: untilMs - secondsAgo * 1_000,
            isFailing: isAgreed && rest.probeId !== 1 ? answer : rest.isFailing,
          }),
        ),
      );
    const isFirstOrLast = (one: Look, same: readonly Look[]): boolean =>
      same.every(({ atMs }) => atMs >= one.atMs) || same.every(({ atMs }) => atMs <= one.atMs);
    const reduced = (all: readonly Look[]): Look[] =>
      all.filter((one) =>
        one.probeId === 1
          ? one.isScheduled
          : isFirstOrLast(
              one,
              all.filter((other) => other.probeId === one.probeId && other.isFailing === one.isFailing),
            ),
      );
    fc.assert(
      fc.property(fc.array(looks, { maxLength: 8 }), (all) => {
        const monitors = (select: (looks: readonly Look[]) => readonly Look[]) =>
          all.map(
            (seen, index): SeenMonitor => ({
              workspaceId: 1 + (index % 2),
              intervalMs,
              untilMs,
              looks: select(seen),
            }),
          );
        t.same(tally(monitors(reduced)), tally(monitors((seen) => seen)));
      }),
      { numRuns },
    );
    t.end();
  },
);
