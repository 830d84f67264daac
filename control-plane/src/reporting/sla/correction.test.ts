import t from 'tap';
import type { ReportRange, Span } from '../statistics/index.ts';
import { createCorrector } from './correction.ts';
import type { CorrectedTime } from './correction.ts';

const range: ReportRange = { startedMs: 0, endedMs: 100, status: 'DOWN', isRevised: false, votes: [] };
const down: Span = { fromMs: 0, toMs: 100, measuredAs: 'DOWN', countsAs: 'DOWN', range };
const correction = (
  id: number,
  startedMs: number,
  endedMs: number,
  countedAs: CorrectedTime['countedAs'],
): CorrectedTime => ({ id, startedMs, endedMs, countedAs });
const correct = (...corrections: readonly CorrectedTime[]) => createCorrector(corrections)([down]);

t.test('a span is divided only where something else counts', async (t) => {
  t.same(correct(), [down]);
  t.same(correct(correction(1, 20, 30, 'MEASURED')), [down]);
  t.same(correct(correction(1, 20, 30, 'UP'), correction(2, 10, 40, 'MEASURED')), [down], 'what was reverted');
  t.same(correct(correction(1, 100, 200, 'UP'), correction(2, -10, 0, 'UP')), [down], 'what only touches it');
  t.same(correct(correction(1, 20, 30, 'UP')), [
    { ...down, toMs: 20 },
    { ...down, fromMs: 20, toMs: 30, countsAs: 'UP' },
    { ...down, fromMs: 30 },
  ]);
  t.same(correct(correction(1, -5, 105, 'EXCLUDED')), [{ ...down, countsAs: 'EXCLUDED' }]);
});

t.test('of several the latest holds for as long as it lasts', async (t) => {
  t.same(
    correct(correction(2, 20, 30, 'EXCLUDED'), correction(1, 10, 50, 'UP')).map(({ fromMs, toMs, countsAs }) => [
      fromMs,
      toMs,
      countsAs,
    ]),
    [
      [0, 10, 'DOWN'],
      [10, 20, 'UP'],
      [20, 30, 'EXCLUDED'],
      [30, 50, 'UP'],
      [50, 100, 'DOWN'],
    ],
  );
});
