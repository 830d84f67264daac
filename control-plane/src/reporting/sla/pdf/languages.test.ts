import t from 'tap';
import { wordsFor } from './languages.ts';

t.test('a language is found by its tag, and English stands for those that there are not', async (t) => {
  t.equal(wordsFor('ru').language, 'ru');
  t.equal(wordsFor('RU-ru').language, 'ru');
  t.equal(wordsFor('en_GB').language, 'en');
  for (const unknown of ['xx', '', '../etc', '__proto__']) t.equal(wordsFor(unknown).language, 'en');
});

t.test('no language leaves anything unsaid', async (t) => {
  for (const language of ['en', 'ru']) {
    for (const [path, said] of sayings(wordsFor(language))) t.ok(said.trim().length > 0, `${language} ${path}`);
  }
});

/** Everything that is said, functions with sample values. */
function sayings(words: unknown, path = ''): [string, string][] {
  if (typeof words === 'string') return [[path, words]];
  if (typeof words === 'function') return [[path, (words as (...values: string[]) => string)('1', '2', '3')]];
  return Object.entries(words as object).flatMap(([name, inner]) => sayings(inner, `${path}.${name}`));
}
