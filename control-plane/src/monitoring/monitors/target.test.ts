import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { freeName, movesDestination, nameFromTarget, protocolOf } from './target.ts';

const at = (url: string, settings: Record<string, unknown> = {}, protocol = 'https') => ({ protocol, url, settings });

void t.test('the protocol is the one given, else that of the scheme', async (t) => {
  t.equal(protocolOf('https://example.com', undefined), 'https');
  t.equal(protocolOf('HTTP://example.com', undefined), 'http');
  t.equal(protocolOf('tcp://example.com:25', undefined), 'tcp');
  t.equal(protocolOf('https://example.com', 'http'), 'http');
  for (const url of ['example.com', 'example.com:443', 'gopher://example.com', 'constructor://example.com']) {
    t.throws(() => protocolOf(url, undefined), { code: 'invalid_input' }, url);
  }
  t.throws(() => protocolOf('example.com', undefined), Problem);
});

void t.test('secrets follow a monitor only to the same scheme, host, port and relay', async (t) => {
  const home = at('https://example.com/a');
  t.notOk(movesDestination(home, at('https://example.com/b?c=d')), 'another path');
  t.notOk(movesDestination(home, at('https://EXAMPLE.com:443/a')), 'another spelling');
  t.notOk(movesDestination(home, at('example.com/x')), 'the scheme left to the protocol');
  t.ok(movesDestination(home, at('https://example.org/a')), 'another host');
  t.ok(movesDestination(home, at('https://example.com.evil.test/a')), 'a host that begins alike');
  t.ok(movesDestination(home, at('https://example.com:8443/a')), 'another port');
  t.ok(movesDestination(home, at('http://example.com/a')), 'without encryption');
  t.ok(movesDestination(home, at('https://example.com/a', { proxy: 'socks5://10.0.0.1' })), 'through a relay');
  t.ok(
    movesDestination(home, at('https://example.com/a', { resolver: ['192.0.2.1'] })),
    'where the name may be another',
  );
  const proxied = at('https://example.com/a', { proxy: 'http://ann@p.test:80' });
  t.notOk(movesDestination(proxied, proxied), 'the same relay');
  t.ok(movesDestination(proxied, home), 'without it');
  const steps = (url: string, value = '{{key}}', variables = {}) =>
    at(
      'https://example.com',
      { steps: [{ url: '/login' }, { url, headers: { authorization: value } }], variables },
      'api',
    );
  t.notOk(movesDestination(steps('/a'), steps('https://example.com/b')), 'another path of a step');
  t.ok(movesDestination(steps('/a'), steps('https://example.org/a')), 'a step on another host');
  t.notOk(movesDestination(steps('/a'), steps('https://example.org/a', 'none')), 'that names no secret');
  const relayed = { ...steps('/a'), settings: { ...steps('/a').settings, proxy: 'socks5://10.0.0.1:1080' } };
  t.ok(movesDestination(steps('/a'), relayed), 'steps through a relay');
  const byVariable = (host: string) => steps('https://{{host}}/a', '{{key}}', { host });
  t.ok(movesDestination(byVariable('example.com'), byVariable('example.org')), 'a host out of a variable');
  t.ok(movesDestination(at('https://example.com', {}, 'api'), steps('/a')), 'settings that cannot be read');
  t.ok(movesDestination(at('db:5432', {}, 'tcp'), at('other:5432', {}, 'tcp')), 'no URL at all');
});

void t.test('a name is made from the host and numbered until it is free', async (t) => {
  t.equal(nameFromTarget('https://status.example.com/health'), 'status.example.com');
  t.equal(nameFromTarget('example.com:25'), 'example.com');
  t.equal(nameFromTarget('tcp://[2001:db8::1]:25'), '2001:db8::1');
  t.equal(nameFromTarget('x'.repeat(400)).length, 150);
  t.equal(freeName('a', new Set()), 'a');
  t.equal(freeName('a', new Set(['a', 'a 2', 'ab'])), 'a 3');
});
