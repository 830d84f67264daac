import t from 'tap';
import { defaultLimits, ResponseParser } from './response-parser.ts';

/** Feeds the text in pieces of the given size and says what came of it. */
function parse(
  text: string | Buffer,
  { method = 'GET', size = 1 << 20, keep = 1 << 20, limits = { maxHeadBytes: 1000, maxBodyBytes: 5000 } } = {},
) {
  const parser = new ResponseParser(method, limits);
  parser.keepBytes = keep;
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1');
  // One buffer for all pieces, filled with what must not be read, as the socket's is.
  const shared = Buffer.alloc(Math.max(size, 8) + 64, '\r\n\r\n');
  for (let at = 0; at < bytes.length && !parser.finished; at += size) {
    shared.fill('\r\n\r\n');
    const length = bytes.copy(shared, 0, at, Math.min(bytes.length, at + size));
    parser.push(shared, length);
  }
  const complete = parser.finished ? parser.problem === undefined : parser.end();
  return {
    parser,
    complete,
    status: parser.head?.status,
    problem: parser.problem,
    body: parser.body.toString('latin1'),
  };
}

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b c \r\n\r\nhello';
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nwiki\r\n5\r\npedia\r\n0\r\nX-T: 1\r\n\r\n';
const bare = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

void t.test('a response reads the same in pieces of every size', async (t) => {
  for (let size = 1; size <= 120; size += 1) {
    t.match(parse(plain, { size }), { complete: true, status: 200, body: 'hello' }, `length in ${size}`);
    t.match(parse(chunked, { size }), { complete: true, status: 200, body: 'wikipedia' }, `chunked in ${size}`);
    t.match(parse(bare, { size }), { complete: true, status: 200, body: 'abc' }, `chunked without trailers in ${size}`);
    t.match(
      parse('HTTP/1.1 200 OK\r\n\r\nuntil the end', { size }),
      { complete: true, body: 'until the end' },
      `closed in ${size}`,
    );
  }
});

void t.test('names of headers are lower case and values without outer blanks', async (t) => {
  const { head } = parse(plain).parser;
  t.match(head, { httpVersion: '1.1', status: 200, statusText: 'OK' });
  t.same(head?.headers, [
    ['content-length', '5'],
    ['x-a', 'b c'],
  ]);
});

