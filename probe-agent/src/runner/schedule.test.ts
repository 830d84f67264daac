import type { Verdict } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { nextSlot, phaseOf } from './phase.ts';
import { Schedule, latestMs, recheckAfterMs } from './schedule.ts';
import type { FirstCheck, ScheduleLimits } from './schedule.ts';
import type { ScheduledMonitor, Slot } from './slot.ts';

type Started = {
  readonly id: number;
  /** How often the monitor was taken out before: a new life of it need not wait for a check of the old one. */
  readonly life: number;
  readonly kind: string;
  readonly atMs: number;
  readonly endMs: number;
  readonly host: string;
};
type Skipped = { readonly id: number; readonly dueMs: number; readonly why: string };

const startMs = 1_750_000_000_000;

/** The schedule under a clock that is moved by hand: checks take as long and end as the test says. */
class World {
  nowMs = startMs;
  readonly started: Started[] = [];
  readonly skipped: Skipped[] = [];
  readonly schedule: Schedule;
  durationMs: (id: number) => number = () => 50;
  verdict: (id: number, atMs: number) => Verdict = () => 'good';
  #running: { slot: Slot; kind: 'scheduled' | 'recheck'; endMs: number }[] = [];
  mostInFlight = 0;
  readonly #lives = new Map<number, number>();

  constructor(limits: Partial<ScheduleLimits> = {}) {
    this.schedule = new Schedule({
      probeId: 3,
      limits: { maxInFlight: 100, perHost: 2, maxRechecks: 10, ...limits },
      actions: {
        start: (slot, kind) => {
          const endMs = this.nowMs + this.durationMs(slot.monitor.id);
          this.started.push({
            life: this.#lives.get(slot.monitor.id) ?? 0,
            id: slot.monitor.id,
            kind,
            atMs: this.nowMs,
            endMs,
            host: slot.monitor.host,
          });
          this.#running.push({ slot, kind, endMs });
          this.mostInFlight = Math.max(this.mostInFlight, this.#running.length);
        },
        skip: (slot, dueMs, why) => this.skipped.push({ id: slot.monitor.id, dueMs, why }),
      },
    });
  }

  add(id: number, changes: Partial<ScheduledMonitor> = {}, first: FirstCheck = 'on_phase'): void {
    this.schedule.set({ id, intervalMs: 10_000, host: `host-${id}`, confirmations: 2, ...changes }, this.nowMs, first);
  }

  remove(id: number): void {
    this.schedule.remove(id);
    this.#lives.set(id, (this.#lives.get(id) ?? 0) + 1);
  }

  /** Lets time pass as the agent's timer would; `stoppedMs` first passes without anything running. */
  pass(milliseconds: number): void {
    const untilMs = this.nowMs + milliseconds;
    for (;;) {
      const endMs = Math.min(...this.#running.map((each) => each.endMs));
      const nextMs = Math.min(endMs, Math.max(this.schedule.nextMs, this.nowMs));
      if (nextMs > untilMs) break;
      this.nowMs = nextMs;
      const ended = this.#running.filter((each) => each.endMs <= this.nowMs);
      this.#running = this.#running.filter((each) => each.endMs > this.nowMs);
      for (const { slot, kind } of ended)
        this.schedule.finished(slot, kind, this.verdict(slot.monitor.id, this.nowMs), this.nowMs);
      this.schedule.run(this.nowMs);
    }
    this.nowMs = untilMs;
  }

  /** The machine is stopped: no timer fires, checks under way end at the wall. */
  stop(milliseconds: number): void {
    this.nowMs += milliseconds;
  }

  of(id: number): Started[] {
    return this.started.filter((each) => each.id === id);
  }
}

void t.test(
  'checks run at start + k × interval, on a phase of monitor and probe that a restart does not change',
  (t) => {
    const world = new World();
    world.add(1);
    world.pass(60_000);
    const offsetMs = Math.floor(phaseOf(1, 3) * 10_000);
    t.equal(world.of(1).length, 6);
    t.ok(world.of(1).every((each) => (each.atMs - offsetMs) % 10_000 === 0));
    const restarted = new World();
    restarted.nowMs = world.nowMs + 3_333;
    restarted.add(1);
    restarted.pass(60_000);
    t.ok(restarted.of(1).every((each) => (each.atMs - offsetMs) % 10_000 === 0));
    t.end();
  },
);

void t.test('phases are level', (t) => {
  const buckets = Array.from({ length: 10 }, () => 0);
  for (let id = 1; id <= 10_000; id += 1) buckets[Math.floor(phaseOf(id, 3) * 10)]! += 1;
  t.ok(
    buckets.every((count) => count > 850 && count < 1_150),
    buckets.join(' '),
  );
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.integer({ min: 1, max: 86_400 }), fc.nat(2_000_000_000), (id, intervalS, after) => {
      const slot = nextSlot(after, intervalS * 1_000, phaseOf(id, 3));
      return slot > after && slot <= after + intervalS * 1_000;
    }),
  );
  t.end();
});

