import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { liveThrough } from '../testing/clock-world.ts';
import type { DatedCheck, Phase, WorldOptions } from '../testing/clock-world.ts';

const hour = 3_600;
const near = { thereMs: 3, backMs: 3 } as const;
const world = (changes: Partial<WorldOptions> & { readonly phases: readonly Phase[] }): WorldOptions => ({
  seed: 1,
  drift: 0.01,
  noiseUs: 30,
  wallJumps: [],
  intervalSeconds: 30,
  tellsSleep: true,
  ...changes,
});
const connected = (seconds: number, way: { thereMs: number; backMs: number } = near): Phase => ({
  kind: 'connected',
  seconds,
  ...way,
});
const worstMs = (dated: readonly DatedCheck[]): number =>
  Math.max(...dated.map((check) => Math.abs(check.effectiveUs - check.trueUs))) / 1_000;
const isAscending = (dated: readonly DatedCheck[]): boolean =>
  dated.every((check, index) => index === 0 || check.effectiveUs > (dated[index - 1]?.effectiveUs ?? 0));

void t.test('48 hours cut off with a clock that drifts by 1 %: every check is dated right within 50 ms', (t) => {
  for (const drift of [0.01, -0.01]) {
    const { dated, waiting } = liveThrough(
      world({
        drift,
        phases: [connected(120), { kind: 'cut', seconds: 48 * hour }, connected(120)],
        wallJumps: [
          { atSeconds: 10 * hour, ms: 90_000 },
          { atSeconds: 30 * hour, ms: -300_000 },
        ],
      }),
    );
    t.equal(waiting, 0, 'none is left waiting');
    t.ok(dated.filter((check) => !check.isStamped).length > 5_000);
    t.ok(worstMs(dated) < 50, `${worstMs(dated)} ms at most, whatever the wall clock did`);
    t.ok(isAscending(dated));
    t.ok(dated.every((check) => check.errorUs < 1_000_000));
  }
  t.end();
});

void t.test('cut off right after the first synchronisations, with a rate that nobody knows yet', (t) => {
  for (const delayMs of [3, 20]) {
    const way = { thereMs: delayMs, backMs: delayMs };
    for (const drift of [0.01, -0.01]) {
      const phases = [connected(2, way), { kind: 'cut', seconds: 600 } as const, connected(30, way)];
      const { dated, waiting } = liveThrough(world({ intervalSeconds: 1, drift, phases }));
      t.equal(waiting, 0);
      t.ok(worstMs(dated) < 50 + delayMs, `${worstMs(dated)} ms`);
      t.ok(dated.filter((check) => check.isStamped).length >= 2, 'live at first');
      t.ok(isAscending(dated));
    }
  }
  t.end();
});

void t.test(
  'a machine that slept while it was cut off: before the sleep by the time before, after it by the time after',
  (t) => {
    const { dated, waiting } = liveThrough(
      world({
        drift: 0.001,
        phases: [
          connected(300),
          { kind: 'cut', seconds: hour },
          { kind: 'asleep', seconds: 5 * hour },
          { kind: 'cut', seconds: hour },
          connected(120),
        ],
      }),
    );
    t.equal(waiting, 0);
    t.ok(
      worstMs(dated) < 4_000,
      `${worstMs(dated)} ms: carried on for an hour at the rate of the clock, as it is known`,
    );
    t.ok(
      dated.every((check) => Math.abs(check.effectiveUs - check.trueUs) <= check.errorUs + 50_000),
      'and not further off than it says',
    );
    t.ok(isAscending(dated));
    t.end();
  },
);

void t.test('checks of an hour before the first synchronisation ever wait for its rate', (t) => {
  const { dated, waiting } = liveThrough(world({ phases: [{ kind: 'cut', seconds: hour }, connected(120)] }));
  t.equal(waiting, 0);
  t.ok(worstMs(dated) < 2_000, `${worstMs(dated)} ms, with a rate of 1 it would be 36 s`);
  t.ok(isAscending(dated));
  t.end();
});

void t.test(
  'in any world the error is what the way to the control plane costs and 50 ms more, and order is kept',
  (t) => {
    const way = fc.record({
      thereMs: fc.oneof(fc.constant(2), fc.integer({ min: 0, max: 1_000 })),
      backMs: fc.oneof(fc.constant(2), fc.integer({ min: 0, max: 1_000 })),
    });
    const life = fc.array(
      fc.oneof(
        fc.tuple(fc.integer({ min: 1, max: 200 }), way).map(([seconds, delays]) => connected(seconds, delays)),
        fc.oneof(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 48 * hour })).map(
          (seconds): Phase => ({
            kind: 'cut',
            seconds,
          }),
        ),
      ),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.nat(),
          drift: fc.double({ min: -0.01, max: 0.01, noNaN: true }),
          noiseUs: fc.integer({ min: 0, max: 100 }),
          life,
          wallJumps: fc.array(
            fc.record({ atSeconds: fc.integer({ min: 0, max: 50 * hour }), ms: fc.constantFrom(90_000, -300_000) }),
            { maxLength: 3 },
          ),
          tellsSleep: fc.boolean(),
        }),
        ({ life: phases, wallJumps, ...rest }) => {
          const whole = [connected(60), ...phases, connected(60)];
          const seconds = whole.reduce((sum, phase) => sum + phase.seconds, 0);
          const intervalSeconds = Math.max(1, Math.ceil(seconds / 2_000));
          // After a jump two exchanges may have to come, 4 s apart, before results are dated again: the world must not end before.
          const told = wallJumps.filter(({ atSeconds }) => atSeconds < seconds - 10);
          const { dated, waiting } = liveThrough(world({ ...rest, phases: whole, intervalSeconds, wallJumps: told }));
          const longestWayMs = Math.max(
            ...whole.map((phase) => (phase.kind === 'connected' ? phase.thereMs + phase.backMs : 0)),
          );
          const worst = worstMs(dated);
          if (waiting > 0) throw new Error(`${waiting} checks were never dated`);
          if (worst > longestWayMs / 2 + 55) throw new Error(`${worst} ms with a way of ${longestWayMs} ms`);
          if (!isAscending(dated)) throw new Error('the order is not kept');
        },
      ),
      { numRuns: 150 },
    );
    t.end();
  },
);

void t.test('in any world with sleeps the agent knows how far off its dates may be', (t) => {
  const part = fc.record({ cut: fc.integer({ min: 0, max: 4 * hour }), sleep: fc.integer({ min: 2, max: 8 * hour }) });
  fc.assert(
    fc.property(
      fc.nat(),
      fc.double({ min: -0.01, max: 0.01, noNaN: true }),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      (seed, drift, parts) => {
        const middle = parts.flatMap(({ cut, sleep }): Phase[] => [
          { kind: 'cut', seconds: cut },
          { kind: 'asleep', seconds: sleep },
        ]);
        const phases = [connected(60), ...middle, { kind: 'cut', seconds: 100 } as const, connected(120)];
        const { dated } = liveThrough(world({ seed, drift, phases }));
        for (const check of dated) {
          const off = Math.abs(check.effectiveUs - check.trueUs);
          if (off > check.errorUs + 60_000) throw new Error(`${off / 1_000} ms off, said ${check.errorUs / 1_000}`);
        }
      },
    ),
    { numRuns: 60 },
  );
  t.end();
});
