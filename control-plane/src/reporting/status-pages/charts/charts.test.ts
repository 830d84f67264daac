import { createHash } from 'node:crypto';
import fc from '@parallax/testkit/fast-check';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { hostileText } from '../formats/testing/any-page.ts';
import { componentOf, madeMs, sectionOf, viewOf } from '../html/testing/samples.ts';
import { DocumentTable } from '../serving/document-table.ts';
import type { Locale } from '../view/locale.ts';
import type { ComponentView, PageView } from '../view/page-view.ts';
import { chartDocuments } from './documents.ts';
import { scaleTo } from './scale.ts';

const [document] = chartDocuments;
if (document === undefined) throw new Error('there is no chart');

const render = (view: PageView, id: string, locale: Locale = 'en') =>
  document.render(view, { locale, nowMs: madeMs, id });

/** The page of one component, and its chart. */
function drawn(parts: Partial<ComponentView>, page: Partial<PageView> = {}, locale: Locale = 'en') {
  const component = componentOf('Checkout', parts);
  const view = viewOf({ sections: [sectionOf(null, 'operational', [component])], ...page });
  const svg = render(view, component.id, locale);
  if (svg === null) throw new Error('there is no chart of it');
  return { view, svg };
}

/** Elements by name with their texts and attributes, as a strict reader of XML sees them. Throws on what is not well-formed. */
function read(xml: string) {
  const found: { name: string; text: string; attributes: Record<string, string> }[] = [];
  const open: (typeof found)[number][] = [];
  const parser = new SaxesParser({ xmlns: false });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    const one = { name, text: '', attributes: { ...attributes } };
    found.push(one);
    open.push(one);
  });
  parser.on('text', (text) => {
    const last = open.at(-1);
    if (last !== undefined) last.text += text;
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return (name: string) => found.filter((each) => each.name === name);
}

const wave = (day: number) => 120 + Math.round(80 * Math.sin(day / 7));

t.test('a chart says in words what it shows, in the language that is asked for', async (t) => {
  const times = Array.from({ length: 90 }, (_, day) => (day % 17 === 3 ? null : wave(day)));
  const of = read(drawn({ responseTimesMs: times }).svg);
  t.match(of('svg')[0]?.attributes, { role: 'img', 'aria-labelledby': 't d', lang: 'en' });
  t.equal(of('title')[0]?.text, 'Checkout: Response time');
  t.equal(of('desc')[0]?.text, '40–200 ms. Median of each day over 90 days; 132 ms on the latest.');
  t.same(
    of('text').map(({ text }) => text),
    ['0 ms', '50 ms', '100 ms', '150 ms', '200 ms', '30 Aug', '27 Nov'],
  );
  const russian = read(drawn({ responseTimesMs: times }, {}, 'ru').svg);
  t.equal(russian('title')[0]?.text, 'Checkout: Время ответа');
  t.match(russian('desc')[0]?.text, /40–200 мс/u);
  t.equal(russian('text')[1]?.text, '50 мс');
});

t.test('days without a time are gaps, and a day between two of them is a dot', async (t) => {
  const path = (times: readonly (number | null)[]) =>
    read(drawn({ responseTimesMs: times }).svg)('path').find(({ attributes }) => attributes['class'] === 'p')
      ?.attributes['d'];
  t.equal(path([0, 50, 100]), 'M84 168h0L352 94L620 20');
  t.equal(path([null, 100, null, 50, 50]), 'M218 20h0M486 94h0L620 94');
  t.equal(path([100]), 'M84 20h0');
  const empty = read(drawn({ responseTimesMs: [null, null, null] }).svg);
  t.match(empty('text')[0]?.text, 'No data');
  t.equal(empty('desc')[0]?.text, 'No data');
  t.equal(empty('path').length, 0);
});

t.test('only components that show response times have a chart', async (t) => {
  const shown = componentOf('shown', { responseTimesMs: [1] });
  const hidden = componentOf('hidden');
  const view = viewOf({ sections: [sectionOf('A', 'operational', [hidden]), sectionOf('B', 'operational', [shown])] });
  t.ok(render(view, shown.id));
  t.equal(render(view, hidden.id), null);
  t.equal(render(view, 'aaaaaaaaaaaa'), null);
  const table = new DocumentTable([{ prefix: '/status/', documents: chartDocuments }]);
  t.equal(table.match(`/status/shop/charts/${shown.id}.svg`)?.id, shown.id);
  for (const path of ['/charts/.svg', '/charts/x.svg', `/charts/${shown.id}`, `/charts/${shown.id}.svg/`]) {
    t.equal(table.match(`/status/shop${path}`), undefined, path);
  }
});

t.test('colours are those of the page, light and dark, and its style sheet alone takes effect', async (t) => {
  const system = drawn({ responseTimesMs: [1, 2, 3] });
  const style = read(system.svg)('style')[0]?.text ?? '';
  t.match(style, '@media screen and (prefers-color-scheme:dark)');
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = typeof document.policy === 'function' ? document.policy(system.view) : '';
  t.match(policy, `style-src 'sha256-${hash}'`);
  t.match(policy, /^default-src 'none'.*frame-ancestors 'none'/);
  const theme = { scheme: 'dark', light: {}, dark: { accent: '#ff8800' }, font: 'mono', radius: 3 } as const;
  const dark = drawn({ responseTimesMs: [1] }, { theme });
  const darkStyle = read(dark.svg)('style')[0]?.text ?? '';
  t.match(darkStyle, '--a:#ff8800');
  t.notMatch(darkStyle, 'prefers-color-scheme', 'a page that is always dark has charts that are');
});

t.test('a chart is small and well-formed, whatever people write and probes measure', async (t) => {
  const time = fc.oneof(
    fc.constant(null),
    fc.double({ min: 0, max: 1e7, noNaN: true }),
    fc.constantFrom(0, 0.001, 1e9),
  );
  fc.assert(
    fc.property(
      hostileText,
      fc.array(time, { minLength: 1, maxLength: 90 }),
      fc.constantFrom<Locale>('en', 'ru'),
      (name, responseTimesMs, locale) => {
        const { svg } = drawn({ name: name.slice(0, 200), responseTimesMs }, {}, locale);
        if (Buffer.byteLength(svg) > 6_144) throw new Error(`${Buffer.byteLength(svg)} bytes`);
        const of = read(svg);
        if (of('script').length > 0 || of('svg').length !== 1) throw new Error(svg);
        if (/NaN|Infinity|undefined/.test(svg.replace(name, ''))) throw new Error(svg);
        if (/[\u202a-\u202e]/u.test(svg)) throw new Error('it turns the direction of text');
      },
    ),
    { numRuns: 300 },
  );
  const longest = drawn({
    name: '漢'.repeat(200),
    responseTimesMs: Array.from({ length: 90 }, (_, day) => wave(day) + 0.37),
  });
  t.comment(`${Buffer.byteLength(longest.svg)} bytes`);
  t.ok(Buffer.byteLength(longest.svg) <= 6_144);
});

t.test('a scale holds its values in few whole steps', async (t) => {
  for (const [value, max, count] of [
    [0, 1, 1],
    [0.4, 1, 1],
    [1, 1, 1],
    [3, 3, 3],
    [7, 8, 4],
    [10, 10, 5],
    [99, 100, 5],
    [101, 125, 5],
    [2_100, 2_500, 5],
  ] as const) {
    const scale = scaleTo(value);
    t.same([scale.max, scale.ticks.length - 1], [max, count], `${value}: ${JSON.stringify(scale)}`);
  }
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (value) => {
      const { max, ticks } = scaleTo(value);
      if (max < value || ticks.at(-1) !== max || ticks.length > 7)
        throw new Error(JSON.stringify({ value, max, ticks }));
      if (ticks.some((tick) => !Number.isInteger(tick))) throw new Error(JSON.stringify(ticks));
    }),
  );
});
