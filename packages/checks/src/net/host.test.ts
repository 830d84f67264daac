import t from 'tap';
import { parseHost, parseHostPort, plainHost } from './host.ts';

void t.test('odd spellings of an address are that address', async (t) => {
  const same: Record<string, string> = {
    '2130706433': '127.0.0.1',
    '0x7f.1': '127.0.0.1',
    '0x7f000001': '127.0.0.1',
    '127.1': '127.0.0.1',
    '0177.0.0.1': '127.0.0.1',
    '010.0.0.1': '8.0.0.1',
    '127.0.0.1.': '127.0.0.1',
    '１２７.0.0.1': '127.0.0.1',
    '%31%32%37.1': '127.0.0.1',
    '0': '0.0.0.0',
    '[::1]': '::1',
    '::1': '::1',
    '[::ffff:127.0.0.1]': '::ffff:7f00:1',
    '0:0:0:0:0:0:0:1': '::1',
    'fe80::1%eth0': 'fe80::1%eth0',
  };
  for (const [text, address] of Object.entries(same)) {
    t.match(parseHost(text), { kind: 'address', address }, text);
  }
});

void t.test('names are lower case, in ASCII, without the final dot', async (t) => {
  t.same(parseHost('Example.COM.'), { kind: 'name', name: 'example.com' });
  t.same(parseHost('bücher.example'), { kind: 'name', name: 'xn--bcher-kva.example' });
  t.same(parseHost('_dmarc.example.com'), { kind: 'name', name: '_dmarc.example.com' });
  t.same(parseHost('a-b.c-d'), { kind: 'name', name: 'a-b.c-d' });
});

void t.test('what is no host is refused', async (t) => {
  for (const text of [
    '',
    ' ',
    'a b',
    'a/b',
    'a@b',
    'a?b',
    'a#b',
    'a\\b',
    'a..b',
    '.a',
    '1.2.3.4.5',
    '256.1.1.1',
    'example.com:80',
    `${'a'.repeat(64)}.com`,
    'a\u0000b',
  ]) {
    t.equal(parseHost(text).kind, 'invalid', JSON.stringify(text));
  }
});

void t.test('host and port are read in the forms that people write', async (t) => {
  const form = { schemes: { tcp: undefined, https: 443 }, defaultPort: undefined };
  t.same(parseHostPort('example.com:80', form), { host: 'example.com', port: 80 });
  t.same(parseHostPort('[::1]:80', form), { host: '[::1]', port: 80 });
  t.same(parseHostPort('tcp://example.com:80/', form), { host: 'example.com', port: 80 });
  t.same(parseHostPort('https://example.com/path?x', form), { host: 'example.com', port: 443 });
  t.same(parseHostPort('::1', { ...form, defaultPort: 7 }), { host: '::1', port: 7 });
  for (const text of [
    'example.com',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:8 0',
    'ftp://a:1',
    'tcp://u:p@a:1',
    ':80',
    'constructor://a:1',
  ]) {
    t.type(parseHostPort(text, form), 'string', text);
  }
});

void t.test('a host is written as servers and certificates know it', async (t) => {
  t.equal(plainHost('Bücher.Example.'), 'xn--bcher-kva.example');
  t.equal(plainHost('[::1]'), '::1');
  t.equal(plainHost('0x7f.1'), '127.0.0.1');
  t.equal(plainHost('a b'), 'a b', 'what is no host stays');
});
