import { Parser } from 'commonmark';
import fc from '@parallax/testkit/fast-check';
import { parse } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import t from 'tap';
import { asHtml, asMail } from './as-html.ts';
import { asShort, segmentsOf, septetsOf } from './as-short.ts';
import { asText } from './as-text.ts';
import type { TextOptions } from './as-text.ts';
import { compose } from './compose.ts';
import { escapeHtml } from './escape/html.ts';
import { escapeMarkdown, markdownUrl } from './escape/markdown.ts';
import { escapeSlack } from './escape/slack.ts';
import { hostileNotice } from './hostile.fixture.ts';
import { isBalanced } from './plain.ts';
import { samples } from './samples.ts';

const sampleNamed = (locale: 'en' | 'ru', wanted: string) => {
  const found = samples(locale).find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`no sample ${wanted}`);
  return compose(found.notice);
};

t.test('a text that must be cut gives away the least first, and keeps title and link', async (t) => {
  const message = sampleNamed('en', 'opened, several at once');
  const whole = asText(message);
  t.match(whole, 'What each probe got');
  for (const most of [whole.length - 1, 700, 500, 400, 300]) {
    const text = asText(message, { most });
    t.ok(text.length <= most, `${most}`);
    t.ok(text.startsWith(message.title));
    t.match(text, message.links[0]?.url);
  }
  t.notMatch(asText(message, { most: whole.length - 1 }), 'What each probe got', 'the last section goes first');
  t.match(asText(message, { most: whole.length - 1 }), 'What is affected');
  t.match(asText(message, { most: 120 }), message.links[0]?.url, 'one link stays where there is little room');
});

t.test('layouts keep their limits and nothing is torn, whatever is said', async (t) => {
  fc.assert(
    fc.property(
      hostileNotice,
      fc.integer({ min: 0, max: 2000 }),
      fc.integer({ min: 1, max: 4 }),
      (notice, most, segments) => {
        const message = compose(notice);
        const text = asText(message, { most });
        t.ok(text.length <= most && text.isWellFormed(), 'text');
        const html = asText(message, {
          most,
          escape: escapeHtml,
          strong: (each) => `<b>${each}</b>`,
          link: (label) => label,
        });
        t.ok(html.length <= most, 'escaped text');
        t.notMatch(html, /&(?!(?:amp|lt|gt|quot|#39);)/u, 'no escape is torn apart');
        const markdown = asText(message, {
          most,
          escape: escapeSlack,
          strong: (each) => `*${each}*`,
          link: (label, url) => `<${url}|${label}>`,
        });
        t.ok(markdown.length <= most, 'markdown');
        const short = asShort(message, segments);
        t.ok(segmentsOf(short) <= segments && short.isWellFormed() && isBalanced(short), 'short message');
      },
    ),
    { numRuns: 40 },
  );
});

t.test('a short message says what happened and where to look', async (t) => {
  const english = asShort(sampleNamed('en', 'opened'));
  t.ok(septetsOf(english) !== undefined && english.length <= 160);
  t.match(english, /^Shop is down\nConnection refused\..*\nhttps:\/\/status\.example\/incidents\/231$/su);
  const russian = asShort(sampleNamed('ru', 'opened'));
  t.ok(russian.length <= 70);
  t.match(russian, /^Магазин не работает\nhttps:/u);
  t.match(asShort(sampleNamed('ru', 'opened'), 3), 'Соединение отклонено');
  t.equal(segmentsOf('a'.repeat(160)), 1);
  t.equal(segmentsOf('a'.repeat(161)), 2);
  t.equal(segmentsOf('a'.repeat(307)), 3);
  t.equal(segmentsOf('€'.repeat(80)), 1, 'signs of the extension take two septets');
  t.equal(segmentsOf('ж'.repeat(70)), 1);
  t.equal(segmentsOf('ж'.repeat(71)), 2);
});

t.test('a mail holds what is said as text, whatever it is', async (t) => {
  fc.assert(
    fc.property(hostileNotice, (notice) => {
      const message = compose(notice);
      const elements = elementsOf(parse(asHtml(message)));
      const names = new Set(elements.map(({ tagName }) => tagName));
      const allowed = 'html head meta title style body div table tbody tr td h1 h2 p a span'.split(' ');
      t.ok(
        [...names].every((name) => allowed.includes(name)),
        [...names].join(' '),
      );
      const h1 = elements.filter(({ tagName }) => tagName === 'h1').map(textOf);
      t.same(h1, [message.title]);
      t.same(
        elements.filter(({ tagName }) => tagName === 'h2').map(textOf),
        message.sections.map(({ heading }) => heading),
      );
      const cells = elements.filter(({ attrs }) =>
        attrs.some(({ name, value }) => name === 'class' && value.startsWith('value ')),
      );
      t.same(
        cells.map(textOf),
        message.facts.map(({ value }) => value),
      );
      const addresses = elements.flatMap(({ attrs }) =>
        attrs.filter(({ name }) => name === 'href').map(({ value }) => value),
      );
      t.same(addresses.sort(), message.links.map(({ url }) => url).sort());
      t.notOk(elements.some(({ attrs }) => attrs.some(({ name }) => name.startsWith('on') || name === 'src')));
    }),
    { numRuns: 40 },
  );
  const { subject, text } = asMail(sampleNamed('en', 'opened'));
  t.equal(subject, 'Shop is down');
  t.match(text, /^Shop is down\nConnection refused/u);
});

const commonMark: TextOptions = {
  escape: escapeMarkdown,
  strong: (text) => `**${text}**`,
  link: (label, url) => `[${label}](${markdownUrl(url)})`,
};

t.test('Markdown holds what is said as text, whatever it is', async (t) => {
  fc.assert(
    fc.property(hostileNotice, (notice) => {
      const message = compose(notice);
      const walker = new Parser().parse(asText(message, commonMark)).walker();
      const destinations: string[] = [];
      for (let step = walker.next(); step !== null; step = walker.next()) {
        if (!step.entering) continue;
        const { type, destination } = step.node;
        if (!['document', 'paragraph', 'text', 'softbreak', 'linebreak', 'strong', 'link'].includes(type))
          t.fail('only what the layout has', { type });
        if (type === 'link') destinations.push(destination ?? '');
      }
      t.same(
        destinations.map((each) => new URL(each).href),
        message.links.map(({ url }) => url),
      );
    }),
    { numRuns: 40 },
  );
});

function elementsOf(node: DefaultTreeAdapterTypes.Node): DefaultTreeAdapterTypes.Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap((child) => elementsOf(child)) : [];
  return 'tagName' in node ? [node, ...children] : children;
}

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map((child) => textOf(child)).join('') : '';
}

void t.test('in plain text the address of a page stands once, whatever can be done there', async (t) => {
  const url = 'https://monitor.example/alerts/snooze/x';
  const message = sampleNamed('en', 'opened, several at once');
  const links = [
    { label: 'Open', url: 'https://monitor.example/incidents/1', purpose: 'open' },
    { label: 'Acknowledge', url, purpose: 'acknowledge' },
    { label: 'Snooze', url, purpose: 'snooze' },
  ] as const;
  const text = asText({ ...message, links });
  t.ok(text.endsWith(`\n\nOpen: https://monitor.example/incidents/1\nAcknowledge / Snooze: ${url}`), text.slice(-200));
  t.match(asText({ ...message, links }, { link: (label) => `[${label}]` }), '[Open]\n[Acknowledge]\n[Snooze]');
});
