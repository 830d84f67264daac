import { createHash } from 'node:crypto';
import t from 'tap';
import type { Locale } from '../view/locale.ts';
import { htmlDocuments } from './documents.ts';
import { pastDays } from './past-days.ts';
import { allDocuments, documentsOf, elementsOf, rendered, sample, textOf } from './testing/rendered.ts';
import { componentOf, daysOf, idOf, largeView, madeMs, sectionOf, viewOf } from './testing/samples.ts';

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
  for (const days of [rows.quiet, rows['two in turn']]) {
    const bytes = Buffer.byteLength(rendered(largeView({ days, responseTimes: true }), '', 'en'));
    t.ok(bytes <= 60_000, `with the response times of all: ${bytes} bytes`);
  }
});

t.test(
  'As many incidents as a page tells and maintenance of each week have room beside 40 charts, in each language',
  async (t) => {
    const busy = busyView();
    for (const locale of ['en', 'ru'] as const) {
      const bytes = Buffer.byteLength(rendered(busy, '', locale));
      t.ok(bytes <= 60_000, `${locale}: ${bytes} bytes`);
    }
  },
);

t.test('Maintenance that recurs is told once, with all of its times, each of which has its address', async (t) => {
  const html = rendered(busyView());
  t.equal(html.match(/New database servers/g)?.length, 1);
  const times = [...html.matchAll(/id="?m-(\w+)"?>/g)].map(([, id]) => id);
  t.same(
    times,
    busyView().maintenance.map(({ id }) => id),
  );
  t.match(textOf(html), /29 Nov 2026, 15:03 – 17:03 · Europe\/Berlin \(GMT\+1\) 6 Dec 2026, 15:03 – 17:03 13 Dec 2026/);
});

t.test('An incident that is over stands under its day without that date, and its end is told once', async (t) => {
  const past = textOf(rendered(sample('outage'))).split('Recent incidents')[1] ?? '';
  t.match(past, 'Wednesday 18 November Checkout: outage Major impact · 15:03 · lasted 12 mins 14');
  t.match(past, 'Resolved · 23 Nov 2026, 16:15 Answers are as quick as before.', 'what people have said of it stays');
});

t.test('Days end where many incidents are told, and the history has the others', async (t) => {
  const busy = busyView();
  const shown = rendered(busy).match(/\/incidents\/[0-9a-f]{12}/g) ?? [];
  t.ok(shown.length >= 30 && shown.length < 40, `${shown.length}`);
  t.equal(new Set(rendered(busy, '/history').match(/\/incidents\/[0-9a-f]{12}/g)).size, 50);
});

/** The page of many components with response times, fifty incidents of eleven days, and maintenance of five weeks. */
function busyView() {
  const large = largeView({ days: daysOf(`${'u'.repeat(8)}p`.repeat(10)), responseTimes: true });
  const ended = large.incidents.find(({ isAutomatic, resolvedMs }) => isAutomatic && resolvedMs !== null);
  const [planned] = large.maintenance;
  if (ended?.resolvedMs == null || planned === undefined) throw new Error('the sample has neither');
  const lastedMs = ended.resolvedMs - ended.startedMs;
  const incidents = Array.from({ length: 50 }, (_, at) => {
    const startedMs = madeMs - (at + 1) * 5 * 3_600_000;
    const name = `Service ${1 + (at % 8)}.${1 + (at % 5)} of the shop`;
    return { ...ended, id: idOf(2_000 + at), componentNames: [name], startedMs, resolvedMs: startedMs + lastedMs };
  });
  const weekMs = 7 * 86_400_000;
  const maintenance = Array.from({ length: 5 }, (_, week) => {
    const times = { startsMs: planned.startsMs + week * weekMs, endsMs: planned.endsMs + week * weekMs };
    return { ...planned, ...times, id: idOf(3_000 + week) };
  });
  return { ...large, incidents, maintenance };
}

