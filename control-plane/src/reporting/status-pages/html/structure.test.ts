import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { formatsOf } from './times.ts';
import { type Element, allDocuments, attributeOf, elementsOf, rendered, sample, textOf } from './testing/rendered.ts';
import { componentOf, daysOf, sectionOf, viewOf } from './testing/samples.ts';
import { wordsOf } from './words/languages.ts';

const ofTag = (elements: readonly Element[], tag: string): readonly Element[] =>
  elements.filter(({ tagName }) => tagName === tag);
const valuesOf = (elements: readonly Element[], name: string): readonly string[] =>
  elements.map((each) => attributeOf(each, name)).filter((each) => each !== undefined);

t.test('Headings are in order, and each document has one of the first level', async (t) => {
  for (const { name, html } of allDocuments) {
    const levels = elementsOf(html)
      .filter(({ tagName }) => /^h[1-6]$/.test(tagName))
      .map(({ tagName }) => Number(tagName[1]));
    t.equal(levels[0], 1, name);
    t.equal(levels.filter((level) => level === 1).length, 1, name);
    t.same(
      levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1),
      [],
      `${name}: no level is left out`,
    );
  }
});

t.test('Landmarks are there once, with names where there are several', async (t) => {
  for (const { name, html } of allDocuments) {
    const elements = elementsOf(html);
    for (const tag of ['main', 'header', 'footer']) t.equal(ofTag(elements, tag).length, 1, `${name}: ${tag}`);
    const names = valuesOf(ofTag(elements, 'nav'), 'aria-label');
    t.equal(names.length, ofTag(elements, 'nav').length, `${name}: each nav has a name`);
    t.equal(new Set(names).size, names.length, `${name}: no two have the same`);
    for (const section of ofTag(elements, 'section'))
      t.ok(
        attributeOf(section, 'aria-labelledby') ?? attributeOf(section, 'aria-label'),
        `${name}: a section has a name`,
      );
    const [first] = ofTag(elements, 'a');
    t.equal(first && attributeOf(first, 'href'), '#main', `${name}: the first link skips to the content`);
  }
});

t.test('What refers to an element finds one, and no two have the same id', async (t) => {
  for (const { name, html } of allDocuments) {
    const elements = elementsOf(html);
    const ids = valuesOf(elements, 'id');
    t.equal(new Set(ids).size, ids.length, `${name}: ids`);
    const wanted = [
      ...valuesOf(elements, 'aria-labelledby'),
      ...[...valuesOf(elements, 'href'), ...valuesOf(elements, 'xlink:href')]
        .filter((each) => each.startsWith('#'))
        .map((each) => each.slice(1)),
      ...valuesOf(elements, 'class').flatMap((each) => each.match(/^k[umdpxn]$/) ?? []),
    ];
    t.same(
      wanted.filter((each) => !ids.includes(each)),
      [],
      name,
    );
  }
});

t.test('Each document names its language, and the address of each other one', async (t) => {
  for (const { name, html, view, locale, path, id } of allDocuments) {
    const elements = elementsOf(html);
    t.same(valuesOf(ofTag(elements, 'html'), 'lang'), [locale], name);
    const others = ofTag(elements, 'link').filter((each) => attributeOf(each, 'hreflang') !== undefined);
    const address = `${view.url}${path.replace(':id', id)}`;
    t.same(
      others.map((each) => [attributeOf(each, 'rel'), attributeOf(each, 'hreflang'), attributeOf(each, 'href')]),
      view.locales.length > 1 ? view.locales.map((each) => ['alternate', each, `${address}?lang=${each}`]) : [],
      name,
    );
    const choices = ofTag(elements, 'a').filter((each) => attributeOf(each, 'hreflang') !== undefined);
    for (const choice of choices) t.equal(attributeOf(choice, 'lang'), attributeOf(choice, 'hreflang'), name);
    t.equal(valuesOf(choices, 'aria-current').length, view.locales.length > 1 ? 1 : 0, name);
  }
});

t.test('Instants and dates are machine readable', async (t) => {
  for (const { name, html, path } of allDocuments) {
    const times = ofTag(elementsOf(html), 'time');
    if (name.startsWith('outage') && path !== '/subscribe') t.ok(times.length > 0, name);
    for (const time of times) t.match(attributeOf(time, 'datetime'), /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?$/, name);
  }
});

t.test('Pictures have a name or are hidden', async (t) => {
  for (const { name, html } of allDocuments)
    for (const svg of ofTag(elementsOf(html), 'svg')) {
      const isHidden = attributeOf(svg, 'aria-hidden') === 'true';
      const isNamed =
        attributeOf(svg, 'aria-label') !== undefined ||
        svg.childNodes.some((child) => 'tagName' in child && child.tagName === 'title');
      t.ok(isHidden !== isNamed && (isHidden || attributeOf(svg, 'role') === 'img'), name);
    }
});

t.test('Less than 100 % is never shown as 100 %', async (t) => {
  const below = fc.oneof(
    fc.double({ min: 0, max: 100, maxExcluded: true, noNaN: true }),
    fc.double({ min: 99.9, max: 100, maxExcluded: true, noNaN: true }),
  );
  for (const locale of ['en', 'ru'] as const) {
    const { percent, wholePercent } = formatsOf(wordsOf(locale), 'UTC');
    t.match(percent(100), /^100\s?%$/);
    fc.assert(
      fc.property(below, (value) => {
        for (const format of [percent, wholePercent]) {
          const shown = Number(format(value).replace(',', '.').replace(/\s?%$/, ''));
          // What is shown is a double too: it may differ from what it stands for by its last bit.
          if (!(shown < 100 && shown <= value + 1e-12)) throw new Error(`${value} is shown as ${format(value)}`);
        }
      }),
    );
    const page = viewOf({
      sections: [sectionOf(null, 'operational', [componentOf('A', { uptimePercent: 99.999_999 })])],
    });
    t.notMatch(textOf(rendered(page, '', locale)), /\b100\s?%/);
  }
});

t.test('What is not known looks and reads otherwise than what is up', async (t) => {
  const component = (name: string, known: boolean) =>
    componentOf(name, {
      status: known ? 'operational' : 'unknown',
      sinceMs: null,
      uptimePercent: known ? 100 : null,
      days: daysOf((known ? 'u' : 'n').repeat(90)),
    });
  const partsOf = (known: boolean): readonly string[] => {
    const html = rendered(viewOf({ sections: [sectionOf(null, 'operational', [component('A', known)])] }));
    const row = html.slice(html.indexOf('<b>A</b>'), html.indexOf('<details class=lg>'));
    return [
      row.match(/<svg class=(\w) aria/)?.[1] ?? '',
      row.match(/<path class=(\w) d="M0 [\d.]+h90"/)?.[1] ?? '',
      textOf(row.replace(/<svg.*?<\/svg>/gs, ''))
        .replace(/.*?A /, 'A ')
        .trim(),
      row.match(/aria-label="([^"]*)"/)?.[1] ?? '',
    ];
  };
  t.same(partsOf(true), ['u', 'u', 'A Operational 30 Aug 100% uptime Today', '90 days: no trouble']);
  t.same(partsOf(false), ['n', 'n', 'A No data 30 Aug no uptime data Today', '90 days: 90 without data']);
});

t.test('The last bar is called today only on its day', async (t) => {
  const view = sample('all up');
  const dayMs = 86_400_000;
  t.match(textOf(rendered(view)), '100% uptime Today');
  t.match(textOf(rendered(view, '', 'en', '', view.madeMs + dayMs)), '100% uptime 27 Nov');
});
