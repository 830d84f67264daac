import fc from '@parallax/testkit/fast-check';
import { parseFragment } from 'parse5';
import t from 'tap';
import { markdown, plainText } from './markdown.ts';

const said = (text: string): string => markdown(text).text;

t.test('The small set of elements is what it is', async (t) => {
  t.equal(said('one\ntwo\n\n**b** *i* `c`'), '<p>one<br>two</p><p><strong>b</strong> <em>i</em> <code>c</code></p>');
  t.equal(said('- a\n- b\n\n3. c'), '<ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li></ol>');
  t.equal(said('## Head\n\n```\n<b>\n```'), '<p><strong>Head</strong></p><pre><code>&lt;b&gt;\n</code></pre>');
  t.equal(
    said('[a](https://a.example/?b=1&c=2) https://d.example <mailto:e@f.example>'),
    [
      '<p><a href="https://a.example/?b=1&amp;c=2" rel="nofollow noopener">a</a> ',
      '<a href="https://d.example" rel="nofollow noopener">https://d.example</a> ',
      '<a href="mailto:e@f.example" rel="nofollow noopener">mailto:e@f.example</a></p>',
    ].join(''),
  );
  t.equal(plainText('**a** [b](https://c.example)\nd\n\n- e', 100), 'a b d e');
});

t.test('What loads, runs or deceives stays text', async (t) => {
  t.equal(said('<script>alert(1)</script>'), '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>');
  for (const url of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,1', '//evil.example', '/here'])
    t.notMatch(said(`[x](${url}) <${url}>`), '<a', url);
  t.notMatch(said('![x](https://evil.example/x.png)'), '<img');
  t.equal(said('a\u202eb&#x202e;c'), '<p>abc</p>', 'overrides of direction go, written or named');
});

const bits = [
  ...Array.from('\\`*_{}[]()<>#+-.!|~=&"\'/ a1\n'),
  '[x](javascript:alert(1))',
  '![x](https://a.example)',
  '<img src=x onerror=alert(1)>',
  '" onclick="x',
  '&lt;script&gt;',
  'https://a.example/"><b>',
  '- ',
  '1. ',
  '```',
  '\u202e',
];
const allowed = new Set(['p', 'br', 'strong', 'em', 'code', 'pre', 'ul', 'ol', 'li', 'a']);

t.test('Whatever is written, only these elements and attributes come out', async (t) => {
  const hostile = fc.array(fc.constantFrom(...bits), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(hostile, (text) => {
      for (const { tagName, attrs } of elementsIn(parseFragment(said(text)))) {
        if (!allowed.has(tagName)) throw new Error(`<${tagName}>`);
        for (const { name, value } of attrs)
          if (!(name === 'rel' || name === 'start' || (name === 'href' && /^(https?:\/\/|mailto:)/i.test(value))))
            throw new Error(`${name}="${value}"`);
      }
    }),
  );
  t.pass();
});

t.test('Deep and long texts cost little', async (t) => {
  const many = 10_000;
  const texts = {
    brackets: '['.repeat(many),
    links: '[a]('.repeat(many),
    emphasis: '*'.repeat(many) + 'a' + '*'.repeat(many),
    lists: `${'- '.repeat(many)}a`,
    quotes: `${'>'.repeat(many)}a`,
    ticks: Array.from({ length: 200 }, (_, at) => '`'.repeat(at)).join(' '),
    headings: '# '.repeat(many),
  };
  for (const text of Object.values(texts)) said(text);
  for (const [name, text] of Object.entries(texts)) {
    // The least of three: what else the machine does is not counted.
    const costs = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      said(text);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    t.ok(Math.min(...costs) <= 50, `${name}: ${Math.min(...costs).toFixed(1)} ms`);
    t.ok((said(text).match(/<(?:strong|em|ul|blockquote)>/g) ?? []).length <= 25, `${name}: little nests`);
  }
});

type Element = {
  readonly tagName: string;
  readonly attrs: readonly { readonly name: string; readonly value: string }[];
};

function elementsIn(
  node: ReturnType<typeof parseFragment> | ReturnType<typeof parseFragment>['childNodes'][number],
): Element[] {
  const own = 'tagName' in node ? [{ tagName: node.tagName, attrs: node.attrs }] : [];
  return 'childNodes' in node ? [...own, ...node.childNodes.flatMap((each) => elementsIn(each))] : own;
}
