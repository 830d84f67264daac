import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { formatsOf } from './formats.ts';
import { wordsFor } from './languages.ts';

// Far from UTC, where a local time would show.
process.env['TZ'] = 'Asia/Tokyo';

const en = formatsOf(wordsFor('en'));
const ru = formatsOf(wordsFor('ru'));
const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Numbers and units are kept on one line by spaces that do not break. */
const plain = (text: string): string => text.replaceAll(/[\u00A0\u202F]/gu, ' ');

t.test('durations are told in their two largest units', async (t) => {
  const told: readonly [number, string][] = [
    [0, '0 s'],
    [1, '0.1 s'],
    [940, '0.9 s'],
    [7_300, '7.3 s'],
    [59 * secondMs, '59 s'],
    [61 * secondMs, '1 min 1 s'],
    [60 * minuteMs, '1 h'],
    [3 * hourMs + 12 * minuteMs, '3 h 12 min'],
    [29 * dayMs + 23 * hourMs, '29 d 23 h'],
    [-90 * secondMs, '−1 min 30 s'],
  ];
  for (const [ms, text] of told) t.equal(plain(en.duration(ms)), text);
  t.equal(plain(ru.duration(3 * hourMs + 12 * minuteMs)), '3 ч 12 мин');
});

t.test('a unit never overflows by rounding', async (t) => {
  t.equal(plain(en.duration(59_999)), '1 min');
  t.equal(plain(en.duration(hourMs - 1)), '1 h');
  t.equal(plain(en.duration(dayMs - 1)), '1 d');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 90 * dayMs }), (ms) => {
      const text = plain(en.duration(ms));
      return !/\b(60 s|60 min|24 h)\b/.test(text) && text.length > 0;
    }),
  );
});

t.test('uptime is rounded down: only what was always up is 100%', async (t) => {
  t.equal(en.uptime(1), '100%');
  t.equal(en.uptime(1 - 1 / (90 * dayMs)), '99.999%');
  t.equal(en.uptime(0.9995399), '99.953%');
  t.equal(en.uptime(0), '0.000%');
  t.equal(en.uptime(null), '–');
  t.equal(plain(ru.uptime(0.99954)), '99,954 %');
});

t.test('a share that is a whole number of thousandths of a percent is told as that', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999 }), (step) => en.uptime(step / 1e5) === `${(step / 1e3).toFixed(3)}%`),
  );
});

t.test('response times have the precision that they need', async (t) => {
  t.equal(plain(en.latency(0.4)), '0.4 ms');
  t.equal(plain(en.latency(118.4)), '118 ms');
  t.equal(plain(en.latency(1_234)), '1.23 s');
  t.equal(plain(en.latency(12_345)), '12.3 s');
  t.equal(en.latency(null), '–');
});

t.test('times are UTC wherever the program runs', async (t) => {
  const ms = Date.UTC(2026, 2, 1, 23, 59, 59);
  t.equal(en.moment(ms), '2026-03-01 23:59:59');
  t.equal(en.dayAndTime(ms), '1 March 2026, 23:59');
  t.equal(en.tick(Date.UTC(2026, 2, 1), hourMs), '1 Mar');
  t.equal(en.tick(Date.UTC(2026, 2, 1, 6), hourMs), '06:00');
  t.match(ru.day(ms), /^1 марта 2026/);
});
