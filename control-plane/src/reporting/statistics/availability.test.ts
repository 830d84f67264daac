import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { createAvailabilityFold } from './availability-fold.ts';
import type { AvailabilityReport, AvailabilityWindow } from './availability-fold.ts';
import { measuredSpans } from './spans.ts';
import type { ReportRange, Span, TimelineInputs } from './spans.ts';
import { timelines } from './test-timelines.ts';
import { lastHours, reportWindow } from './window.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const at = (text: string) => Date.parse(`2026-03-${text}Z`);

function reportOf(inputs: TimelineInputs, more: Partial<AvailabilityWindow> = {}): AvailabilityReport {
  return reportOfSpans(inputs, measuredSpans(inputs), more);
}

function reportOfSpans(
  window: Pick<TimelineInputs, 'fromMs' | 'toMs' | 'openUntilMs'>,
  spans: readonly Span[],
  more: Partial<AvailabilityWindow> = {},
): AvailabilityReport {
  const { fromMs, toMs, openUntilMs } = window;
  const fold = createAvailabilityFold({ fromMs, toMs, openUntilMs, listedOutages: 10_000, ...more });
  fold.take(spans);
  return fold.result();
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, each) => sum + each, 0);

/** The parts of a window by what they count as. */
function parts({ availability: of }: AvailabilityReport): number[] {
  return [of.upMs, of.degradedMs, of.downMs, of.timeoutMs, of.unknownMs, of.maintenanceMs, of.pausedMs, of.excludedMs];
}

const isFailing = (range: ReportRange | null): boolean => range?.status === 'DOWN' || range?.status === 'TIMEOUT';

void t.test('spans fill their window in order, and the parts sum to it', async () => {
  fc.assert(
    fc.property(timelines, (inputs) => {
      const spans = measuredSpans(inputs);
      const edges = spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
      const expected = inputs.fromMs < inputs.toMs ? [inputs.fromMs, ...edges.slice(1, -1), inputs.toMs] : [];
      const isFilled = edges.every((edge, index) => edge === expected[index]) && edges.length === expected.length;
      const isOrdered = spans.every(
        ({ fromMs, toMs }, index) => fromMs < toMs && (spans[index + 1]?.fromMs ?? toMs) === toMs,
      );
      const report = reportOf(inputs);
      const { uptime } = report.availability;
      return (
        isFilled &&
        isOrdered &&
        sumOf(parts(report)) === inputs.toMs - inputs.fromMs &&
        parts(report).every((part) => part >= 0) &&
        (uptime === null || (uptime >= 0 && uptime <= 1))
      );
    }),
  );
});

void t.test('days are UTC, have no gap, and sum to the window', async () => {
  fc.assert(
    fc.property(timelines, (inputs) => {
      const report = reportOf(inputs);
      const { days } = report;
      const total = report.availability;
      return (
        days.every(
          ({ day, fromMs, toMs }) => day === new Date(fromMs).toISOString().slice(0, 10) && toMs - fromMs <= dayMs,
        ) &&
        days.slice(1).every(({ fromMs }, index) => fromMs === days[index]?.toMs && fromMs % dayMs === 0) &&
        sumOf(days.map((day) => day.upMs)) === total.upMs &&
        sumOf(days.map((day) => day.downMs + day.timeoutMs)) === total.downtimeMs &&
        sumOf(days.map((day) => day.measuredMs + day.unknownMs + day.pausedMs + day.maintenanceMs)) ===
          inputs.toMs - inputs.fromMs
      );
    }),
  );
});

void t.test('outages partition the downtime, do not touch one another, and are runs of failing ranges', async () => {
  fc.assert(
    fc.property(timelines, (inputs) => {
      const spans = measuredSpans(inputs);
      const { outages, availability, outagesOmitted, incidents } = reportOfSpans(inputs, spans);
      const failing = spans.filter(({ range }) => isFailing(range));
      const starts = failing.filter(({ fromMs }) => !failing.some(({ toMs }) => toMs === fromMs));
      return (
        outagesOmitted === 0 &&
        sumOf(outages.map(({ downtimeMs }) => downtimeMs)) === availability.downtimeMs &&
        sumOf(outages.map(({ measuredMs }) => measuredMs)) ===
          sumOf(failing.map(({ fromMs, toMs }) => toMs - fromMs)) &&
        outages.length === starts.length &&
        outages.every(
          ({ startedMs }, index) =>
            startedMs === starts[index]?.fromMs || (index === 0 && startedMs === starts[0]?.range?.startedMs),
        ) &&
        incidents === outages.filter(({ downtimeMs }) => downtimeMs > 0).length
      );
    }),
  );
});

