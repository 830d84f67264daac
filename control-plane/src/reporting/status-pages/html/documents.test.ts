import { createHash } from 'node:crypto';
import { parse } from 'parse5';
import t from 'tap';
import type { Locale } from '../view/locale.ts';
import type { PageView } from '../view/page-view.ts';
import { htmlDocuments } from './documents.ts';
import { pastDays } from './past-days.ts';
import { componentOf, daysOf, idOf, largeView, madeMs, samples, sectionOf, viewOf } from './testing/samples.ts';

function rendered(view: PageView, path = '', locale: Locale = view.locale, id = '', nowMs = madeMs): string {
  const text = htmlDocuments.find((each) => each.path === path)?.render(view, { locale, nowMs, id });
  if (text === null || text === undefined) throw new Error(`There is no document at "${path}".`);
  return text;
}

function sample(name: string): PageView {
  const found = samples[name];
  if (found === undefined) throw new Error(`There is no sample "${name}".`);
  return found;
}

/** The text that a reader sees: without style, and with its white space in order. */
const textOf = (html: string): string =>
  html.replace(/<style>.*?<\/style>|<[^>]*>/gs, ' ').replace(/[\s\u00a0\u202f]+/g, ' ');

const allOf = (view: PageView, locale: Locale): readonly string[] => [
  rendered(view, '', locale),
  rendered(view, '/history', locale),
  ...view.incidents.map(({ id }) => rendered(view, '/incidents/:id', locale, id)),
];

t.test('A page of 40 components stays below 60,000 bytes', async (t) => {
  const rows = {
    quiet: daysOf('xuuuuuuuuuuuuuuuuuduuup'),
    'two in turn': daysOf('xu'.repeat(45)),
    'six in turn': daysOf('udpxmn'.repeat(15)),
  };
  for (const [name, days] of Object.entries(rows))
    for (const locale of ['en', 'ru'] as const) {
      const bytes = Buffer.byteLength(rendered(largeView({ days }), '', locale));
      t.ok(bytes <= 60_000, `${name}, ${locale}: ${bytes} bytes`);
    }
});

t.test('Everything that is written in it is text', async (t) => {
  const hostile = sample('hostile');
  for (const locale of ['en', 'ru'] as const)
    for (const html of allOf(hostile, locale)) {
      const found: string[] = [];
      walk(parse(html), (tag, attributes) => {
        found.push(tag);
        for (const { name, value } of attributes) {
          t.notMatch(name, /^on|^style$/, `no ${name} on <${tag}>`);
          if (name === 'href') t.notMatch(value, /^\s*(?:javascript|vbscript):/i);
        }
      });
      t.notOk(found.includes('script') || found.includes('img') || found.includes('iframe'));
      t.equal(found.filter((tag) => tag === 'style').length, 1);
      t.notMatch(html, '\u202e');
      t.notMatch(html, '\u0000');
      t.notMatch(html.match(/<style>(.*?)<\/style>/s)?.[1] ?? '', /evil|expression|alert/);
    }
});

t.test('The policy lets the style of the document work and nothing else', async (t) => {
  for (const view of Object.values(samples))
    for (const document of htmlDocuments.filter(({ path }) => path !== '/incidents/:id')) {
      const html = document.render(view, { locale: view.locale, nowMs: madeMs, id: '' }) ?? '';
      const style = html.match(/<style>(.*?)<\/style>/s)?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = typeof document.policy === 'function' ? document.policy(view) : document.policy;
      t.match(policy, `style-src 'sha256-${hash}'`);
      t.match(policy, "default-src 'none'");
      t.match(policy, "frame-ancestors 'none'");
      t.notMatch(policy, 'script-src');
    }
});

t.test('It tells no more than is known', async (t) => {
  const page = (parts: Parameters<typeof componentOf>[1]): string =>
    textOf(rendered(viewOf({ sections: [sectionOf(null, 'operational', [componentOf('A', parts)])] })));
  t.match(page({ uptimePercent: 99.999 }), '99.99% uptime · 90 days', 'cut, never rounded up');
  t.match(page({ uptimePercent: 99.29 }), '99.29% uptime', 'what is exact stays');
  t.match(page({ uptimePercent: 100 }), ' 100% uptime');
  t.match(page({ uptimePercent: null }), 'no uptime data');
  t.match(page({ measuredPercent: 89.99 }), 'measured 89% of the time');
  t.notMatch(page({ measuredPercent: 90 }), 'measured');
  t.notMatch(page({ showsUptime: false }), 'uptime');
  t.match(textOf(rendered(sample('nothing known'))), 'No data');
  t.notMatch(textOf(rendered(sample('nothing known'))), /operational/i);
  t.match(textOf(rendered(sample('empty'))), 'This page shows no components yet.');
  t.notMatch(textOf(rendered(sample('all up'))), 'out of date');
  t.match(textOf(rendered(sample('all up'), '', 'en', '', madeMs + 6 * 60_000)), 'out of date');
});

t.test('Bars say in words what colours show', async (t) => {
  const label = (letters: string, locale: Locale): string => {
    const view = viewOf({ sections: [sectionOf(null, 'operational', [componentOf('A', { days: daysOf(letters) })])] });
    return rendered(view, '', locale).match(/aria-label="(90 [^"]*)"/)?.[1] ?? '';
  };
  t.equal(label('', 'en'), '90 days: no trouble');
  t.equal(label('xxun', 'en'), '90 days: 2 with an outage, 1 without data');
  t.equal(label('dpm', 'en'), '90 days: 1 with a short outage, 1 degraded, 1 of maintenance');
  t.equal(label('xxn', 'ru'), '90 дней: 2 со сбоем, 1 без данных');
});

