import fc from '@parallax/testkit/fast-check';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { badgeJson } from './as-json.ts';
import { badgeSvg } from './as-svg.ts';
import { errorText, textOf } from './badge-text.ts';
import type { BadgeFacts } from './badge-text.ts';
import { measure } from './text-width.ts';
import { shownText } from './text.ts';

const nowMs = Date.parse('2026-11-27T12:00:00Z');
const dayMs = 86_400_000;
const said = (facts: BadgeFacts) => {
  const { label, message } = textOf(facts, undefined, nowMs);
  return `${label}: ${message}`;
};

t.test('percentages are cut after two decimals and never rounded up', async (t) => {
  for (const [percent, text] of [
    [100, '100%'],
    [99.9999, '99.99%'],
    [99.995, '99.99%'],
    [99.5, '99.5%'],
    [57.99, '57.99%'],
    [29, '29%'],
    [0, '0%'],
    [0.0099, '0%'],
    [10, '10%'],
    [null, 'no data'],
  ] as const) {
    t.equal(said({ kind: 'uptime', percent, hours: 720 }), `uptime 30d: ${text}`);
  }
  for (let tenThousandths = 0; tenThousandths < 1_000_000; tenThousandths += 997) {
    const percent = tenThousandths / 10_000;
    const shown = Number.parseFloat(textOf({ kind: 'uptime', percent, hours: 1 }, undefined, nowMs).message);
    t.equal(Math.round(shown * 100), Math.floor(tenThousandths / 100), `${percent}`);
  }
});

t.test('times, days and states are told in words', async (t) => {
  const latency = (ms: number | null) => said({ kind: 'latency', ms, hours: 24 });
  t.equal(latency(0.04), 'response time 24h: 0 ms');
  t.equal(latency(4.26), 'response time 24h: 4.3 ms');
  t.equal(latency(9.96), 'response time 24h: 10 ms');
  t.equal(latency(999.4), 'response time 24h: 999 ms');
  t.equal(latency(999.6), 'response time 24h: 1 s');
  t.equal(latency(12_345), 'response time 24h: 12.3 s');
  t.equal(latency(null), 'response time 24h: no data');
  const certificate = (days: number | null) =>
    said({ kind: 'certificate', endsMs: days === null ? null : nowMs + days * dayMs });
  t.equal(certificate(90.9), 'certificate: expires in 90 days');
  t.equal(certificate(1.5), 'certificate: expires in 1 day');
  t.equal(certificate(0.5), 'certificate: expires within a day');
  t.equal(certificate(0), 'certificate: expired');
  t.equal(certificate(null), 'certificate: no data');
  t.equal(said({ kind: 'status', status: 'partial_outage' }), 'status: partial outage');
  t.equal(said({ kind: 'page', indicator: 'none' }), 'status: all systems operational');
  t.equal(said({ kind: 'page', indicator: 'unknown' }), 'status: no data');
  t.equal(said({ kind: 'uptime', percent: 1, hours: 48 }), 'uptime 2d: 1%');
  t.equal(said({ kind: 'uptime', percent: 1, hours: 36 }), 'uptime 36h: 1%');
});

t.test('JSON has the fields that Shields reads', async (t) => {
  t.same(JSON.parse(badgeJson(textOf({ kind: 'status', status: 'operational' }, 'API', nowMs))), {
    schemaVersion: 1,
    label: 'API',
    message: 'operational',
    color: '#15803d',
    isError: false,
    cacheSeconds: 60,
  });
  t.match(JSON.parse(badgeJson(errorText(undefined, 'not found', undefined))), { label: 'badge', isError: true });
});

t.test('a picture is as wide as its texts, and says what it shows', async (t) => {
  const svg = badgeSvg({ label: 'status', message: 'operational', colour: '#15803d', isError: false });
  const width = Number(/^<svg [^>]* width="(\d+)"/.exec(svg)?.[1]);
  const lengths = [...svg.matchAll(/textLength="([\d.]+)"/g)].map(([, length]) => Number(length));
  t.same(
    lengths,
    [measure('status').width, measure('operational').width].map((each) => Math.round(each * 10) / 10),
  );
  t.equal(
    width,
    lengths.reduce((sum, each) => sum + Math.ceil(each) + 12, 0),
  );
  t.match(svg, 'role="img" aria-label="status: operational"><title>status: operational</title>');
  t.notMatch(svg, /lengthAdjust|style|href|url\(| id=/);
  const alone = badgeSvg({ label: '', message: 'no data', colour: '#667080', isError: false });
  t.match(alone, 'aria-label="no data"');
  t.equal(alone.match(/<text/g)?.length, 1);
  t.match(
    badgeSvg({ label: 'حالة', message: 'x', colour: '#667080', isError: false }),
    'lengthAdjust="spacingAndGlyphs"',
  );
});

t.test('widths are those of the font', async (t) => {
  // By the advances of DejaVu Sans at 11 pixels.
  for (const [text, width] of [
    ['operational', 62.6],
    ['99.98%', 41.9],
    ['all systems operational', 128],
    ['expires in 42 days', 100.8],
    ['response time 30d', 103],
    ['MMMWWW', 61.1],
    ['доступность', 73.4],
    ['частичный сбой №1', 114.5],
  ] as const) {
    t.ok(Math.abs(measure(text).width - width) < 1.5, `${text}: ${measure(text).width}`);
  }
  t.equal(measure('é').width, measure('e').width);
  t.equal(measure('e\u0301').width, measure('e').width);
  t.ok(measure('iii').width < measure('MMM').width / 2);
  t.same(measure('漢字'), { width: 23, isKnown: false });
  t.ok(measure('доступность').isKnown);
});

t.test('texts of others are shown on one line and cut', async (t) => {
  t.equal(shownText('  a\n\tb\u00a0 c '), 'a b c');
  t.equal(shownText('a\u0000\u202eb\u200bc\ufeff\ud800d\ufffe'), 'abcd');
  t.equal(shownText('x'.repeat(40)), 'x'.repeat(40));
  t.equal(shownText('x'.repeat(41)), `${'x'.repeat(39)}…`);
  t.equal(shownText('😀'.repeat(50)), `${'😀'.repeat(39)}…`, 'never within a character');
  t.ok(Array.from(shownText(`e${'\u0301'.repeat(100)}`)).length <= 4);
  const worst = shownText('"'.repeat(60));
  t.ok(Buffer.byteLength(badgeSvg({ label: worst, message: worst, colour: '#667080', isError: false })) <= 2_048);
});

t.test('a picture is small and well-formed, whatever its label is', async () => {
  const label = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.constantFrom('<', '&', '"', "'", ']]>', '漢', '😀', '\u0301', '\ud800', '\ufffe', '\0'), {
        maxLength: 60,
      })
      .map((all) => all.join('')),
  );
  fc.assert(
    fc.property(label, (given) => {
      const shown = shownText(given);
      const svg = badgeSvg(textOf({ kind: 'page', indicator: 'none' }, shown, nowMs));
      if (Buffer.byteLength(svg) > 2_048) throw new Error(`${Buffer.byteLength(svg)} bytes`);
      const texts: string[] = [];
      const parser = new SaxesParser({ xmlns: false });
      parser.on('error', (error) => {
        throw error;
      });
      parser.on('text', (text) => texts.push(text));
      parser.write(svg).close();
      const expected = shown === '' ? ['all systems operational'] : [shown, 'all systems operational'];
      if (texts.slice(1).join('\n') !== expected.join('\n'))
        throw new Error(`${JSON.stringify(texts)} of ${JSON.stringify(given)}`);
    }),
    { numRuns: 500 },
  );
});
