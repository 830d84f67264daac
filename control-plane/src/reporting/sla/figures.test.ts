import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { availabilityOf, createAvailabilityFold, measuredSpans, noTime } from '../statistics/index.ts';
import type { AvailabilityReport, Span } from '../statistics/index.ts';
import { timelines } from '../statistics/test-timelines.ts';
import { errorBudget } from './budget.ts';
import { createCorrector } from './correction.ts';
import type { CorrectedTime } from './correction.ts';
import { stepOf } from './steps.ts';
import { shownTarget } from './target.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const correctionLists: fc.Arbitrary<CorrectedTime[]> = fc
  .array(
    fc.record({
      startedMs: fc.integer({ min: -60_000_000, max: 400_000_000 }),
      ms: fc.integer({ min: 1, max: 200_000_000 }),
      countedAs: fc.constantFrom('UP', 'EXCLUDED', 'MEASURED'),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.map(({ startedMs, ms, countedAs }, index) => ({
      id: index + 1,
      startedMs: Date.parse('2026-03-01T09:30:00.000Z') + startedMs,
      endedMs: Date.parse('2026-03-01T09:30:00.000Z') + startedMs + ms,
      countedAs,
    })),
  );

function fold(
  window: { fromMs: number; toMs: number; openUntilMs: number },
  spans: readonly Span[],
): AvailabilityReport {
  const made = createAvailabilityFold({ ...window, listedOutages: 1_000 });
  made.take(spans);
  return made.result();
}

/** What an instant counts as, said in the plainest way. */
function countedAt(ms: number, span: Span, corrections: readonly CorrectedTime[]): string {
  const holding = corrections.findLast(({ startedMs, endedMs }) => startedMs <= ms && ms < endedMs);
  const isDown = ['DOWN', 'TIMEOUT'].includes(span.measuredAs);
  if (holding?.countedAs === 'UP' && isDown) return 'UP';
  if (holding?.countedAs === 'EXCLUDED' && (isDown || ['UP', 'DEGRADED'].includes(span.measuredAs))) return 'EXCLUDED';
  return span.measuredAs;
}

/** Whether corrected spans are those of the same time, and each counts as the corrections say. */
function isCorrected(spans: readonly Span[], corrections: readonly CorrectedTime[]): boolean {
  const corrected = createCorrector(corrections)(spans);
  return (
    corrected.at(0)?.fromMs === spans.at(0)?.fromMs &&
    corrected.at(-1)?.toMs === spans.at(-1)?.toMs &&
    corrected.every(
      (span, index) => span.fromMs < span.toMs && (corrected[index + 1]?.fromMs ?? span.toMs) === span.toMs,
    ) &&
    corrected.every((span) => countedAt(span.fromMs, span, corrections) === span.countsAs)
  );
}

void t.test('corrected spans fill the same time, and every instant counts as the latest correction says', async () => {
  fc.assert(
    fc.property(timelines, correctionLists, (inputs, corrections) => isCorrected(measuredSpans(inputs), corrections)),
  );
});

void t.test('so it is where corrections begin and end exactly where statuses do', async () => {
  const places = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('UP', 'EXCLUDED', 'MEASURED')), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(timelines, places, (inputs, list) => {
      const spans = measuredSpans(inputs);
      const edges = spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
      const corrections = list.flatMap(([one, other, countedAs], index): CorrectedTime[] => {
        const [startedMs = 0, endedMs = 0] = [edges[one % edges.length], edges[other % edges.length]];
        return startedMs < endedMs ? [{ id: index, startedMs, endedMs, countedAs }] : [];
      });
      return isCorrected(spans, corrections);
    }),
  );
});

void t.test('corrections never make an uptime outside of 0 to 1, nor time out of nothing', async () => {
  fc.assert(
    fc.property(timelines, correctionLists, (inputs, corrections) => {
      const spans = measuredSpans(inputs);
      const report = fold(inputs, createCorrector(corrections)(spans));
      const plain = fold(inputs, spans);
      const { uptime, measuredMs, excludedMs, downtimeMs, unknownMs, pausedMs, maintenanceMs } = report.availability;
      return (
        (uptime === null || (uptime >= 0 && uptime <= 1)) &&
        measuredMs + excludedMs + unknownMs + pausedMs + maintenanceMs === inputs.toMs - inputs.fromMs &&
        downtimeMs <= plain.availability.downtimeMs &&
        unknownMs === plain.availability.unknownMs &&
        report.measured.downtimeMs === plain.availability.downtimeMs &&
        report.correctedMs >= excludedMs &&
        report.outages.reduce((sum, outage) => sum + outage.downtimeMs, 0) === downtimeMs
      );
    }),
  );
});

