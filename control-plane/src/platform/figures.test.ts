import fc from 'fast-check';
import t from 'tap';
import { fourDecimals, percentOf } from './figures.ts';

t.test('what lost a moment does not read 100', (t) => {
  const dayMs = 86_400_000;
  t.equal(percentOf(1), 100);
  t.equal(percentOf(1 - 1 / (30 * dayMs)), 99.9999, 'a millisecond of a month');
  t.equal(percentOf(1 - 1 / (400 * dayMs)), 99.9999, 'a millisecond of the longest window');
  t.equal(percentOf(0), 0);
  t.equal(percentOf(null), null);
  t.end();
});

t.test('every share of four decimals stays what it is', (t) => {
  for (let figure = 0; figure <= 1_000_000; figure += 997) t.equal(percentOf(figure / 1e6), figure / 1e4);
  t.equal(percentOf(0.29), 29);
  t.end();
});

t.test('figures have at most four decimals', (t) => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (share) => {
      const percent = percentOf(share) ?? Number.NaN;
      return percent <= share * 100 + 1e-9 && decimals(percent) <= 4 && decimals(fourDecimals(share * 700)) <= 4;
    }),
  );
  t.end();
});

function decimals(figure: number): number {
  return String(figure).split('.')[1]?.length ?? 0;
}