void t.test('MTTR and MTBF are what their definitions say', async () => {
  fc.assert(
    fc.property(timelines, (inputs) => {
      const spans = measuredSpans(inputs);
      const report = reportOfSpans(inputs, spans);
      const counted = report.outages.filter(({ downtimeMs }) => downtimeMs > 0);
      const ended = counted.filter(({ endedMs }) => endedMs !== null && endedMs <= inputs.toMs);
      const repairs = ended.map(({ durationMs, measuredMs, downtimeMs }) => durationMs - measuredMs + downtimeMs);
      const uptimeBetween = counted.slice(1).map((outage, index) => {
        const fromMs = counted[index]?.startedMs ?? 0;
        return sumOf(
          spans
            .filter(({ countsAs }) => countsAs === 'UP' || countsAs === 'DEGRADED')
            .map((span) => Math.max(0, Math.min(span.toMs, outage.startedMs) - Math.max(span.fromMs, fromMs))),
        );
      });
      const mean = (list: readonly number[]) => (list.length === 0 ? null : sumOf(list) / list.length);
      return report.mttrMs === mean(repairs) && report.mtbfMs === mean(uptimeBetween);
    }),
  );
});

void t.test('a window that is folded in parts comes to the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(timelines, fc.array(fc.nat(400_000_000)), async (inputs, cuts) => {
      const { fromMs, toMs } = inputs;
      const edges = [fromMs, ...cuts.map((cut) => fromMs + cut).filter((ms) => ms < toMs), toMs].sort((a, b) => a - b);
      const fold = createAvailabilityFold({ ...inputs, listedOutages: 10_000, endsMs: [hourMs] });
      for (const [index, startMs] of edges.slice(0, -1).entries()) {
        fold.take(measuredSpans({ ...inputs, fromMs: startMs, toMs: edges[index + 1] ?? toMs }));
      }
      t.same(fold.result(), reportOf(inputs, { endsMs: [hourMs] }));
    }),
    { numRuns: 100 },
  );
});

void t.test('an end of a window counts as a window of its own', async (t) => {
  await fc.assert(
    fc.asyncProperty(timelines, async (inputs) => {
      const [hour, long] = reportOf(inputs, { endsMs: [hourMs, 10_000 * hourMs] }).ends;
      t.equal(long, null);
      if (inputs.toMs - inputs.fromMs < hourMs) return t.equal(hour, null);
      return t.same(hour, reportOf({ ...inputs, fromMs: inputs.toMs - hourMs }).availability);
    }),
    { numRuns: 100 },
  );
});

const ranges = (...list: readonly [string, string | null, ReportRange['status']][]): ReportRange[] =>
  list.map(([from, to, status]) => ({
    startedMs: at(from),
    endedMs: to === null ? null : at(to),
    status,
    isRevised: false,
    votes: [],
  }));

const day: Omit<TimelineInputs, 'ranges'> = {
  pauses: [],
  maintenance: [],
  fromMs: at('02T00:00:00'),
  toMs: at('03T00:00:00'),
  openUntilMs: at('03T00:00:00'),
};

void t.test('DOWN and TIMEOUT that touch are one outage; what nobody knows and what is degraded end it', async (t) => {
  const report = reportOf({
    ...day,
    ranges: ranges(
      ['02T00:00:00', '02T01:00:00', 'UP'],
      ['02T01:00:00', '02T01:10:00', 'TIMEOUT'],
      ['02T01:10:00', '02T01:30:00', 'DOWN'],
      ['02T01:30:00', '02T02:00:00', 'DEGRADED'],
      ['02T02:00:00', '02T02:05:00', 'DOWN'],
      // Nobody knows for five minutes.
      ['02T02:10:00', '02T02:20:00', 'DOWN'],
      ['02T02:20:00', null, 'UP'],
    ),
  });
  t.match(report.outages, [
    { startedMs: at('02T01:00:00'), endedMs: at('02T01:30:00'), durationMs: hourMs / 2, status: 'DOWN', isCut: false },
    { startedMs: at('02T02:00:00'), endedMs: at('02T02:05:00') },
    { startedMs: at('02T02:10:00'), endedMs: at('02T02:20:00') },
  ]);
  t.equal(report.mttrMs, (30 + 5 + 10) * 20_000);
  // From 01:00 to 02:00 it was degraded for half an hour, from 02:00 to 02:10 never up.
  t.equal(report.mtbfMs, hourMs / 4);
  t.equal(report.availability.unknownMs, 5 * 60_000);
  t.match(report.days, [{ day: '2026-03-02', outages: 3 }]);
});

