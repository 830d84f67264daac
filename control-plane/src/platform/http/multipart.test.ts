import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { boundaryOf, firstFile, MultipartError } from './multipart.ts';

const form = (...lines: string[]) => Buffer.from(lines.join('\r\n'), 'latin1');
const head = 'Content-Disposition: form-data; name="file"; filename="a.csv"';

void t.test('the boundary is read from the media type', async (t) => {
  t.equal(boundaryOf('multipart/form-data; boundary=abc'), 'abc');
  t.equal(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b?c"'), 'a b?c');
  for (const wrong of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a "',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
  ]) {
    t.equal(boundaryOf(wrong), undefined, wrong);
  }
});

void t.test('the first part with a file name is the file, whatever stands before it', async (t) => {
  const body = form(
    'preamble',
    '--b',
    'Content-Disposition: form-data; name="a"',
    '',
    'text',
    '--b',
    head,
    'Content-Type: text/csv',
    '',
    'x,--b',
    'y',
    '--b--',
    '',
  );
  t.equal(firstFile(body, 'b').toString(), 'x,--b\r\ny');
  t.equal(firstFile(form('--b', head, '', '', '--b--'), 'b').toString(), '');
  t.equal(
    firstFile(form('--b', "content-disposition: form-data; filename*=UTF-8''a", '', 'z', '--b--'), 'b').toString(),
    'z',
  );
});

void t.test('what is no form with a file is refused', async (t) => {
  const refused = {
    'nothing at all': form(''),
    'no boundary': form('hello'),
    'no file': form('--b', 'Content-Disposition: form-data; name="a"', '', 'text', '--b--'),
    'only the end': form('--b--'),
    'no header': form('--b', head),
    'no end': form('--b', head, '', 'abc'),
    'header too long': form('--b', `X: ${'a'.repeat(9_000)}`, head, '', 'abc', '--b--'),
    'boundary in the middle of a line': form('x--b', head, '', 'abc', '--b--'),
  };
  for (const [what, body] of Object.entries(refused)) t.throws(() => firstFile(body, 'b'), MultipartError, what);
});

void t.test('any bytes come out as they went in, and any bytes as a form end well', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      const boundary = '0123456789abcdef-boundary';
      const body = Buffer.concat([form(`--${boundary}`, head, '', ''), bytes, form('', `--${boundary}--`, '')]);
      return firstFile(body, boundary).equals(bytes);
    }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('--b', '--b--', '\r\n', head, 'x', '\r\n\r\n'), { maxLength: 30 }),
      (pieces) => {
        try {
          firstFile(Buffer.from(pieces.join('')), 'b');
          return true;
        } catch (error) {
          return error instanceof MultipartError;
        }
      },
    ),
  );
});

void t.test('a hostile form of ten megabytes costs one pass', async (t) => {
  const parts = Buffer.from('\r\n--b\r\nA: b\r\n\r\n'.repeat(700_000));
  t.throws(() => firstFile(parts, 'b'), /first 32 parts/);
  t.throws(() => firstFile(Buffer.from('\r\n--'.repeat(2_600_000)), 'b'), MultipartError);
});