void t.test('a correction that says MEASURED reverts what was said before', async () => {
  fc.assert(
    fc.property(timelines, correctionLists, (inputs, corrections) => {
      const all: CorrectedTime = { id: 1_000, startedMs: 0, endedMs: Number.MAX_SAFE_INTEGER, countedAs: 'MEASURED' };
      const report = fold(inputs, createCorrector([...corrections, all])(measuredSpans(inputs)));
      return report.correctedMs === 0 && report.availability.upMs === report.measured.upMs;
    }),
  );
});

void t.test('the order in which corrections are read means nothing', async (t) => {
  await fc.assert(
    fc.asyncProperty(timelines, correctionLists, async (inputs, corrections) => {
      const spans = measuredSpans(inputs);
      t.same(createCorrector(corrections.toReversed())(spans), createCorrector(corrections)(spans));
    }),
    { numRuns: 50 },
  );
});

const measured = (upMs: number, downMs: number) => availabilityOf({ ...noTime(), upMs, downMs });

void t.test('budget = consumed + remaining, and the burn rate is the share consumed of it', async () => {
  fc.assert(
    fc.property(
      fc.double({ min: 90, max: 100, noNaN: true }),
      fc.integer({ min: 0, max: 90 * dayMs }),
      fc.integer({ min: 0, max: 90 * dayMs }),
      (target, upMs, downMs) => {
        const budget = errorBudget(target, measured(upMs, downMs), { hour: null, sixHours: null });
        const isOneUnit = Math.abs(budget.budgetMs - ((100 - target) / 100) * (upMs + downMs)) <= 1;
        const isSameRate =
          budget.burnRate === null ||
          budget.consumedShare === null ||
          budget.budgetMs < 1_000 ||
          Math.abs(budget.burnRate - budget.consumedShare) <= 1e-3 * Math.max(1, budget.burnRate);
        return (
          budget.budgetMs === budget.consumedMs + budget.remainingMs &&
          isOneUnit &&
          isSameRate &&
          (budget.isMet === null) === (upMs + downMs === 0)
        );
      },
    ),
  );
});

void t.test('a budget that is spent to the millisecond is met', async (t) => {
  const none = { hour: null, sixHours: null };
  t.match(errorBudget(99.9, measured(86_313_600, 86_400), none), {
    isMet: true,
    budgetMs: 86_400,
    remainingMs: 0,
    consumedShare: 1,
    burnRate: 1,
  });
  t.match(errorBudget(99.9, measured(86_313_599, 86_401), none), { isMet: false, remainingMs: -1 });
  t.match(errorBudget(100, measured(dayMs, 0), none), {
    isMet: true,
    budgetMs: 0,
    consumedShare: null,
    burnRate: null,
  });
  t.match(errorBudget(100, measured(dayMs, 1), none), { isMet: false, remainingMs: -1 });
  t.match(errorBudget(99, measured(0, 0), none), { isMet: null, budgetMs: 0, consumedShare: null, burnRate: null });
});

void t.test('burn rates of the last hours', async (t) => {
  const ends = { hour: measured(hourMs / 2, hourMs / 2), sixHours: measured(0, 0) };
  t.match(errorBudget(99, measured(dayMs, hourMs / 2), ends), { burnRate1h: 50, burnRate6h: null });
  t.match(errorBudget(99, measured(dayMs, 0), { hour: null, sixHours: null }), { burnRate1h: null, burnRate6h: null });
});

void t.test('a target is shown without what may be a secret', async (t) => {
  t.equal(shownTarget('https://user:secret@example.com:8443/path?token=abc#x'), 'https://example.com:8443/path');
  t.equal(shownTarget('example.com:25'), 'example.com:25');
  t.equal(shownTarget('example.com/a?b=c'), 'example.com/a');
  t.equal(shownTarget('postgres://u:p@db.example.com/shop'), 'postgres://db.example.com/shop');
});

void t.test('a chart has a bounded number of steps', async (t) => {
  for (const hours of [1, 6, 7, 168, 169, 720, 721, 2_160]) {
    const steps = (hours * hourMs) / stepOf(hours);
    t.ok(steps >= 6 && steps <= 170, `${hours} hours: ${steps}`);
  }
});
