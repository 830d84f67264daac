import { isDeepStrictEqual } from 'node:util';
import { Problem } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { jsonPointer, parseJson } from './json-text.ts';

const limits = { maxDepth: 32 };

/** What `JSON.parse` makes of a text, or undefined when it refuses. */
function native(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function ours(text: string): { readonly value: unknown } | { readonly code: string; readonly path: string } {
  try {
    return { value: parseJson(text, limits) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.errors?.[0]?.code ?? '', path: error.errors?.[0]?.path ?? '' };
  }
}

function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

void t.test('a JSON text is read as JSON.parse reads it', async () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })).filter(isStorable);
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, false),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      text,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(
        text.filter((key) => !['__proto__', 'prototype'].includes(key)),
        tie('value'),
        { maxKeys: 5, noNullPrototype: true },
      ),
    ),
  })).value;
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, '\t', ' \n\r'), (given, indent) => {
      const written = JSON.stringify(given, null, indent);
      return isDeepStrictEqual(ours(written), { value: JSON.parse(written) as unknown });
    }),
    { numRuns: 300 },
  );
});

void t.test(
  'a text that JSON.parse refuses is refused, and one that it takes is taken or refused for a reason',
  async (t) => {
    const token = fc.constantFrom(
      ...Array.from('{}[]:,"\\u0041 \n\t-+.eE019'),
      'true',
      'null',
      '"a"',
      '"b":',
      'NaN',
      "'",
      '\u2028',
      '\ud800',
    );
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        const expected = native(text);
        const got = ours(text);
        if (expected === undefined) {
          seen.refused += 1;
          return 'code' in got && got.code !== '';
        }
        seen.taken += 1;
        return 'value' in got ? JSON.stringify(got.value) === JSON.stringify(expected.value) : got.code !== 'syntax';
      }),
      { numRuns: 20_000 },
    );
    t.ok(seen.taken > 100 && seen.refused > 100, JSON.stringify(seen));
  },
);

void t.test('what JSON.parse lets through is refused with its place', async (t) => {
  const cases: [text: string, code: string, path: string][] = [
    ['{"a":{"b":1,"b":2}}', 'duplicate_key', '/a/b'],
    ['{"a":1,"\\u0061":2}', 'duplicate_key', '/a'],
    ['[{"toString":1,"toString":2}]', 'duplicate_key', '/0/toString'],
    ['{"a":[0,{"__proto__":1}]}', 'forbidden_key', '/a/1/__proto__'],
    ['{"constructor":{"prototype":1}}', 'forbidden_key', '/constructor/prototype'],
    ['{"a/b~c":"\\u0000"}', 'nul_character', '/a~1b~0c'],
    ['{"\\u0000":1}', 'nul_character', ''],
    ['["\\udc00\\ud800"]', 'lone_surrogate', '/0'],
    ['[1e309]', 'number_out_of_range', '/0'],
    [`${'['.repeat(33)}${']'.repeat(33)}`, 'too_deep', '/0'.repeat(32)],
    ['{"a":1}x', 'syntax', ''],
  ];
  for (const [text, code, path] of cases) t.same(ours(text), { code, path }, text);
  t.match(ours(`${'['.repeat(32)}${']'.repeat(32)}`), { value: [[]] }, '32 levels are taken');
  t.match(ours('{"constructor":1,"prototype":2}'), { value: { prototype: 2 } }, 'harmless alone');
  t.match(ours('"\\ud83d\\ude00"'), { value: '😀' }, 'a whole pair');
});

void t.test('a hostile text costs little time', async (t) => {
  const texts = [
    '['.repeat(262_144),
    '{"a":'.repeat(50_000),
    `"${'\\u0041'.repeat(40_000)}"`,
    `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":0`).join()}}`,
    `[${' '.repeat(262_000)}]`,
    '1'.repeat(262_144),
  ];
  const took = await processorMs(() => {
    for (const text of texts) ours(text);
  });
  t.ok(took < 1_000, `${Math.round(took)} ms`);
});

void t.test('pointers are written as RFC 6901 says', async (t) => {
  t.equal(jsonPointer(['a/b', 0, '~']), '/a~1b/0/~0');
  t.equal(jsonPointer([]), '');
});