void t.test('a new or changed monitor is checked at once, then on its phase; a mere rename changes nothing', (t) => {
  const world = new World();
  world.add(1, {}, 'at_once');
  world.pass(35_000);
  const offsetMs = Math.floor(phaseOf(1, 3) * 10_000);
  t.equal(world.of(1)[0]?.atMs, startMs);
  t.ok(
    world
      .of(1)
      .slice(1)
      .every((each) => (each.atMs - offsetMs) % 10_000 === 0),
  );
  const gap = (world.of(1)[1]?.atMs ?? 0) - startMs;
  t.ok(gap >= 5_000 && gap <= 15_000, 'the first regular check neither doubles the immediate one nor leaves a hole');
  const before = world.started.length;
  world.schedule.set({ id: 1, intervalMs: 10_000, host: 'host-1', confirmations: 3 }, world.nowMs);
  world.pass(1);
  t.equal(world.started.length, before);
  t.end();
});

void t.test(
  'a change while the check before is under way: the new configuration is checked as soon as that has ended',
  (t) => {
    const world = new World();
    world.durationMs = () => 3_000;
    world.verdict = () => 'failing';
    world.add(1, { intervalMs: 600_000 }, 'at_once');
    world.pass(100);
    world.add(1, { intervalMs: 600_000, host: 'other' }, 'at_once');
    world.pass(3_500);
    t.equal(world.of(1).length, 2);
    t.equal(world.of(1)[1]?.host, 'other');
    t.ok((world.of(1)[1]?.atMs ?? 0) - startMs <= 3_100);
    world.pass(20_000);
    t.equal(
      world.of(1)[2]?.kind,
      'recheck',
      'the failure of the old configuration is not counted with that of the new one',
    );
    t.end();
  },
);

void t.test('a removed monitor is not checked any more', (t) => {
  const world = new World();
  world.add(1, { intervalMs: 600_000 }, 'at_once');
  world.pass(10);
  world.schedule.remove(1);
  world.pass(60_000);
  t.equal(world.started.length, 1);
  t.equal(world.schedule.inFlight, 0);
  t.end();
});

void t.test('a check that overruns its slot skips the next one, and says so', (t) => {
  const world = new World();
  world.durationMs = () => 15_000;
  world.add(1);
  world.pass(40_000);
  t.ok(world.skipped.length >= 1 && world.skipped.every((each) => each.why === 'overrun'));
  const slots = new Set([...world.started.map((each) => each.atMs), ...world.skipped.map((each) => each.dueMs)]);
  t.equal(slots.size, world.started.length + world.skipped.length, 'no slot is both run and skipped');
  t.end();
});

void t.test(
  'after the machine was stopped for five minutes no burst follows, and each monitor names what it missed once',
  (t) => {
    const world = new World();
    for (let id = 1; id <= 1_000; id += 1) world.add(id, { intervalMs: 60_000 });
    world.pass(60_000);
    world.stop(300_000);
    const before = world.started.length;
    world.schedule.run(world.nowMs);
    const atOnce = world.started.length - before;
    t.ok(atOnce <= (1_000 * latestMs(60_000) * 2) / 60_000, `${atOnce} at once`);
    t.equal(world.skipped.length, new Set(world.skipped.map((each) => each.id)).size, 'one skipped each');
    t.ok(world.skipped.length >= 900);
    world.pass(60_000);
    const later = world.started.slice(before);
    t.ok(new Set(later.map((each) => each.id)).size >= 990, 'all go on at their regular slots');
    t.end();
  },
);

void t.test('at most two checks of one host at the same time; the rest waits its turn within its slot', (t) => {
  const world = new World();
  world.durationMs = () => 1_000;
  for (let id = 1; id <= 8; id += 1) world.add(id, { host: 'same' }, 'at_once');
  world.pass(4_500);
  t.equal(world.mostInFlight, 2);
  t.strictSame(
    world.started.slice(0, 8).map((each) => each.atMs - startMs),
    [0, 0, 1_000, 1_000, 2_000, 2_000, 3_000, 3_000],
  );
  t.end();
});

