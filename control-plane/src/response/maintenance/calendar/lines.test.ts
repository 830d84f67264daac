import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { escapeText, fold } from '../../../platform/calendar-text.ts';
import { readLine, unescapeText, unfold } from './lines.ts';
import { readDuration, readTime } from './times.ts';

void t.test('any text comes back from a folded line, and no line is longer than 75 octets', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
      const line = `SUMMARY:${escapeText(text)}`;
      const folded = fold(line);
      if (folded.split('\r\n').some((each) => Buffer.byteLength(each) > 75)) return false;
      const [back] = unfold(folded);
      // Line ends are told alike, and control characters have no place in a calendar.
      const kept = text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\t\n]/gu, '');
      return unescapeText(readLine(back ?? '')?.value ?? '') === kept;
    }),
    { numRuns: 1_000 },
  );
  t.end();
});

void t.test('what a text holds cannot become a line of its own', async (t) => {
  const hostile = 'x\r\nEND:VEVENT\nBEGIN:VEVENT\r;a,b\\n';
  t.equal(unfold(fold(`SUMMARY:${escapeText(hostile)}`)).length, 1);
  t.equal(escapeText('a;b,c\\d\ne'), String.raw`a\;b\,c\\d\ne`);
});

void t.test('parameters are read, quoted ones too, and what is no line is none', async (t) => {
  t.same(readLine('dtstart;tzid="A:B;C";value=DATE:20260101'), {
    name: 'DTSTART',
    parameters: new Map([
      ['TZID', 'A:B;C'],
      ['VALUE', 'DATE'],
    ]),
    value: '20260101',
  });
  t.equal(readLine('X;A=1,"2,:",3:v')?.value, 'v');
  for (const line of ['', 'no colon', ':x', ';A=1:x', 'X;A:x', 'X;A="open:x']) t.equal(readLine(line), undefined, line);
});

void t.test('times and durations', async (t) => {
  t.same(readTime('20260301'), { kind: 'day', ms: Date.UTC(2026, 2, 1) });
  t.same(readTime('20260301T020304'), { kind: 'wall', ms: Date.UTC(2026, 2, 1, 2, 3, 4) });
  t.same(readTime('20260301T020304Z'), { kind: 'instant', ms: Date.UTC(2026, 2, 1, 2, 3, 4) });
  for (const text of ['20260230', '20261301', '2026-03-01', '20260301T250000', '20260301T02', '']) {
    t.equal(readTime(text), undefined, text);
  }
  t.equal(readDuration('P1W'), 7 * 86_400_000);
  t.equal(readDuration('P1DT2H3M4S'), 93_784_000);
  t.equal(readDuration('PT90M'), 5_400_000);
  for (const text of ['P', 'PT', 'P1H', '-PT1H', 'PT1.5H', '1H', `PT${'9'.repeat(30)}S`]) {
    t.equal(readDuration(text), undefined, text);
  }
});