t.test('Every day has its bar, however they alternate', async (t) => {
  for (const letters of [
    '',
    'x',
    'xu'.repeat(45),
    'udpxmn'.repeat(15),
    'n'.repeat(60) + 'd' + 'u'.repeat(29),
    `x${'u'.repeat(88)}x`,
  ]) {
    const days = daysOf(letters);
    const view = viewOf({ sections: [sectionOf(null, 'operational', [componentOf('A', { days })])] });
    const svg = rendered(view).match(/<svg class=b viewBox="0 0 89.75 40".*?<\/svg>/s)?.[0] ?? '';
    t.equal(drawn(svg).join(''), days.join(''), letters.slice(0, 12));
  }
});

t.test('An incident that nobody has called anything is named after its components', async (t) => {
  const outage = sample('outage');
  t.match(textOf(rendered(outage)), 'Checkout: outage');
  t.match(textOf(rendered(outage, '', 'ru')), 'Checkout: сбой');
  const ended = textOf(rendered(outage, '/incidents/:id', 'en', idOf(903)));
  t.match(ended, 'Our checks of Checkout succeed again. The incident lasted 12 mins.');
  t.match(ended, 'Our checks have found a problem with Checkout.');
  t.match(textOf(rendered(outage, '/incidents/:id', 'ru', idOf(903))), 'Длительность инцидента: 12 мин');
  t.match(textOf(rendered(outage, '/incidents/:id', 'en', idOf(901))), 'A release dropped an index');
  const foreign = htmlDocuments.at(-1)?.render(outage, { locale: 'en', nowMs: madeMs, id: 'none' });
  t.equal(foreign, null);
});

t.test('Sections are open where something is wrong, or where there are few', async (t) => {
  const large = rendered(largeView({ days: daysOf('') }));
  t.equal((large.match(/<details class="card g" open/g) ?? []).length, 1);
  t.equal((large.match(/<details class="card g"/g) ?? []).length, 8);
  t.equal((rendered(sample('outage')).match(/<details class="card g" open/g) ?? []).length, 3);
});

t.test('Days without incidents are told together', async (t) => {
  const outage = sample('outage');
  const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  t.same(
    pastDays(outage.incidents, dateOf, '2026-11-27').map(({ first, last, incidents }) => [
      first,
      last,
      incidents.length,
    ]),
    [
      ['2026-11-27', '2026-11-27', 1],
      ['2026-11-24', '2026-11-26', 0],
      ['2026-11-23', '2026-11-23', 1],
      ['2026-11-19', '2026-11-22', 0],
      ['2026-11-18', '2026-11-18', 1],
      ['2026-11-14', '2026-11-17', 0],
    ],
  );
  t.same(pastDays([], dateOf, '2026-03-01', 3), [{ first: '2026-02-27', last: '2026-03-01', incidents: [] }]);
});

t.test('Links stay on the host and in the language of the reader', async (t) => {
  const own = { ...sample('outage'), url: 'https://status.shop.example' };
  t.match(rendered(own, '', 'ru'), 'href="/incidents/000000000386?lang=ru"');
  t.match(rendered(own, '/history', 'ru'), 'href="/?lang=ru"');
  t.match(rendered(sample('outage')), 'href="/status/shop/history?lang=en"');
  t.match(rendered(sample('outage')), '<link rel=canonical href="https://status.example/status/shop">');
  t.match(rendered(sample('empty')), '<meta name=robots content=noindex>');
  t.notMatch(rendered(sample('empty')), 'hreflang', 'a page of one language offers no other');
});

t.test('Times are those of the zone of the page', async (t) => {
  t.match(textOf(rendered(sample('outage'))), 'As of 15:03');
  t.match(textOf(rendered(sample('outage'))), 'Europe/Berlin (GMT+1)');
  t.match(textOf(rendered({ ...sample('outage'), timezone: 'America/New_York' })), 'As of 09:03');
  t.match(
    textOf(rendered({ ...sample('outage'), timezone: 'No/Zone' })),
    'As of 14:03',
    'UTC for one that is not known',
  );
});

t.test('A large page is made quickly', async (t) => {
  const view = sample('large');
  for (let at = 0; at < 100; at += 1) rendered(view, '', 'ru');
  const costs = Array.from({ length: 30 }, () => {
    const before = process.cpuUsage();
    rendered(view, '', 'ru');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  t.ok(Math.min(...costs) <= 5, `${Math.min(...costs).toFixed(2)} ms`);
});

/** The letters that a row of bars shows, by the corners and strokes of its paths. */
function drawn(svg: string): readonly string[] {
  const days: string[] = [];
  for (const [, name = '', path = ''] of svg.matchAll(/<path class=(\w+) d="([^"]*)"/g)) {
    const letter = name.at(-1) ?? '';
    let x = 0;
    for (const [, command, numbers = ''] of path.matchAll(/([Mmh])([^Mmh]*)/g)) {
      const steps = numbers.trim().split(' ').map(Number);
      if (command === 'M') x = steps[0] ?? 0;
      if (command === 'm') x += steps[0] ?? 0;
      if (name.length > 1 && command === 'M') days[x] = letter;
      if (command !== 'h') continue;
      for (const step of steps) {
        if (name.length === 1) for (let at = x; at < x + step; at += 1) days[at] = letter;
        x += step;
        if (name.length > 1) days[x] = letter;
      }
    }
  }
  return days;
}

type Attributes = readonly { readonly name: string; readonly value: string }[];

function walk(
  node: ReturnType<typeof parse> | ReturnType<typeof parse>['childNodes'][number],
  see: (tag: string, attributes: Attributes) => void,
): void {
  if ('tagName' in node) see(node.tagName, node.attrs);
  if ('childNodes' in node) for (const each of node.childNodes) walk(each, see);
}
