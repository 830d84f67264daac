import t from 'tap';
import { createOutageFold } from './outages.ts';
import type { OutageWindow } from './outages.ts';
import type { ReportRange, Span } from './spans.ts';

/* Outages by example, in milliseconds from the beginning of a window of a minute. */

const window: OutageWindow = { fromMs: 0, toMs: 60_000, openUntilMs: 60_000, listed: 100 };

const range = (
  startedMs: number,
  endedMs: number | null,
  status: ReportRange['status'] = 'DOWN',
  isRevised = false,
): ReportRange => ({ startedMs, endedMs, status, isRevised, votes: [] });

/** The span of a failing range inside the window. */
function failing(of: ReportRange, counts: Partial<Pick<Span, 'countsAs' | 'measuredAs'>> = {}): Span {
  const toMs = Math.min(of.endedMs ?? window.toMs, window.toMs);
  return {
    fromMs: Math.max(of.startedMs, 0),
    toMs,
    measuredAs: of.status,
    countsAs: of.status,
    range: of,
    ...counts,
  };
}

const up = (fromMs: number, toMs: number): Span => ({
  fromMs,
  toMs,
  measuredAs: 'UP',
  countsAs: 'UP',
  range: range(fromMs, toMs, 'UP'),
});
const unknown = (fromMs: number, toMs: number): Span => ({
  fromMs,
  toMs,
  measuredAs: 'UNKNOWN',
  countsAs: 'UNKNOWN',
  range: null,
});

function fold(spans: readonly Span[], changed: Partial<OutageWindow> = {}) {
  const made = createOutageFold({ ...window, ...changed });
  let uptimeMs = 0;
  for (const span of spans) {
    made.take(span, uptimeMs);
    if (span.countsAs === 'UP') uptimeMs += span.toMs - span.fromMs;
  }
  return made.result();
}

t.test('an outage is what it was for most of its time, and DOWN when it is undecided', async (t) => {
  const statusOf = (downMs: number, timeoutMs: number) =>
    fold([failing(range(0, timeoutMs, 'TIMEOUT')), failing(range(timeoutMs, timeoutMs + downMs, 'DOWN'))]).outages[0]
      ?.status;
  t.equal(statusOf(500, 500), 'DOWN');
  t.equal(statusOf(501, 500), 'DOWN');
  t.equal(statusOf(499, 500), 'TIMEOUT');
  t.equal(statusOf(200, 500), 'TIMEOUT');
  t.equal(fold([failing(range(0, 100, 'TIMEOUT'))]).outages[0]?.status, 'TIMEOUT');
});

t.test('it is revised or corrected when any of its parts is', async (t) => {
  const told = (...spans: readonly Span[]) =>
    fold(spans).outages.map(({ isRevised, isCorrected, measuredMs, downtimeMs }) => ({
      isRevised,
      isCorrected,
      measuredMs,
      downtimeMs,
    }));
  const plain = { isRevised: false, isCorrected: false, measuredMs: 100, downtimeMs: 100 };
  t.same(told(failing(range(0, 100))), [plain]);
  t.same(told(failing(range(0, 40, 'DOWN', true)), failing(range(40, 100, 'TIMEOUT'))), [
    { ...plain, isRevised: true },
  ]);
  t.same(told(failing(range(0, 40)), failing(range(40, 100, 'TIMEOUT', true))), [{ ...plain, isRevised: true }]);
  t.same(told(failing(range(0, 40), { countsAs: 'UP' }), failing(range(40, 100))), [
    { ...plain, isCorrected: true, downtimeMs: 60 },
  ]);
  t.same(told(failing(range(0, 40)), failing(range(40, 100, 'TIMEOUT'), { countsAs: 'EXCLUDED' })), [
    { ...plain, isCorrected: true, downtimeMs: 40 },
  ]);
  t.same(
    told(failing(range(0, 100), { countsAs: 'MAINTENANCE', measuredAs: 'MAINTENANCE' })),
    [{ ...plain, downtimeMs: 0 }],
    'a maintenance is no correction',
  );
});

t.test('it is cut where it began before the window, lasts, or ends after it', async (t) => {
  const isCut = (startedMs: number, endedMs: number | null) =>
    fold([failing(range(startedMs, endedMs))]).outages[0]?.isCut;
  t.equal(isCut(0, 60_000), false);
  t.equal(isCut(-1, 100), true);
  t.equal(isCut(0, 60_001), true);
  t.equal(isCut(10, null), true);
});

t.test('a repair is what ended in the window, to its last millisecond', async (t) => {
  const mttrMs = (endedMs: number) => fold([failing(range(50_000, endedMs))]).mttrMs;
  t.equal(mttrMs(60_000), 10_000);
  t.equal(mttrMs(60_001), null);
});

t.test('who is told of starts is told of those that count and began in the window', async (t) => {
  const started: number[] = [];
  const onStart = (startedMs: number): void => void started.push(startedMs);
  fold([failing(range(-5, 100)), up(100, 200), failing(range(200, 300)), unknown(300, 400), failing(range(400, 500))], {
    onStart,
  });
  fold([failing(range(0, 100)), up(100, 200), failing(range(200, 300), { countsAs: 'UP' })], { onStart });
  t.same(started, [200, 400, 0]);
});

t.test('uptime between starts is that of the first to the last, by their number', async (t) => {
  const spans = [
    up(0, 1_000),
    failing(range(1_000, 2_000)),
    up(2_000, 5_000),
    failing(range(5_000, 6_000), { countsAs: 'EXCLUDED' }),
    up(6_000, 7_000),
    failing(range(7_000, 8_000)),
    up(8_000, 12_000),
    failing(range(12_000, 13_000)),
    up(13_000, 60_000),
  ];
  t.match(fold(spans), { incidents: 3, mtbfMs: (3_000 + 1_000 + 4_000) / 2, mttrMs: 1_000 });
});

t.test('the latest are listed and all others counted, however many there are', async (t) => {
  const spans = (count: number) =>
    Array.from({ length: count }, (_, index) => [
      failing(range(index * 10, index * 10 + 5)),
      up(index * 10 + 5, index * 10 + 10),
    ]).flat();
  for (const count of [0, 1, 2, 3, 4, 5, 6, 7, 20]) {
    const { outages, omitted, incidents } = fold(spans(count), { listed: 3 });
    const first = Math.max(0, count - 3);
    t.same(
      outages.map(({ startedMs }) => startedMs),
      Array.from({ length: count - first }, (_, index) => (first + index) * 10),
      `${count}`,
    );
    t.equal(omitted, first, `${count}`);
    t.equal(incidents, count);
  }
});

t.test('where none are to be listed all are counted', async (t) => {
  const made = createOutageFold({ ...window, listed: 0 });
  for (let index = 0; index < 5; index += 1) {
    made.take(failing(range(index * 10, index * 10 + 5)), 0);
    made.take(up(index * 10 + 5, index * 10 + 10), 0);
  }
  t.match(made.result(), { outages: [], omitted: 5, incidents: 5 });
});

t.test('an onset before the window holds for the outage that the window begins in, and only for that', async (t) => {
  const startsOf = (spans: readonly Span[], onsetMs: number) =>
    fold(spans, { onsetMs }).outages.map(({ startedMs, durationMs }) => [startedMs, durationMs]);
  t.same(startsOf([failing(range(-10, 100))], -500), [[-500, 600]]);
  t.same(startsOf([failing(range(-10, 100))], -5), [[-10, 110]], 'the earlier of both');
  t.same(startsOf([up(0, 50), failing(range(50, 100))], -500), [[50, 50]]);
});
