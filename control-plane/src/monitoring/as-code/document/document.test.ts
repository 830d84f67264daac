import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { AsCodeError } from '../errors.ts';
import { readAsCode } from './read.ts';
import { mostCharacters, readYaml, writeYaml } from './yaml.ts';

const head = 'parallax: 1\nmonitors:\n';

function refused(text: string): string {
  try {
    readAsCode(text, 'a.yaml');
  } catch (error) {
    if (error instanceof AsCodeError) return error.message;
    throw error;
  }
  return '';
}

void t.test('what is wrong with a file is told with line and column', async (t) => {
  const cases: readonly (readonly [what: string, text: string, told: RegExp])[] = [
    ['nothing', '', /a\.yaml:1:1: /],
    ['no YAML', `${head}  - name: "a\n`, /a\.yaml:\d+:\d+: .*quote/i],
    ['a tab', `${head}\t- name: a\n`, /a\.yaml:3:1: .*tab/i],
    ['another version', 'parallax: 2\n', /a\.yaml:1:1: .*must be 1/],
    [
      'an unknown field',
      `${head}  - name: a\n    url: https://a.example/\n    intervall_seconds: 5\n`,
      /a\.yaml:5:5: .*intervall_seconds/,
    ],
    [
      'a key twice',
      `${head}  - name: a\n    url: https://a.example/\n    name: b\n`,
      /a\.yaml:5:5: .*"name" stands here twice/,
    ],
    [
      'another type',
      `${head}  - name: a\n    url: https://a.example/\n    interval_seconds: "60"\n`,
      /a\.yaml:5:5: interval_seconds: /,
    ],
    ['a bound', `${head}  - name: a\n    url: https://a.example/\n    tags: [ok, ""]\n`, /a\.yaml:5:16: /],
    ['no name', `${head}  - url: https://a.example/\n`, /a\.yaml:3:5: name: /],
    [
      'null',
      `${head}  - name: a\n    url: https://a.example/\n    description:\n`,
      /a\.yaml:5:5: description must not be null/,
    ],
    ['no protocol', `${head}  - name: a\n    url: a.example\n`, /a\.yaml:4:5: the protocol is needed/],
    ['an identifier', `${head}  - name: a\n    url: https://a.example/\n    id: 7\n`, /a\.yaml:5:5: .*"id"/],
    ['an alias', `${head}  - &a { name: a, url: https://a.example/ }\n  - *a\n`, /a\.yaml:3:\d+: anchors and aliases/],
    ['a tag', `${head}  - name: !!binary aGk=\n    url: https://a.example/\n`, /a\.yaml:3:\d+: .*binary/],
    ['two documents', 'parallax: 1\n---\nparallax: 1\n', /a\.yaml:\d:1: .*document/i],
    [
      'no number',
      `${head}  - name: a\n    url: https://a.example/\n    interval_seconds: .inf\n`,
      /a\.yaml:5:23: the number/,
    ],
    ['a NUL', `${head}  - name: "a\\0"\n    url: https://a.example/\n`, /a\.yaml:3:11: a NUL/],
    [
      'a secret in the clear',
      `${head}  - name: a\n    url: https://a.example/\n    settings: { username: u, password: open-sesame }\n`,
      /a\.yaml:5:30: password is a secret/,
    ],
  ];
  for (const [what, text, told] of cases) {
    t.match(refused(text), told, what);
    t.notMatch(refused(text), 'open-sesame', `${what}: no secret`);
  }
});

void t.test('a file cannot grow, nest or repeat itself into a standstill', async (t) => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const below = Array.from({ length: 9 }, () => `*a${level}`).join(', ');
    return `a${level + 1}: &a${level + 1} [${below}]`;
  });
  const hostile: readonly (readonly [what: string, text: string])[] = [
    ['a bomb of aliases', `a0: &a0 lol\n${levels.join('\n')}\n`],
    ['a million open brackets', '['.repeat(1_000_000)],
    ['50 levels in flow', `${'['.repeat(50)}${']'.repeat(50)}`],
    ['5,000 levels in block', Array.from({ length: 1_500 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
    ['10 MB', 'a'.repeat(10_000_000)],
    ['100,000 keys', Array.from({ length: 100_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['keys of the prototype', 'parallax: 1\n__proto__: { monitors: [] }\nconstructor: 1\n'],
  ];
  for (const [what, text] of hostile) {
    const took = await processorMs(() => t.match(refused(text), /a\.yaml:\d+:\d+: /, what));
    t.ok(took < 20_000, `${what}: in time`);
  }
  t.ok(mostCharacters < 10_000_000);
});

void t.test('texts come back as they were written', async (t) => {
  const texts = [
    '',
    ' a ',
    'a\r\nb',
    'a\n',
    '\n\n a\n',
    'no',
    '012',
    '1e3',
    '~',
    '- a',
    'a: b',
    '#a',
    '\u0085',
    '\u2028a',
    '\ufeffa',
    '𝄞',
    '"',
    "'",
    '\t',
  ];
  const data = { texts, keys: Object.fromEntries(texts.map((text, index) => [`${text}${index}`, text])) };
  t.same(readYaml(writeYaml(data), 'a').data, data);
});