void t.test('beyond the capacity slots wait, and those that never get a place are named as overload', (t) => {
  const world = new World({ maxInFlight: 2 });
  world.durationMs = () => 5_000;
  for (let id = 1; id <= 20; id += 1) world.add(id);
  world.pass(100_000);
  t.equal(world.mostInFlight, 2);
  t.ok(world.skipped.some((each) => each.why === 'overload'));
  t.ok(world.started.length >= 36, 'the capacity is used');
  t.end();
});

void t.test(
  'offered three times its capacity: it makes its capacity, all get their turn, second looks come first',
  (t) => {
    const world = new World({ maxInFlight: 10, maxRechecks: 1 });
    world.durationMs = () => 100;
    world.verdict = (id) => (id === 1 ? 'failing' : 'good');
    for (let id = 1; id <= 300; id += 1) world.add(id, { intervalMs: 1_000, confirmations: 5 });
    world.pass(30_000);
    t.ok(world.started.length > 2_900, `${world.started.length} of 3,000 that 10 at a time can do`);
    for (let id = 1; id <= 300; id += 1) {
      const times = world.of(id).map((each) => each.atMs);
      const gaps = times.map((at, index) => at - (times[index - 1] ?? startMs));
      if (times.length < 8 || Math.max(...gaps) > 4_500) t.fail(`monitor ${id}: ${times.length}, ${gaps.join(' ')}`);
    }
    const second = world.of(1).find((each) => each.kind === 'recheck');
    const first = world.of(1)[0];
    t.ok((second?.atMs ?? Infinity) - (first?.endMs ?? 0) <= 1_200, 'a recheck does not wait behind the crowd');
    t.end();
  },
);

void t.test('slots that are found too late time and again are run all the same', (t) => {
  const world = new World();
  for (let id = 1; id <= 50; id += 1) world.add(id, { intervalMs: 1_000 });
  for (let round = 0; round < 12; round += 1) {
    world.stop(1_000);
    world.pass(0);
    world.schedule.run(world.nowMs);
  }
  const counts = Array.from({ length: 50 }, (_, index) => world.of(index + 1).length);
  t.ok(Math.min(...counts) >= 3, `the fewest checks of one monitor in twelve rounds: ${Math.min(...counts)}`);
  t.end();
});

void t.test('a processor that cannot keep up makes what it can, of every monitor', (t) => {
  let nowMs = startMs;
  const costMs = 1;
  const counts = new Map<number, number>();
  const running: Slot[] = [];
  const schedule = new Schedule({
    probeId: 3,
    limits: { maxInFlight: 700, perHost: 2, maxRechecks: 70 },
    actions: {
      start: (slot) => {
        running.push(slot);
        counts.set(slot.monitor.id, (counts.get(slot.monitor.id) ?? 0) + 1);
      },
      skip: () => {},
    },
  });
  for (let id = 1; id <= 3_000; id += 1)
    schedule.set({ id, intervalMs: 1_000, host: `host-${id}`, confirmations: 2 }, nowMs, 'on_phase');
  let checks = 0;
  while (nowMs < startMs + 30_000) {
    schedule.run(nowMs);
    // Everything that was begun costs its time before anything else happens: the next look comes late.
    const batch = running.splice(0);
    nowMs += Math.max(1, batch.length * costMs);
    for (const slot of batch) schedule.finished(slot, 'scheduled', 'good', nowMs);
    checks += batch.length;
  }
  t.ok(checks > 27_000, `${checks} of the 30,000 that fit`);
  const fewest = Math.min(...Array.from({ length: 3_000 }, (_, index) => counts.get(index + 1) ?? 0));
  t.ok(fewest >= 5, `the fewest checks of one monitor: ${fewest} of 10`);
  t.end();
});

