import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { instrument } from '../mutation/instrument.ts';
import { mutantsOf, mutate } from '../mutation/mutants.ts';
import { become, taken, TooManySteps } from '../mutation/switch.ts';

const changesOf = (source: string, functions?: readonly string[]) =>
  mutantsOf(mutate('file.ts', source, functions)).map(({ before, after }) => `${before} → ${after}`);

t.test('every operator makes its changes', async (t) => {
  const made: readonly (readonly [source: string, changes: readonly string[]])[] = [
    ['x = a < b;', ['x = a < b; → ', '< → <=', '< → >=']],
    ['x = a && !b;', ['x = a && !b; → ', '&& → ||', '!b → b']],
    [
      "x = a === 'é' ? 1 : b;",
      ["x = a === 'é' ? 1 : b; → ", "a === 'é' → true", "a === 'é' → false", '=== → !==', "'é' → ''", '1 → 2', '1 → 0'],
    ],
    ['x += a ?? b;', ['x += a ?? b; → ', '+= → -=', 'a ?? b → a', 'a ?? b → b']],
    [
      'f(list.filter(g).sort(), Math.min(a, b));',
      [
        'f(list.filter(g).sort(), Math.min(a, b)); → ',
        'list.filter(g).sort() → list.filter(g)',
        'list.filter(g) → list',
        'min → max',
      ],
    ],
    ['x = a?.b?.(c);', ['x = a?.b?.(c); → ', '?. → .', '?. → ']],
    ['function f(): number { return g(); }', ['g() → undefined']],
    ['const f = (x: string) => `${x}`;', ['`${x}` → undefined', "`${x}` → ''"]],
    ['while (f()) { continue; }', ['f() → false', 'continue; → ']],
    ['if (a) throw new RangeError(`${a + 1}`);', ['a → true', 'a → false', 'throw new RangeError(`${a + 1}`); → ']],
  ];
  for (const [source, changes] of made) t.same(changesOf(source).toSorted(), [...changes].toSorted(), source);
});

t.test('types, imports, keys and texts of errors are left alone', async (t) => {
  t.same(
    changesOf(
      "import { a } from './a.ts';\ntype B = 'x' | 1;\nconst c = { 'd-e': f, g: h } as const satisfies I<'j'>;",
    ),
    [],
  );
  const source = "class OddError extends Error { constructor() { super(); } }\nlet e = new OddError('a' + 1);";
  t.same(changesOf(source), []);
});

t.test('only the named functions are changed where there are names', async (t) => {
  const source = 'function f() { return g(); }\nconst h = () => i();';
  t.same(changesOf(source, ['h']), ['i() → undefined']);
  t.same(changesOf(source, ['f']), ['g() → undefined']);
});

t.test('a mutant knows its place', async (t) => {
  const [, first, second] = mutantsOf(mutate('file.ts', '// é\n  x = 0 + 0;\n'));
  t.match(first, { file: 'file.ts', line: 2, text: 'x = 0 + 0;', operator: 'arithmetic' });
  t.match(second, { line: 2, before: '0', after: '1', nth: 1 });
  t.match(mutantsOf(mutate('file.ts', 'x = 0 + 0;')).at(-1), { before: '0', after: '(-1)', nth: 2 });
});

t.test('instrumented code is any of its mutants, and is stopped when it does not end', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-mutation-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const source = [
    'export function count(to: number): number {',
    '  let found = 0;',
    '  for (let at = 0; at < to; at += 1) found += at?.valueOf() ?? 0;',
    '  return found;',
    '}',
  ].join('\n');
  const mutated = mutate('count.ts', source);
  const file = path.join(folder, 'count.ts');
  const switchUrl = pathToFileURL(path.resolve(import.meta.dirname, '../mutation/switch.ts')).href;
  writeFileSync(file, instrument(mutated, 10, switchUrl));
  const { count } = (await import(pathToFileURL(file).href)) as { count: (to: number) => number | undefined };
  become(-1, 100);
  t.equal(count(4), 6);
  t.equal(taken, 5, 'a call and four turns');
  const mutants = mutantsOf(mutated);
  const as = (before: string, after: string): number | undefined => {
    const index = mutants.findIndex((mutant) => mutant.before === before && mutant.after === after);
    t.not(index, -1, `${before} → ${after}`);
    become(10 + index, 100);
    return count(4);
  };
  t.equal(as('<', '<='), 10);
  t.equal(as('at < to', 'false'), 0);
  t.equal(as('found', 'undefined'), undefined);
  t.equal(as('at?.valueOf() ?? 0', '0'), 0);
  t.throws(() => as('+=', '-='), TooManySteps, 'the loop goes the other way');
  become(-1, Number.POSITIVE_INFINITY);
});