t.test('Response times are lines on a page of few, and charts to be opened on a page of many', async (t) => {
  const few = elementsOf(
    rendered(
      viewOf({
        sections: [sectionOf('Shop', 'operational', [componentOf('Checkout', { responseTimesMs: [120, null, 140] })])],
      }),
    ),
  );
  t.equal(few.filter(({ tagName }) => tagName === 'img').length, 0);
  t.equal(few.filter(({ attrs }) => attrs.some(({ value }) => value === 'sp')).length, 1);
  const many = elementsOf(rendered(largeView({ days: daysOf('u'), responseTimes: true })));
  const charts = many.filter(({ tagName }) => tagName === 'img');
  t.equal(charts.length, 40);
  for (const { attrs } of charts) {
    const given = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    t.match(given, { loading: 'lazy', src: /^\/status\/shop\/charts\/[a-z0-9]{12}\.svg\?lang=en$/, alt: /90 days/ });
  }
});

t.test('Everything that is written in it is text', async (t) => {
  for (const locale of ['en', 'ru'] as const)
    for (const { name, html, path } of documentsOf('hostile', sample('hostile'), locale)) {
      const elements = elementsOf(html);
      for (const { tagName, attrs } of elements)
        for (const { name, value } of attrs) {
          t.notMatch(name, /^on|^style$/, `no ${name} on <${tagName}>`);
          if (/^(?:href|src|xlink:href|action)$/.test(name))
            t.match(value, /^(?:https?:\/\/|mailto:|\/|#|data:image\/svg)/, `${name} of <${tagName}>`);
        }
      const count = (tag: string): number => elements.filter(({ tagName }) => tagName === tag).length;
      t.same(
        ['style', 'script', 'img', 'iframe', 'object', 'base', 'form'].map(count),
        [1, 1, 0, 0, 0, 0, path === '/subscribe' ? 1 : 0],
        name,
      );
      t.notMatch(html, '\u202e');
      t.notMatch(html, '\u0000');
      t.notMatch(html.match(/<style>(.*?)<\/style>/s)?.[1] ?? '', /evil|expression|alert/);
      t.notMatch(html.match(/<script>(.*?)<\/script>/s)?.[1] ?? '', /evil|alert/);
      t.match(textOf(html), '&lt;/style&gt;&lt;/title&gt;&lt;script&gt;alert(1)', 'it is shown as it was written');
    }
});

t.test('The policy lets the style and the script of the document work and nothing else', async (t) => {
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64');
  for (const { name, view, path, html } of allDocuments) {
    const document = htmlDocuments.find((each) => each.path === path);
    const policy = typeof document?.policy === 'function' ? document.policy(view) : '';
    const [style = '', script = ''] = [/<style>(.*?)<\/style>/s, /<script>(.*?)<\/script>/s].map(
      (each) => html.match(each)?.[1] ?? '',
    );
    t.same(
      policy.split('; '),
      [
        "default-src 'none'",
        `style-src 'sha256-${hashOf(style)}'`,
        `script-src 'sha256-${hashOf(script)}'`,
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ],
      name,
    );
  }
});

t.test('It tells no more than is known', async (t) => {
  const page = (parts: Parameters<typeof componentOf>[1]): string =>
    textOf(rendered(viewOf({ sections: [sectionOf(null, 'operational', [componentOf('A', parts)])] })));
  t.match(page({ uptimePercent: 99.999 }), ' 99.99% uptime ', 'cut, never rounded up');
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

t.test('Nothing is said of days whose incidents a view may lack', async (t) => {
  const [one] = sample('all up').incidents;
  if (one === undefined) throw new Error('The sample has an incident.');
  const many = Array.from({ length: 50 }, (_, at) => ({ ...one, id: idOf(2000 + at) }));
  const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  t.equal(pastDays(many, dateOf, '2026-11-27').at(-1)?.first, '2026-11-23', 'the day of the oldest');
  t.equal(pastDays(many.slice(0, 30), dateOf, '2026-11-27').at(-1)?.first, '2026-11-23', 'enough are told');
  t.equal(pastDays(many.slice(0, 29), dateOf, '2026-11-27').at(-1)?.first, '2026-11-14');
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
  for (let at = 0; at < 30; at += 1) rendered(view, '', 'ru');
  const costs = Array.from({ length: 30 }, () => {
    const before = process.cpuUsage();
    rendered(view, '', 'ru');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  // The least of many, with room for a slow machine: a page may take 60 ms with all that is read for it.
  t.ok(Math.min(...costs) <= 20, `${Math.min(...costs).toFixed(2)} ms`);
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