void t.test(
  'after a first failure the monitor is looked at again 5 s after its end, until the streak is confirmed or ends',
  (t) => {
    const world = new World();
    world.verdict = () => 'failing';
    world.add(1, { intervalMs: 60_000, confirmations: 3 }, 'at_once');
    world.pass(20_000);
    t.strictSame(
      world.of(1).map((each) => [each.kind, each.atMs - startMs]),
      [
        ['scheduled', 0],
        ['recheck', 5_050],
        ['recheck', 10_100],
      ],
    );
    const recovered = new World();
    recovered.verdict = (_id, atMs) => (atMs < startMs + 5_000 ? 'failing' : 'good');
    recovered.add(1, { intervalMs: 60_000, confirmations: 5 }, 'at_once');
    recovered.pass(25_000);
    t.equal(recovered.of(1).length, 2, 'one good answer ends it');
    const shorter = new World();
    shorter.verdict = () => 'failing';
    shorter.add(1, { intervalMs: 1_000, confirmations: 5 }, 'at_once');
    shorter.pass(6_000);
    t.ok((shorter.of(1)[1]?.atMs ?? Infinity) - startMs <= 1_050 + 500, 'sooner when the interval is shorter');
    t.equal(recheckAfterMs, 5_000);
    t.end();
  },
);

void t.test('a neutral outcome neither extends nor ends a streak', (t) => {
  const world = new World();
  const verdicts: Verdict[] = ['failing', 'neutral'];
  world.verdict = () => verdicts.shift() ?? 'failing';
  world.add(1, { intervalMs: 60_000, confirmations: 2 }, 'at_once');
  world.pass(150_000);
  const kinds = world.of(1).map((each) => each.kind);
  t.strictSame(kinds.slice(0, 3), ['scheduled', 'recheck', 'scheduled']);
  t.equal(kinds.filter((kind) => kind === 'recheck').length, 1, 'the failure after it confirms the first one');
  t.end();
});

void t.test('rechecks take a tenth of the capacity at most, oldest first; an asked one runs at once', (t) => {
  const world = new World({ maxRechecks: 2 });
  world.durationMs = () => 1_000;
  for (let id = 1; id <= 6; id += 1) world.add(id, { intervalMs: 3_600_000 });
  world.pass(0);
  for (let id = 1; id <= 6; id += 1) {
    t.ok(world.schedule.askRecheck(id, world.nowMs));
    world.nowMs += 1;
  }
  world.pass(3_500);
  t.strictSame(
    world.started.map((each) => each.id),
    [1, 2, 3, 4, 5, 6],
  );
  t.equal(world.mostInFlight, 2);
  t.notOk(world.schedule.askRecheck(99, world.nowMs), 'not for a monitor that is not here');
  t.end();
});

void t.test('one that is about to look again after a failure looks no sooner when it is asked', (t) => {
  const world = new World();
  world.verdict = () => 'failing';
  world.add(1, { intervalMs: 3_600_000 }, 'at_once');
  world.pass(500);
  for (let second = 0; second < 8; second += 1) {
    world.schedule.askRecheck(1, world.nowMs);
    world.pass(1_000);
  }
  const times = world.of(1).map((each) => each.atMs - startMs);
  t.strictSame(times.slice(0, 2), [0, 50 + recheckAfterMs], 'a moment is not confirmed by those who ask');
  t.strictSame(times.slice(2), [5_500, 6_500, 7_500], 'once it is confirmed it looks whenever it is asked');
  t.end();
});

void t.test('a manual check takes a place, is refused when there is none, and gives it back', (t) => {
  const world = new World({ maxInFlight: 1 });
  t.ok(world.schedule.enter('a'));
  t.notOk(world.schedule.enter('b'));
  world.add(1, {}, 'at_once');
  world.pass(10);
  t.equal(world.started.length, 0);
  world.schedule.leave('a', world.nowMs);
  t.equal(world.started.length, 1, 'what has waited starts then');
  t.end();
});

void t.test(
  'a monitor that waits for a place and gets another target is checked there, and the limit holds at both',
  (t) => {
    const world = new World({ perHost: 1 });
    world.durationMs = () => 1_000;
    world.add(1, { host: 'old' }, 'at_once');
    world.add(2, { host: 'old' }, 'at_once');
    world.pass(10);
    t.strictSame(
      world.started.map(({ id, host }) => [id, host]),
      [[1, 'old']],
    );
    world.add(3, { host: 'new' }, 'at_once');
    world.add(2, { host: 'new' }, 'at_once');
    world.pass(1_500);
    // The place at the old target becomes free at 1,000 ms; that at the new one just after.
    t.strictSame(
      world.started.map(({ id, host }) => [id, host]),
      [
        [1, 'old'],
        [3, 'new'],
        [2, 'new'],
      ],
    );
    t.ok((world.of(2)[0]?.atMs ?? 0) >= (world.of(3)[0]?.endMs ?? Infinity));
    t.end();
  },
);

