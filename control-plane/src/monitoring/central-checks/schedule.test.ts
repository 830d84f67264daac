import t from 'tap';
import { nextRegular, phaseOf } from './phase.ts';
import { CentralSchedule } from './schedule.ts';
import type { CentralKind, CentralSlot, ScheduleLimits } from './schedule.ts';
import type { CentralWish } from './wish.ts';

const wide: ScheduleLimits = { inFlight: 2_000, perSecond: 20_000, fallbackInFlight: 1_000, fallbackPerSecond: 10_000 };
const startMs = 1_000_000_000;

type Run = { readonly slot: CentralSlot; readonly kind: CentralKind; readonly atMs: number };

function world(limits = wide) {
  const runs: Run[] = [];
  const world = {
    nowMs: startMs,
    runs,
    schedule: new CentralSchedule(limits, (slot, kind) => runs.push({ slot, kind, atMs: world.nowMs })),
    /** Moves time to when something is planned, at most so far; what starts ends at once with this verdict. */
    advance: (ms: number, verdict: 'good' | 'failing' | 'neutral' | undefined) => {
      const endMs = world.nowMs + ms;
      for (;;) {
        const before = runs.length;
        world.schedule.run(world.nowMs);
        for (const { slot } of runs.slice(before)) {
          if (verdict !== undefined) world.schedule.finished(slot, verdict, world.nowMs);
        }
        const { nextMs } = world.schedule;
        if (nextMs > endMs) break;
        world.nowMs = Math.max(world.nowMs + 0.001, nextMs);
      }
      world.nowMs = endMs;
    },
  };
  return world;
}

const wish = (monitorId: number, changed: Partial<CentralWish> = {}): CentralWish => ({
  monitorId,
  isFallback: false,
  cadenceS: 60,
  freshS: 160,
  confirmations: 3,
  version: '1',
  ...changed,
});

void t.test('phases are the same at every start and level over many monitors', async (t) => {
  const counts = Array.from({ length: 10 }, () => 0);
  for (let id = 1; id <= 10_000; id += 1) counts[Math.floor(phaseOf(id) * 10)]! += 1;
  t.ok(
    counts.every((count) => count > 900 && count < 1_100),
    counts.join(),
  );
  t.equal(phaseOf(42), phaseOf(42));
  t.equal(nextRegular(1_000, 100, 0.5), 1_050);
  t.equal(nextRegular(1_050, 100, 0.5), 1_150, 'later than the given time');
});

void t.test('a first look at once, then on the phase; a new rhythm moves it', async (t) => {
  const w = world();
  w.schedule.set(wish(7), 'at_once', w.nowMs);
  w.advance(200_000, 'good');
  const [first, second = 0, third = 0] = w.runs.map(({ atMs }) => atMs);
  t.equal(first, startMs);
  t.ok(second - startMs >= 30_000 && second - startMs <= 90_000);
  t.equal(third - second, 60_000);
  t.equal(nextRegular(second - 1, 60_000, phaseOf(7)), second);
  const before = w.runs.length;
  w.schedule.set(wish(7, { cadenceS: 10 }), 'on_phase', w.nowMs);
  w.advance(100_000, 'good');
  t.equal(w.runs.length - before, 10);
});

void t.test('a failure is looked at again after 5 s until it is confirmed or over', async (t) => {
  const w = world();
  w.schedule.set(wish(7), 'at_once', w.nowMs);
  w.advance(12_000, 'failing');
  t.same(
    w.runs.map(({ kind, atMs }) => [kind, atMs - startMs]),
    [
      ['scheduled', 0],
      ['recheck', 5_000],
      ['recheck', 10_000],
    ],
  );
  w.advance(12_000, 'failing');
  t.equal(w.runs.length, 3, 'three are confirmed');
  w.schedule.ask(7, w.nowMs);
  w.advance(1, 'neutral');
  t.match(w.runs[3], { kind: 'recheck' }, 'asked for');
});

void t.test('a monitor has one check under way; what changes meanwhile is looked at when it has ended', async (t) => {
  const w = world();
  w.schedule.set(wish(7, { cadenceS: 1 }), 'at_once', w.nowMs);
  w.advance(10_000, undefined);
  t.equal(w.runs.length, 1);
  w.schedule.set(wish(7, { cadenceS: 60, version: '2' }), 'at_once', w.nowMs);
  w.advance(1_000, undefined);
  t.equal(w.runs.length, 1);
  const running = w.runs[0]?.slot;
  if (running === undefined) throw new Error('fixture');
  w.schedule.finished(running, 'failing', w.nowMs);
  w.advance(1_000, 'good');
  t.equal(w.runs.length, 2);
  t.equal(running.streak, 0, 'the failure of what was checked before is none of what is checked now');
  w.schedule.end(7, false, w.nowMs);
  w.advance(600_000, 'good');
  t.equal(w.runs.length, 2);
  t.equal(w.schedule.size, 0);
});

void t.test('the last look comes at once, and none after it', async (t) => {
  const w = world();
  w.schedule.set(wish(7, { isFallback: true }), 'at_once', w.nowMs);
  w.advance(1_000, 'good');
  w.schedule.end(7, true, w.nowMs);
  w.advance(1, 'failing');
  t.equal(w.runs.length, 2);
  w.advance(600_000, 'good');
  t.equal(w.runs.length, 2);
  t.equal(w.schedule.size, 0);
});

void t.test(
  'a crowd goes at the rate allowed, oldest first, and fallbacks do not hold up central monitors',
  async (t) => {
    const w = world({ inFlight: 40, perSecond: 100, fallbackInFlight: 10, fallbackPerSecond: 20 });
    for (let id = 1; id <= 200; id += 1) w.schedule.set(wish(id, { isFallback: true }), 'at_once', w.nowMs);
    for (let id = 1_001; id <= 1_050; id += 1) w.schedule.set(wish(id), 'at_once', w.nowMs);
    w.advance(1_000, 'good');
    const fallbacks = () => w.runs.filter(({ slot }) => slot.wish.isFallback);
    t.equal(w.runs.length - fallbacks().length, 50, 'central monitors are through');
    t.ok(fallbacks().length >= 18 && fallbacks().length <= 23, `${fallbacks().length} fallbacks in a second`);
    w.advance(9_500, 'good');
    const firstTurns = fallbacks()
      .slice(0, 200)
      .map(({ slot }) => slot.wish.monitorId);
    t.equal(new Set(firstTurns).size, 200, 'nobody has a second turn before each has had one');

    const full = world({ inFlight: 40, perSecond: 1_000, fallbackInFlight: 10, fallbackPerSecond: 200 });
    for (let id = 1; id <= 100; id += 1) full.schedule.set(wish(id), 'at_once', full.nowMs);
    full.advance(2_000, undefined);
    t.equal(full.runs.length, 30, 'places in flight are bounded');
    for (const { slot } of full.runs.slice(0, 5)) full.schedule.finished(slot, 'good', full.nowMs);
    full.advance(1_000, undefined);
    t.equal(full.runs.length, 35);
  },
);
