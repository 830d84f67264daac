import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { StoredSpan } from '../../day-sums/index.ts';
import type { CorrectedTime } from '../../sla/index.ts';
import { noTime } from '../../statistics/index.ts';
import type { TimeByStatus } from '../../statistics/index.ts';
import { letterOf, measuredOf, uptimeOf, worstLetter } from './day-letters.ts';
import { daysOfComponent, daysOfSubject } from './day-times.ts';

const dayMs = 86_400_000;
const time = (more: Partial<TimeByStatus>): TimeByStatus => ({ ...noTime(), ...more });
const ms = fc.integer({ min: 0, max: dayMs });
const times = fc.record({
  upMs: ms,
  degradedMs: ms,
  downMs: ms,
  timeoutMs: ms,
  unknownMs: ms,
  maintenanceMs: ms,
  pausedMs: ms,
  excludedMs: ms,
});

void t.test('letters of days', async (t) => {
  t.equal(letterOf(time({ upMs: dayMs }), dayMs), 'u');
  t.equal(letterOf(time({ upMs: dayMs - 1, downMs: 1 }), dayMs), 'p');
  t.equal(letterOf(time({ upMs: 0.99 * dayMs, timeoutMs: 0.01 * dayMs }), dayMs), 'x');
  t.equal(letterOf(time({ upMs: 0.99 * dayMs + 1, timeoutMs: 0.01 * dayMs - 1 }), dayMs), 'p');
  t.equal(letterOf(time({ downMs: 60_000, unknownMs: dayMs - 60_000 }), dayMs), 'x', 'of what is measured');
  t.equal(letterOf(time({ upMs: dayMs - 5, degradedMs: 5 }), dayMs), 'd');
  t.equal(letterOf(time({ upMs: dayMs / 2 - 1, maintenanceMs: dayMs / 2 + 1 }), dayMs), 'm');
  t.equal(letterOf(time({ upMs: dayMs / 2, maintenanceMs: dayMs / 2 }), dayMs), 'u');
  t.equal(letterOf(time({ upMs: 0.9 * dayMs, unknownMs: 0.1 * dayMs }), dayMs), 'u');
  t.equal(letterOf(time({ upMs: 0.9 * dayMs - 1, unknownMs: 0.1 * dayMs + 1 }), dayMs), 'n');
  t.equal(letterOf(time({ excludedMs: dayMs }), dayMs), 'n', 'a day that is taken out is no good one');
  t.equal(letterOf(noTime(), dayMs), 'n');
  t.equal(letterOf(noTime(), 0), 'u', 'a day that has just begun');
  t.equal(worstLetter(['u', 'n', 'd', 'p']), 'p');
  t.equal(worstLetter([]), 'n');
});

void t.test('uptime is cut at two digits, and never rounded up', async (t) => {
  t.equal(uptimeOf(time({ upMs: 999_999, downMs: 1 })), 99.99);
  t.equal(uptimeOf(time({ upMs: 90 * dayMs - 1_000, downMs: 1_000 })), 99.99);
  t.equal(uptimeOf(time({ upMs: 29, downMs: 71 })), 29, 'a decimal that binary fractions fall short of');
  t.equal(uptimeOf(time({ upMs: 5, degradedMs: 5 })), 100);
  t.equal(uptimeOf(time({ unknownMs: 5, maintenanceMs: 3 })), null);
  t.equal(measuredOf(noTime()), null);
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 1_000 }), (one, factor) => {
      const big = Object.fromEntries(Object.entries(one).map(([field, value]) => [field, value * factor * 90]));
      const all = { ...noTime(), ...big };
      const uptime = uptimeOf(all);
      const measured = all.upMs + all.degradedMs + all.downMs + all.timeoutMs;
      if (uptime === null) return measured === 0;
      if (all.downMs + all.timeoutMs > 0 && uptime >= 100) return false;
      const hundredths = BigInt(Math.round(uptime * 100));
      const exact = BigInt(all.upMs + all.degradedMs) * 10_000n;
      return hundredths * BigInt(measured) <= exact && exact < (hundredths + 1n) * BigInt(measured);
    }),
  );
});

const kinds = ['UP', 'DEGRADED', 'DOWN', 'TIMEOUT', 'UNKNOWN', 'MAINTENANCE', 'PAUSED'] as const;
const unit = 1_800_000;