void t.test('whatever happens: limits hold, no monitor runs twice at once, and nothing stays behind', (t) => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 30_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('stop' as const), ms: fc.integer({ min: 0, max: 100_000 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('add' as const),
        id: fc.integer({ min: 1, max: 12 }),
        intervalS: fc.integer({ min: 1, max: 30 }),
        first: fc.constantFrom<FirstCheck>('at_once', 'on_phase', { withinMs: 3_000 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), id: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('ask' as const), id: fc.integer({ min: 1, max: 12 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('jump' as const), ms: fc.integer({ min: 1_000, max: 100_000 }) }),
    },
  );
  let started = 0;
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(1_000),
      (steps, maxInFlight, seed) => {
        const world = new World({ maxInFlight, perHost: 2, maxRechecks: 1 });
        world.durationMs = (id) => ((id * 7_919 + seed) % 4_000) + 1;
        world.verdict = (id, atMs) => ((id + Math.floor(atMs / 1_000) + seed) % 3 === 0 ? 'failing' : 'good');
        for (const each of steps) {
          if (each.kind === 'pass') world.pass(each.ms);
          else if (each.kind === 'stop') world.stop(each.ms);
          else if (each.kind === 'add')
            world.add(each.id, { intervalMs: each.intervalS * 1_000, host: `host-${each.id % 3}` }, each.first);
          else if (each.kind === 'remove') world.remove(each.id);
          else if (each.kind === 'ask') world.schedule.askRecheck(each.id, world.nowMs);
          else {
            world.nowMs += each.ms;
            world.schedule.rephase(world.nowMs, each.ms);
          }
        }
        for (let id = 1; id <= 12; id += 1) world.schedule.remove(id);
        world.pass(20_000);
        const overlaps = world.started.some((one) =>
          world.started.some(
            (other) =>
              other !== one &&
              other.id === one.id &&
              other.life === one.life &&
              other.atMs >= one.atMs &&
              other.atMs < one.endMs &&
              other.atMs !== one.atMs,
          ),
        );
        started += world.started.length;
        const twice =
          new Set(world.started.map((each) => `${each.id}/${each.life}/${each.atMs}`)).size !== world.started.length;
        return (
          world.mostInFlight <= maxInFlight &&
          world.schedule.inFlight === 0 &&
          world.schedule.nextMs === Infinity &&
          !overlaps &&
          !twice
        );
      },
    ),
    { numRuns: 200, unbiased: true },
  );
  // The histories are random; far fewer would mean that the property runs on next to nothing.
  t.ok(started > 3_000, `${started} checks`);
  t.end();
});

void t.test('in steady time every slot of every monitor is run exactly once', (t) => {
  const world = new World({ maxInFlight: 1_000 });
  for (let id = 1; id <= 200; id += 1) world.add(id, { intervalMs: 7_000 });
  world.pass(70_000);
  t.equal(world.skipped.length, 0);
  for (let id = 1; id <= 200; id += 1) {
    const times = world.of(id).map((each) => each.atMs);
    if (times.length !== 10 || times.some((time, index) => index > 0 && time - (times[index - 1] ?? 0) !== 7_000))
      t.fail(`monitor ${id}: ${times.join(' ')}`);
  }
  t.end();
});

void t.test('100,000 monitors cost little', (t) => {
  const schedule: Schedule = new Schedule({
    probeId: 3,
    limits: { maxInFlight: 1_000, perHost: 2, maxRechecks: 100 },
    actions: { start: (slot) => ended.push(slot), skip: () => t.fail('nothing is skipped') },
  });
  const ended: Slot[] = [];
  for (let id = 1; id <= 100_000; id += 1)
    schedule.set({ id, intervalMs: 60_000, host: `host-${id}`, confirmations: 2 }, startMs, 'on_phase');
  const before = process.cpuUsage();
  let firings = 0;
  for (let nowMs = startMs; nowMs <= startMs + 60_000; nowMs += 1) {
    schedule.run(nowMs);
    for (let slot = ended.pop(); slot !== undefined; slot = ended.pop()) {
      schedule.finished(slot, 'scheduled', 'good', nowMs);
      firings += 1;
    }
  }
  const { user, system } = process.cpuUsage(before);
  const each = (user + system) / firings;
  t.comment(`${each.toFixed(2)} µs per firing`);
  t.equal(firings, 100_000);
  t.ok(each < 30, 'with room for a busy machine');
  t.end();
});