void t.test('a head that means to be slow to read is not', async (t) => {
  const limits = defaultLimits;
  const blanks = ' '.repeat(60_000);
  for (const fields of [`A:${blanks}\0`, `A:${blanks}b${blanks.slice(0, 100)}\0`, `${'A: b\r\n'.repeat(8_000)}\0`]) {
    const used = process.cpuUsage();
    t.equal(parse(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`, { limits }).problem, 'malformed');
    t.ok(process.cpuUsage(used).user < 1_000_000, 'the time grows with the length and no faster');
  }
  const text = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA:${blanks}b${blanks.slice(0, 5_000)}\r\n\r\n`;
  t.same(parse(text, { limits }).parser.head?.headers.at(-1), ['a', 'b']);
});

void t.test('interim responses are passed over, in bounds', async (t) => {
  t.match(parse(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${plain}`, { size: 3 }), {
    status: 200,
    body: 'hello',
  });
  t.equal(
    parse('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), { limits: { maxHeadBytes: 1e6, maxBodyBytes: 1 } }).problem,
    'malformed',
  );
  t.equal(parse('HTTP/1.1 101 Switching\r\n\r\n').problem, 'malformed');
});

void t.test('a response that has no body ends with its head', async (t) => {
  t.match(parse('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n', { method: 'HEAD' }), { complete: true, body: '' });
  t.match(parse('HTTP/1.1 204 No Content\r\n\r\n'), { complete: true });
  t.match(parse('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'), { complete: true });
  t.match(parse('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), { complete: true });
});

void t.test('what ends too early is not complete', async (t) => {
  for (const text of ['', 'HTTP/1.1 200 OK\r\n', plain.slice(0, -1), chunked.slice(0, -20), bare.slice(0, -2)]) {
    t.equal(parse(text).complete, false, JSON.stringify(text.slice(-20)));
  }
});

void t.test('what is not HTTP is said so at its first bytes', async (t) => {
  for (const text of [
    'SSH-2.0-OpenSSH\r\n',
    '\0\0\0\0\0',
    '<html>',
    'http/1.1 200 OK\r\n\r\n',
    'HTTQ',
    '\r\nHTTP/1.1 200 OK\r\n\r\n',
  ]) {
    t.equal(parse(text).problem, 'not_http', JSON.stringify(text));
  }
});

void t.test('broken heads are refused', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\n';
  for (const text of [
    'HTTP/2 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1 200 O\0K\r\n\r\n',
    'HTTP/1.1 099 No\r\n\r\n',
    `${head}A\r\n\r\n`,
    `${head}A : b\r\n\r\n`,
    `${head}: b\r\n\r\n`,
    `${head}A: b\0c\r\n\r\n`,
    `${head}A: b\n\r\n\r\n`,
    `${head} folded\r\nA: b\r\n\r\n`,
    `${head}A: b\r\n\0folded\r\n\r\n`,
    `${head}A: b\rc\r\n\r\n`,
    `${head}Content-Length: -1\r\n\r\n`,
    `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    `${head}Content-Length: 1,1\r\n\r\n`,
    `${head}Content-Length: 0x10\r\n\r\n`,
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`,
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ]) {
    t.equal(parse(text).problem, 'malformed', JSON.stringify(text));
  }
});

void t.test('what is out of use but seen is read: folded fields, blanks behind the size of a chunk', async (t) => {
  const folded = 'HTTP/1.1 200 OK\r\nA: b\r\n\t c\r\n d\r\nContent-Length:\r\n 3\r\n\r\nabc';
  const blanks = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3  \r\nabc\r\n0 \t; x\r\n\r\n';
  for (const size of [1, 2, 3, 7, 1000]) {
    t.match(parse(folded, { size }), { complete: true, status: 200, body: 'abc' }, `folded in ${size}`);
    t.match(parse(blanks, { size }), { complete: true, status: 200, body: 'abc' }, `blanks in ${size}`);
  }
  const parser = new ResponseParser('GET');
  parser.push(Buffer.from(folded));
  t.same(parser.head?.headers, [
    ['a', 'b c d'],
    ['content-length', '3'],
  ]);
});

void t.test('broken chunks are refused', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (const text of [
    'x\r\n',
    '-1\r\n',
    '\r\n',
    '3\nabc\r\n',
    '3\r\nabcd\r\n',
    '3\r\nabc\n',
    `${'1'.repeat(20)}\r\n`,
    `1;${'e'.repeat(5000)}\r\na\r\n`,
  ]) {
    t.equal(parse(head + text).problem, 'bad_chunk', JSON.stringify(text.slice(0, 20)));
  }
  t.equal(parse(head + `1;${'e'.repeat(1000)}\r\na\r\n`.repeat(10)).problem, 'bad_chunk', 'more extensions than body');
});

void t.test('a head or trailers beyond the limit are refused', async (t) => {
  const long = `A: ${'b'.repeat(600)}\r\n`;
  t.equal(parse(`HTTP/1.1 200 OK\r\n${long}${long}\r\n`).problem, 'headers_too_large');
  t.equal(parse(`HTTP/1.1 200 OK\r\n${long}${long}\r\n`, { size: 7 }).problem, 'headers_too_large');
  t.equal(parse(`${bare.slice(0, -2)}${long}${long}`, { size: 7 }).problem, 'headers_too_large');
});

void t.test('a body is read up to the limit and kept up to what is asked for', async (t) => {
  const long = 'x'.repeat(9000);
  for (const size of [1, 100, 5000, 1 << 20]) {
    for (const text of [
      `Content-Length: 9000\r\n\r\n${long}`,
      `\r\n${long}`,
      `Transfer-Encoding: chunked\r\n\r\n2328\r\n${long}\r\n0\r\n\r\n`,
    ]) {
      const { parser } = parse(`HTTP/1.1 200 OK\r\n${text}`, { size, keep: 100 });
      t.match(
        { finished: parser.finished, truncated: parser.truncated, bytes: parser.bodyBytes, kept: parser.body.length },
        { finished: true, truncated: true, bytes: 5000, kept: 100 },
      );
    }
  }
  t.equal(parse(`HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5000)}`).parser.truncated, false);
});