void t.test('an outage that the window cuts counts its part, and is told whole', async (t) => {
  const inputs = { ...day, ranges: ranges(['01T23:00:00', '02T02:00:00', 'DOWN'], ['02T23:00:00', null, 'TIMEOUT']) };
  const report = reportOf(inputs, { onsetMs: at('01T22:00:00') });
  t.match(report.outages, [
    {
      startedMs: at('01T22:00:00'),
      endedMs: at('02T02:00:00'),
      durationMs: 4 * hourMs,
      downtimeMs: 2 * hourMs,
      isCut: true,
    },
    { startedMs: at('02T23:00:00'), endedMs: null, durationMs: hourMs, downtimeMs: hourMs, isCut: true },
  ]);
  t.equal(report.mttrMs, 4 * hourMs, 'one that lasts has no repair');
  t.match(report.days, [{ outages: 1 }], 'only one of them began on the day');
  t.match(
    reportOf({ ...inputs, fromMs: at('02T23:30:00') }).days,
    [{ outages: 0 }],
    'one that began before the window on the same day did not begin in it',
  );
});

void t.test('an outage in a maintenance is no incident; one that reaches out of it is, with that part', async (t) => {
  const maintenance = [{ fromMs: at('02T01:00:00'), toMs: at('02T03:00:00') }];
  const inputs = {
    ...day,
    maintenance,
    ranges: ranges(['02T01:10:00', '02T01:20:00', 'DOWN'], ['02T02:30:00', '02T03:30:00', 'DOWN']),
  };
  const report = reportOf(inputs);
  t.match(report, {
    incidents: 1,
    mttrMs: hourMs / 2,
    availability: { downtimeMs: hourMs / 2, maintenanceMs: 2 * hourMs },
  });
  t.match(
    report.outages.map(({ downtimeMs }) => downtimeMs),
    [0, hourMs / 2],
  );
});

void t.test('the latest outages are listed, and all are counted', async (t) => {
  const list = Array.from({ length: 25 }, (_, index): [string, string, ReportRange['status']] => {
    const minute = String(index).padStart(2, '0');
    return [`02T05:${minute}:00`, `02T05:${minute}:30`, 'DOWN'];
  });
  const report = reportOf({ ...day, ranges: ranges(...list) }, { listedOutages: 10 });
  t.match(report, { incidents: 25, outagesOmitted: 15, mttrMs: 30_000 });
  t.same(
    report.outages.map(({ startedMs }) => startedMs),
    list.slice(15).map(([from]) => at(from)),
  );
});

void t.test('a monitor that nobody looked at has no uptime', async (t) => {
  t.match(reportOf({ ...day, ranges: [] }), {
    availability: { uptime: null, unknownMs: dayMs },
    mttrMs: null,
    mtbfMs: null,
    outages: [],
  });
  t.match(reportOf({ ...day, toMs: day.fromMs, ranges: [] }), { availability: { uptime: null }, days: [] });
});

void t.test('a window goes back from where results are evaluated, not before the creation or the reset', async (t) => {
  const facts = {
    wanted: lastHours(24),
    nowMs: at('10T12:00:00') + 0.7,
    createdMs: at('01T00:00:00'),
    resetMs: null,
    foldedUntilMs: null,
  };
  t.same(reportWindow(facts), {
    hours: 24,
    period: null,
    timezone: 'UTC',
    requestedFromMs: at('09T12:00:00'),
    requestedToMs: at('10T12:00:00'),
    fromMs: at('09T12:00:00'),
    toMs: at('10T12:00:00'),
    clampedBy: null,
    openUntilMs: at('10T12:00:00'),
  });
  t.match(
    reportWindow({ ...facts, foldedUntilMs: at('10T11:59:30') }),
    { toMs: at('10T11:59:30'), fromMs: at('09T11:59:30'), openUntilMs: at('10T11:59:30') },
    'what is not evaluated yet is not unknown',
  );
  t.match(
    reportWindow({ ...facts, foldedUntilMs: at('10T11:50:00') }),
    { toMs: at('10T12:00:00'), openUntilMs: at('10T11:50:00') },
    'an evaluation that stands still is',
  );
  t.match(reportWindow({ ...facts, foldedUntilMs: at('10T12:00:05') }), { toMs: at('10T12:00:00') });
  t.match(reportWindow({ ...facts, createdMs: at('10T11:00:00') + 0.2 }), {
    fromMs: at('10T11:00:00') + 1,
    requestedFromMs: at('09T12:00:00'),
    clampedBy: 'creation',
  });
  t.match(reportWindow({ ...facts, resetMs: at('10T10:00:00') }), { fromMs: at('10T10:00:00'), clampedBy: 'reset' });
  t.match(reportWindow({ ...facts, resetMs: at('09T12:00:00') }), { clampedBy: null });
  t.match(
    reportWindow({ ...facts, createdMs: at('10T13:00:00') }),
    { fromMs: at('10T12:00:00'), toMs: at('10T12:00:00') },
    'a clock that is behind makes an empty window',
  );
});
