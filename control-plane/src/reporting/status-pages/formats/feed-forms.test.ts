import assert from 'node:assert/strict';
import fc from '@parallax/testkit/fast-check';
import { parseAtomFeed, parseJsonFeed, parseRssFeed } from 'feedsmith';
import { parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { feedOf } from './feed.ts';
import { feedDocuments } from './feed-forms.ts';
import { anyPage } from './testing/any-page.ts';
import { rendered, textOf } from './testing/render.ts';
import { emptyPageOf, incidentOf, maintenanceOf, nowMs, pageOf } from './testing/samples.ts';

const rssOf = (view = pageOf(), path = '/feed.rss', id = '') => parseRssFeed(textOf(feedDocuments, path, view, id));

/** The texts of the elements of that name, as a strict reader of XML 1.0 sees them. Throws on what is not well-formed. */
function textsOf(xml: string, element: string): string[] {
  const texts: string[] = [];
  let open: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => {
    if (name === element) open = [];
  });
  parser.on('text', (text) => open.push(text));
  parser.on('closetag', ({ name }) => {
    if (name === element) texts.push(open.join(''));
    open = [];
  });
  parser.write(xml).close();
  return texts;
}

/** A text as XML 1.0 can hold it. */
const holdable = (text: string): string =>
  Array.from(text.replaceAll(/\r\n?/g, '\n'))
    .filter((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isControl = code < 0x20 && code !== 9 && code !== 10;
      return !isControl && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
    })
    .join('');

void t.test('an incident is one entry that lists its updates, dated by the newest', async (t) => {
  const feed = rssOf();
  t.equal(feed.title, 'Shop: incidents and maintenance');
  t.equal(feed.link, 'https://parallax.example/status/shop');
  t.equal(feed.language, 'en');
  t.match(feed.atom?.links, [{ rel: 'self', href: 'https://parallax.example/status/shop/feed.rss' }]);
  t.same(
    feed.items?.map((item) => [item.title, item.pubDate]),
    [
      ['Checkout: outage', 'Fri, 27 Nov 2026 11:50:00 +0000'],
      ['Maintenance', 'Fri, 27 Nov 2026 11:00:00 +0000'],
      ['Maintenance: Database upgrade', 'Tue, 24 Nov 2026 12:00:00 +0000'],
      ['Slow search', 'Tue, 24 Nov 2026 13:00:00 +0000'],
      ['Maintenance: Move to another hall', 'Sun, 22 Nov 2026 13:00:00 +0000'],
    ].toSorted((a, b) => Date.parse(b[1] ?? '') - Date.parse(a[1] ?? '')),
  );
  const [first] = feed.items ?? [];
  t.match(first, {
    link: 'https://parallax.example/status/shop/incidents/inc000000001',
    guid: { value: 'urn:x-parallax:page00000001:incident:inc000000001', isPermaLink: false },
  });
  const html = first?.description ?? '';
  const places = ['Some customers recover.', 'A network provider fails.', 'We route around it.', 'The outage began.'];
  t.same(
    places.map((text) => html.indexOf(text)).toSorted((a, b) => a - b),
    places.map((text) => html.indexOf(text)),
    'the newest first',
  );
  t.ok(places.every((text) => html.includes(text)));
  t.match(html, /27 Nov 2026, 12:50 (GMT\+1|CET)/, 'by the clock of the page');
  t.match(html, '<p>Affected: Checkout</p>');
});

void t.test('an entry keeps its id and changes its time with a new update', async (t) => {
  const before = rssOf().items?.[0];
  const incident = incidentOf();
  const update = { ...incidentOf().updates[0], id: 'upd000000004', status: 'resolved', body: null } as const;
  const later = { createdMs: nowMs, displayMs: nowMs, impacts: [] };
  const view = pageOf({ incidents: [{ ...incident, updates: [{ ...update, ...later }, ...incident.updates] }] });
  const after = rssOf(view).items?.find(({ guid }) => guid?.value === before?.guid?.value);
  t.equal(after?.pubDate, 'Fri, 27 Nov 2026 12:00:00 +0000');
  t.match(after?.description, 'The outage ended.');
  const atom = parseAtomFeed(textOf(feedDocuments, '/feed.atom', view));
  t.equal(atom.entries?.[0]?.id, before?.guid?.value, 'every form has the same id');
  t.equal(atom.entries?.[0]?.published, '2026-11-27T11:00:00.000Z');
  t.equal(atom.entries?.[0]?.updated, '2026-11-27T12:00:00.000Z');
});

