import t from 'tap';
import { createAvailabilityFold } from './availability-fold.ts';
import { measuredSpans } from './spans.ts';
import type { ReportRange, Span } from './spans.ts';
import { lastHours, reportWindow } from './window.ts';

const minuteMs = 60_000;
const down: ReportRange = { startedMs: 100, endedMs: 200, status: 'DOWN', isRevised: false, votes: [] };
const open: ReportRange = { ...down, startedMs: 300, endedMs: null, status: 'UP' };
const inputs = { ranges: [down, open], pauses: [], maintenance: [], fromMs: 0, toMs: 1_000, openUntilMs: 900 };
const span = (fromMs: number, toMs: number, as: Span['measuredAs'], range: ReportRange | null): Span => ({
  fromMs,
  toMs,
  measuredAs: as,
  countsAs: as,
  range,
});

t.test('spans have the milliseconds of what they were made of, and its ranges', async (t) => {
  t.same(measuredSpans(inputs), [
    span(0, 100, 'UNKNOWN', null),
    span(100, 200, 'DOWN', down),
    span(200, 300, 'UNKNOWN', null),
    span(300, 900, 'UP', open),
    span(900, 1_000, 'UNKNOWN', null),
  ]);
  t.equal(measuredSpans(inputs)[0]?.range, null);
});

t.test('a pause without an end lasts, one with an end ends, and a maintenance below it does not show', async (t) => {
  const paused = measuredSpans({
    ...inputs,
    pauses: [
      { fromMs: 150, toMs: 160 },
      { fromMs: 800, toMs: null },
    ],
    maintenance: [{ fromMs: 155, toMs: 170 }],
  });
  t.same(
    paused.map(({ fromMs, toMs, measuredAs }) => [fromMs, toMs, measuredAs]),
    [
      [0, 100, 'UNKNOWN'],
      [100, 150, 'DOWN'],
      [150, 160, 'PAUSED'],
      [160, 170, 'MAINTENANCE'],
      [170, 200, 'DOWN'],
      [200, 300, 'UNKNOWN'],
      [300, 800, 'UP'],
      // What is known of the open range ends here, and the pause goes on.
      [800, 900, 'PAUSED'],
      [900, 1_000, 'PAUSED'],
    ],
  );
  t.equal(paused[2]?.range, down, 'the range below is told');
});

t.test('the end of a window may be as long as it is', async (t) => {
  const made = createAvailabilityFold({ ...inputs, listedOutages: 1, endsMs: [1_000, 1_001, 100, 0] });
  made.take(measuredSpans(inputs));
  const { ends } = made.result();
  t.match(ends[0], { upMs: 600, downMs: 100, unknownMs: 300 });
  t.equal(ends[1], null);
  t.match(ends[2], { upMs: 0, unknownMs: 100 });
  t.match(ends[3], { upMs: 0, unknownMs: 0, uptime: null });
});

t.test('uptime is the share of the measured time, and a day that is not begun is none', async (t) => {
  const dayMs = 86_400_000;
  const window = { ...inputs, toMs: dayMs, openUntilMs: dayMs };
  const made = createAvailabilityFold({ ...window, listedOutages: 1 });
  made.take(measuredSpans(window));
  const { availability, days } = made.result();
  t.equal(availability.uptime, (dayMs - 300) / (dayMs - 200));
  t.same(
    days.map(({ day, fromMs, toMs }) => [day, fromMs, toMs]),
    [['1970-01-01', 0, dayMs]],
  );
  t.same(createAvailabilityFold({ ...inputs, toMs: 0, listedOutages: 1 }).result().days, []);
});

t.test('a span outside of the window is refused', async (t) => {
  const made = createAvailabilityFold({ ...inputs, listedOutages: 1 });
  t.throws(() => made.take([span(86_400_000, 86_400_001, 'UP', open)]), /a span at 86400000 lies outside its window/);
});

t.test('an evaluation may be a minute behind before it counts as standing still', async (t) => {
  const nowMs = Date.parse('2026-03-10T12:00:00Z');
  const toMs = (behindMs: number) =>
    reportWindow({ wanted: lastHours(1), nowMs, createdMs: 0, resetMs: null, foldedUntilMs: nowMs - behindMs });
  t.match(toMs(minuteMs), { toMs: nowMs - minuteMs, openUntilMs: nowMs - minuteMs });
  t.match(toMs(minuteMs + 1), { toMs: nowMs, openUntilMs: nowMs - minuteMs - 1 });
  t.match(toMs(10.5), { toMs: nowMs - 11 }, 'whole milliseconds that are over');
});

t.test('a window begins at the later of creation and reset, at the first whole millisecond of it', async (t) => {
  const nowMs = Date.parse('2026-03-10T12:00:00Z');
  const clamped = (createdMs: number, resetMs: number | null) =>
    reportWindow({ wanted: lastHours(1), nowMs, createdMs, resetMs, foldedUntilMs: nowMs });
  t.match(clamped(0, nowMs - minuteMs + 0.5), { fromMs: nowMs - minuteMs + 1, clampedBy: 'reset' });
  t.match(clamped(nowMs - minuteMs, nowMs - 2 * minuteMs), { fromMs: nowMs - minuteMs, clampedBy: 'creation' });
  t.match(clamped(nowMs - minuteMs, nowMs - minuteMs), { fromMs: nowMs - minuteMs, clampedBy: 'creation' }, 'at once');
  t.match(clamped(-nowMs, null), { fromMs: nowMs - 60 * minuteMs, clampedBy: null });
  t.match(
    reportWindow({ wanted: lastHours(1), nowMs: 0, createdMs: -10 * minuteMs, resetMs: null, foldedUntilMs: 0 }),
    { fromMs: -10 * minuteMs, clampedBy: 'creation' },
    'no reset is none of 1970',
  );
});
