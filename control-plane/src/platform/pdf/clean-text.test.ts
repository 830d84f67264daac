import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { cleanText, isolated } from './clean-text.ts';

const unicode = fc.string({ unit: 'binary', maxLength: 200 });

t.test('whatever a stranger writes becomes one line without anything unseen', async () => {
  fc.assert(
    fc.property(unicode, (text) => {
      const clean = cleanText(text);
      const seen = clean.replaceAll(/\u200C|\u200D|[\u{E0020}-\u{E007F}]/gu, '');
      return (
        clean.isWellFormed() && !/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/u.test(seen) && clean === clean.trim()
      );
    }),
  );
});

t.test('cleaning twice is cleaning once', async () => {
  fc.assert(fc.property(unicode, (text) => cleanText(cleanText(text)) === cleanText(text)));
});

t.test('overrides and marks of direction are removed, so that a name cannot disguise itself', async (t) => {
  const controls = '\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u200E\u200F\u061C';
  for (const control of controls) t.equal(cleanText(`invoice${control}gnp.exe`), 'invoicegnp.exe');
});

t.test('joiners stay, which emoji and Persian need, and so do the tags of a flag', async (t) => {
  for (const text of ['👩‍💻', 'می‌خواهم', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '❤️']) t.equal(cleanText(text), text);
  t.equal(cleanText('a\u{E0067}b'), 'ab', 'a tag without its flag is not seen');
});

t.test('lines, tabs and runs of spaces become one space', async (t) => {
  t.equal(cleanText(' a\r\n\tb\u2028c\u00A0 d '), 'a b c d');
});

t.test('what nobody can draw becomes the replacement character', async (t) => {
  t.equal(cleanText('a\uE000b\uD800c\u{10FFFE}'), 'a\uFFFDb\uFFFDc\uFFFD');
});

t.test('piled marks are thinned', async (t) => {
  t.equal(cleanText(`z${'\u0335'.repeat(50)}`), `z${'\u0335'.repeat(4)}`);
});

t.test('text is composed', async (t) => {
  t.equal(cleanText('e\u0301'), 'é');
});

t.test('long text is cut with an ellipsis, never through a character', async (t) => {
  t.equal(cleanText('abcdefgh', 5), 'abcd…');
  t.equal(cleanText('abc😀defgh', 5), 'abc\uFFFD…');
});

t.test('isolated text stands in exactly one isolate, whatever it holds', async () => {
  fc.assert(
    fc.property(unicode, (text) => {
      const inside = isolated(text);
      return inside.at(0) === '\u2068' && inside.at(-1) === '\u2069' && !/[\u2066-\u2069]/u.test(inside.slice(1, -1));
    }),
  );
});
