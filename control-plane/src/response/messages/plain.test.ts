import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { hostileText } from './hostile.fixture.ts';
import { cut, isBalanced, isolated, plainLine, plainLines } from './plain.ts';

t.test('what is left of any text is one line without control characters, junk and turned directions', async (t) => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const line = plainLine(text);
      t.notMatch(line, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]/u);
      t.ok(line.isWellFormed());
      t.equal(line, line.trim());
      t.notMatch(line, / {2}/u);
      t.equal(plainLine(line), line, 'cleaning twice changes nothing');
      t.notMatch(plainLines(text), /[^\P{Cc}\n]|\n{3}/u);
    }),
  );
});

t.test('what is cut fits, keeps its beginning, breaks no grapheme and leaves no isolate open', async (t) => {
  fc.assert(
    fc.property(hostileText, hostileText, fc.integer({ min: 0, max: 80 }), (name, more, most) => {
      const sentence = `${isolated(plainLine(name))} is down ${isolated(plainLine(more))}`;
      const short = cut(sentence, most);
      t.ok(short.length <= most);
      t.ok(isBalanced(short));
      t.ok(short.isWellFormed());
      if (short === sentence) return;
      const kept = short.replace(/…\u2069*$/u, '');
      t.ok(sentence.startsWith(kept));
    }),
  );
  t.equal(cut('👩‍👩‍👧👩‍👩‍👧', 9), '👩‍👩‍👧…');
  t.equal(cut('👩‍👩‍👧', 7), '…');
  t.equal(cut('abc', 3), 'abc');
  t.equal(cut('abc def', 5), 'abc…');
});

t.test('what people write stays as it is', async (t) => {
  for (const text of [
    'Магазин «Ёлка»',
    '👩‍👩‍👧 family',
    'می‌خواهم',
    'क्‍ष',
    '日本語',
    'Café ❤️',
    '{{title}} ${name} %s $& <b>&amp;</b>',
  ])
    t.equal(plainLine(text), text);
  t.equal(plainLine('pay\u200dpal'), 'paypal', 'no joiner between letters that do not join');
  t.equal(plainLine('a\u202egnp.exe'), 'agnp.exe');
  t.equal(plainLine('a\u0000b\r\nc'), 'a b c');
  t.equal(plainLines('a\r\n\r\n\r\n\r\nb\u2028c\td'), 'a\n\nb\nc d');
  t.equal(plainLine('\ud800x'), '\ufffdx');
});

t.test('only what runs from right to left is held apart', async (t) => {
  t.equal(isolated('Shop'), 'Shop');
  t.equal(isolated('Магазин'), 'Магазин');
  t.equal(isolated('חנות'), '\u2068חנות\u2069');
});
