import t from 'tap';
import { lineReader, maxLineBytes, printable, replyLine } from './lines.ts';
import { secretWords } from './secret-words.ts';

const line = lineReader('mail_protocol');
/** Asked again when a line has ended, or when it is too long. */
const notYet = { need: maxLineBytes, orByte: 0x0a };

void t.test('a line ends with LF or CR LF and is taken once it is whole', async (t) => {
  t.same(line(Buffer.from('not yet')), notYet);
  t.same(line(Buffer.from('one\r\ntwo')), { value: 'one', used: 5 });
  t.same(line(Buffer.from('\nx')), { value: '', used: 1 });
  t.same(line(Buffer.from('grüße\n')), { value: 'grüße', used: 8 });
  t.same(line(Buffer.from('a\r')), notYet);
});

void t.test('a line is bounded, whether it ends or not', async (t) => {
  const longest = `${'x'.repeat(maxLineBytes - 1)}\n`;
  t.match(line(Buffer.from(longest)), { used: maxLineBytes });
  t.match(line(Buffer.from(`x${longest}`)), { failure: { code: 'mail_protocol', source: 'target' } });
  t.match(line(Buffer.alloc(maxLineBytes)), { failure: { code: 'mail_protocol' } });
  t.same(line(Buffer.alloc(maxLineBytes - 1)), notYet);
});

void t.test('the line of a reply says its code, its text and whether it is the last', async (t) => {
  t.same(replyLine('220 hello'), { code: 220, text: 'hello', isLast: true });
  t.same(replyLine('250-a b'), { code: 250, text: 'a b', isLast: false });
  t.same(replyLine('250'), { code: 250, text: '', isLast: true });
  for (const wrong of ['hello', '999 x', '2200 x', '22 x', '220x', ' 220 x'])
    t.equal(replyLine(wrong), undefined, wrong);
});

void t.test('foreign text is shown on one line, and without secrets in any spelling', async (t) => {
  t.equal(printable(' a\0\x1b[31m\nb\u202e\ufffd ', 20), 'a [31m b');
  t.equal(printable('x'.repeat(30), 10), `${'x'.repeat(9)}…`);
  const redact = secretWords(['se"cret', undefined, 'abc']);
  t.equal(
    redact(`a se"cret b ${Buffer.from('se"cret').toString('base64')} se\\"cret`),
    'a [redacted] b [redacted] [redacted]',
  );
  t.equal(redact('abc'), 'abc', 'too short to be told from other text');
});