void t.test('Atom and JSON Feed tell the same as RSS', async (t) => {
  const { items = [] } = rssOf();
  const atom = parseAtomFeed(textOf(feedDocuments, '/feed.atom', pageOf()));
  t.match(atom, {
    title: { value: 'Shop: incidents and maintenance' },
    subtitle: { value: 'What our shop is doing' },
  });
  t.equal(atom.updated, '2026-11-27T11:50:00.000Z');
  t.same(
    atom.links?.map(({ rel, href }) => [rel, href]),
    [
      ['alternate', 'https://parallax.example/status/shop'],
      ['self', 'https://parallax.example/status/shop/feed.atom'],
    ],
  );
  const json = parseJsonFeed(textOf(feedDocuments, '/feed.json', pageOf()));
  t.match(json, {
    language: 'en',
    home_page_url: 'https://parallax.example/status/shop',
    feed_url: 'https://parallax.example/status/shop/feed.json',
  });
  const ofRss = items.map((item) => [item.guid?.value, item.title, item.link, item.description]);
  t.same(
    atom.entries?.map((entry) => [entry.id, entry.title?.value, entry.links?.[0]?.href, entry.content?.value]),
    ofRss,
  );
  t.same(
    json.items?.map((item) => [item.id, item.title, item.url, item.content_html]),
    ofRss,
  );
});

void t.test('a component and a section have feeds of their own, and nothing else has', async (t) => {
  for (const [id, name, titles] of [
    ['cmp000000003', 'Shop – API', ['Maintenance']],
    ['cmp000000002', 'Shop – Search', ['Slow search']],
    ['sec000000001', 'Shop – Shop', ['Checkout: outage', 'Slow search', 'Maintenance: Database upgrade']],
  ] as const) {
    const feed = rssOf(pageOf(), '/components/:id/feed.rss', id);
    t.equal(feed.title, `${name}: incidents and maintenance`);
    t.match(feed.atom?.links?.[0]?.href, `/components/${id}/feed.rss`);
    t.ok(titles.every((title) => feed.items?.some((item) => item.title === title)));
  }
  for (const ending of ['rss', 'atom', 'json']) {
    for (const id of ['gone00000000', '', 'null', '__proto__']) {
      const expected = id === '' ? 'string' : 'object';
      t.equal(typeof rendered(feedDocuments, `/components/:id/feed.${ending}`, pageOf(), id), expected);
    }
  }
});

void t.test('feeds speak the language of the page, and may be empty', async (t) => {
  const feed = rssOf(pageOf({ locale: 'ru' }));
  t.equal(feed.title, 'Shop: инциденты и технические работы');
  t.equal(feed.language, 'ru');
  t.equal(feed.items?.[0]?.title, 'Checkout: сбой');
  t.match(feed.items?.[0]?.description, 'Сбой начался.');
  t.same(rssOf(emptyPageOf()).items ?? [], []);
  t.equal(
    parseAtomFeed(textOf(feedDocuments, '/feed.atom', emptyPageOf())).title?.value,
    'Shop: incidents and maintenance',
  );
  t.same(JSON.parse(textOf(feedDocuments, '/feed.json', emptyPageOf())).items, []);
});

void t.test('fifty entries at most, and none is newest because its time is still to come', async (t) => {
  const incidents = Array.from({ length: 60 }, (_, index) =>
    incidentOf({ id: `inc0000001${String(index).padStart(2, '0')}`, updates: [], startedMs: nowMs - index * 60_000 }),
  );
  const planned = maintenanceOf({ startsMs: nowMs + 9e9, endsMs: nowMs + 9e9, updatedMs: nowMs - 5_000 });
  const feed = rssOf(pageOf({ incidents, maintenance: [planned] }));
  t.equal(feed.items?.length, 50);
  t.equal(feed.items?.[1]?.title, 'Maintenance: Database upgrade');
});

/** Names of tags in a fragment of HTML; an attribute is named too, since there are to be none. */
function tagsOf(html: string): Set<string> {
  const tags = new Set<string>();
  const visit = (node: DefaultTreeAdapterTypes.ChildNode): void => {
    if ('tagName' in node) {
      tags.add(node.tagName);
      for (const { name } of node.attrs) tags.add(`@${name}`);
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  for (const node of parseFragment(html).childNodes) visit(node);
  return tags;
}

void t.test(
  'whatever people call things, feeds are well-formed, say just that and hold no markup of others',
  async () => {
    fc.assert(
      fc.property(anyPage, (view) => {
        const feed = feedOf(view, { locale: view.locale, nowMs, id: '' });
        if (feed === null) throw new Error('The page has a feed');
        const titles = [feed.title, ...feed.entries.map(({ title }) => title)].map(holdable);
        assert.deepEqual(textsOf(textOf(feedDocuments, '/feed.rss', view), 'title'), titles);
        const atom = textOf(feedDocuments, '/feed.atom', view);
        assert.deepEqual(textsOf(atom, 'title'), titles);
        assert.deepEqual(
          JSON.parse(textOf(feedDocuments, '/feed.json', view)).items.map(({ title }: { title: string }) => title),
          feed.entries.map(({ title }) => title),
        );
        for (const html of textsOf(atom, 'content')) {
          const others = [...tagsOf(html)].filter((tag) => !['p', 'br', 'small', 'strong'].includes(tag));
          assert.deepEqual(others, [], html);
        }
      }),
    );
  },
);
