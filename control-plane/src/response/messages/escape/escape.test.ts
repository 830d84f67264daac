import { Parser } from 'commonmark';
import type { Node } from 'commonmark';
import fc from '@parallax/testkit/fast-check';
import { parseFragment } from 'parse5';
import t from 'tap';
import { plainLine } from '../plain.ts';
import { escapeHtml } from './html.ts';
import { escapeMarkdown, markdownUrl } from './markdown.ts';
import { escapeSlack } from './slack.ts';
import { escapeZulip } from './zulip.ts';

const bits = [
  ...Array.from('\\`*_{}[]()<>#+-.!|~=&"\'$^:@/ab 1'),
  '**b**',
  '[x](https://evil.example)',
  '![x](y)',
  '<script>',
  '<@U1>',
  '<!channel>',
  '@everyone',
  '&amp;',
  '1. ',
  '- ',
  '# ',
  '```',
  '||x||',
  '{{DATE(2026-01-01T00:00:00Z,SHORT)}}',
  ':smile:',
  '@**all**',
  'https://evil.example',
  'www.evil.example',
  '$$x$$',
];
const hostileLine = fc.array(fc.constantFrom(...bits), { maxLength: 25 }).map((parts) => plainLine(parts.join('')));

const withoutBreaks = (text: string): string => text.replaceAll('\u200b', '');

t.test('CommonMark finds nothing but the text', async (t) => {
  fc.assert(
    fc.property(hostileLine, (line) => {
      const found = nodesOf(`a ${escapeMarkdown(line)} b`);
      t.same([...new Set(found.map(({ type }) => type))].sort(), ['document', 'paragraph', 'text']);
      t.equal(withoutBreaks(found.map(({ literal }) => literal ?? '').join('')), `a ${line} b`);
      const first = nodesOf(escapeMarkdown(line));
      t.ok(
        first.every(({ type }) => ['document', 'paragraph', 'text'].includes(type)),
        'nor at the beginning of a line',
      );
    }),
  );
  const linked = nodesOf(`[${escapeMarkdown('a](b) [c')}](${markdownUrl('https://a.example/x?a=(b)&c=>')})`);
  t.equal(linked.find(({ type }) => type === 'link')?.destination, 'https://a.example/x?a=(b)&c=%3E');
});

t.test('HTML finds nothing but the text', async (t) => {
  fc.assert(
    fc.property(hostileLine, (line) => {
      const { childNodes } = parseFragment(`<b title="${escapeHtml(line)}">${escapeHtml(line)}</b>`);
      const [element] = childNodes;
      if (childNodes.length !== 1 || element === undefined || !('attrs' in element)) return t.fail('one element');
      t.same(element.attrs, [{ name: 'title', value: line }]);
      const texts = element.childNodes.map((node) => ('value' in node ? node.value : node.nodeName));
      t.equal(texts.join(''), line);
    }),
  );
});

t.test('markups without escapes', async (t) => {
  t.equal(escapeSlack('<!channel> & app_pool_01'), '&lt;!channel&gt; &amp; app_pool_01');
  t.equal(escapeSlack('*a* _b_ ~c~ `d`'), '\u2217a\u2217 \u02cdb\u02cd \u223cc\u223c \u02cbd\u02cb');
  t.equal(escapeSlack(':tada: 12:30:45'), ':\u200btada: 12:\u200b30:45');
  t.equal(withoutBreaks(escapeZulip('@**all** [a](b) $$x$$ :x: *a*')), '@∗∗all∗∗ [a](b) $$x$$ :x: ∗a∗');
  t.equal(escapeZulip('- a'), '\u200b- a');
  fc.assert(
    fc.property(hostileLine, (line) => {
      t.notMatch(escapeSlack(line), /[<>`]|&(?!amp;|lt;|gt;)/u);
      t.notMatch(escapeZulip(line), /[*`]|\]\(|\$\$|:[\w+-]+:|https?:\/\//u);
    }),
  );
});

function nodesOf(markdown: string): Node[] {
  const walker = new Parser().parse(markdown).walker();
  const found: Node[] = [];
  for (let step = walker.next(); step !== null; step = walker.next()) if (step.entering) found.push(step.node);
  return found;
}