/** Spans without gaps, in half hours. */
const spansOf = (pieces: readonly (readonly [(typeof kinds)[number], number])[], fromMs: number): StoredSpan[] => {
  let atMs = fromMs;
  return pieces.map(([measuredAs, length]) => {
    const span = { fromMs: atMs, toMs: atMs + length * unit, measuredAs };
    atMs = span.toMs;
    return span;
  });
};

const pieces = fc.array(fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: 1, max: 60 })), {
  minLength: 1,
  maxLength: 12,
});
const corrections: fc.Arbitrary<CorrectedTime[]> = fc
  .array(
    fc.record({
      from: fc.integer({ min: 0, max: 300 }),
      length: fc.integer({ min: 1, max: 60 }),
      countedAs: fc.constantFrom('UP', 'EXCLUDED', 'MEASURED'),
    }),
    { maxLength: 4 },
  )
  .map((list) =>
    list.map(({ from, length, countedAs }, id) => ({
      id,
      startedMs: from * unit,
      endedMs: (from + length) * unit,
      countedAs,
    })),
  );

/** What a half hour counts as, by the last correction that covers it. */
function countsAs(measuredAs: StoredSpan['measuredAs'], atMs: number, list: readonly CorrectedTime[]): string {
  const holds = list.findLast(({ startedMs, endedMs }) => startedMs <= atMs && atMs < endedMs)?.countedAs ?? 'MEASURED';
  const isDown = measuredAs === 'DOWN' || measuredAs === 'TIMEOUT';
  if (holds === 'UP' && isDown) return 'UP';
  return holds === 'EXCLUDED' && (isDown || measuredAs === 'UP' || measuredAs === 'DEGRADED') ? 'EXCLUDED' : measuredAs;
}

void t.test('time falls into the days that it lies in, as corrections have it', async () => {
  const starts = fc.integer({ min: -50, max: 150 });
  fc.assert(
    fc.property(pieces, starts, corrections, (list, start, corrected) => {
      const spans = spansOf(list, start * unit);
      // A day of 23 hours, one of 25, and three of 24.
      const edges = [0, 46, 96, 144, 192, 240].map((edge) => edge * unit);
      const { days } = daysOfSubject(spans, corrected, edges);
      return days.every(({ time: sum }, day) => {
        const expected: Record<string, number> = {};
        for (let atMs = edges[day] ?? 0; atMs < (edges[day + 1] ?? 0); atMs += unit) {
          const span = spans.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
          if (span === undefined) continue;
          const field = `${countsAs(span.measuredAs, atMs, corrected).toLowerCase()}Ms`;
          expected[field] = (expected[field] ?? 0) + unit;
        }
        return Object.entries(sum).every(([field, value]) => value === (expected[field] ?? 0));
      });
    }),
  );
});

void t.test(
  'a group has the time of its members, the worst letter of those that were there, and the longest outage',
  async (t) => {
    const edges = [0, dayMs, 2 * dayMs];
    const old = daysOfSubject([{ fromMs: 0, toMs: 2 * dayMs, measuredAs: 'UP' }], [], edges);
    const young = daysOfSubject(
      [
        { fromMs: dayMs, toMs: 2 * dayMs - 3_600_000, measuredAs: 'UP' },
        { fromMs: 2 * dayMs - 3_600_000, toMs: 2 * dayMs, measuredAs: 'DOWN' },
      ],
      [],
      edges,
    );
    const group = daysOfComponent([old, young], 2);
    t.same(group.letters, ['u', 'x']);
    t.equal(group.uptimePercent, 98.61, '71 of 72 hours');
    t.equal(group.measuredPercent, 100);
    t.same(
      group.seconds.map(({ down }) => down),
      [0, 3_600],
    );
    t.same(daysOfComponent([young], 2).letters, ['n', 'x'], 'before it was there nothing is known');
    t.same(daysOfComponent([], 2), {
      letters: ['n', 'n'],
      uptimePercent: null,
      measuredPercent: null,
      seconds: [0, 0].map(() => ({ down: 0, degraded: 0, maintenance: 0 })),
    });
  },
);

void t.test('the present day is as long as it is known', async (t) => {
  const edges = [0, dayMs, 1.5 * dayMs];
  const up = (toMs: number) => daysOfSubject([{ fromMs: 0, toMs, measuredAs: 'UP' }], [], edges).days[1]?.letter;
  t.equal(up(1.5 * dayMs - 2_000), 'u');
  t.equal(up(dayMs - 1_000), 'u', 'nothing of it is evaluated yet');
  t.equal(up(dayMs - 600_000), null, 'the subject is gone');
});
