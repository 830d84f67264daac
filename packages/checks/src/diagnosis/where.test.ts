import t from 'tap';
import { protocols } from '../registry.ts';
import { whereIs } from './where.ts';

const at = (protocol: string, url: string, settings?: Record<string, unknown>) => {
  const { host, port, tls, web, hasPath } = whereIs(protocol, { url }, settings);
  return [host, port, tls, web?.href, hasPath];
};

void t.test('where a target is and what it speaks is read as its type writes it', async (t) => {
  t.same(at('https', 'shop.test/a?b=c'), ['shop.test', 443, 'implicit', 'https://shop.test/a?b=c', true]);
  t.same(at('http', 'http://shop.test:81'), ['shop.test', 81, undefined, 'http://shop.test:81/', true]);
  t.same(at('wss', 'wss://shop.test/live'), ['shop.test', 443, 'implicit', 'https://shop.test/live', true]);
  t.same(at('pagespeed', '[::1]:8443'), ['::1', 8443, 'implicit', 'https://[::1]:8443/', true]);
  t.same(at('postgres', 'db.test'), ['db.test', 5432, undefined, undefined, true]);
  t.same(at('postgres', 'db.test', { tls: 'starttls' }), ['db.test', 5432, 'postgres', undefined, true]);
  t.same(at('redis', 'rediss://db.test'), ['db.test', 6379, 'implicit', undefined, true]);
  t.same(at('redis', 'db.test:6380', { tls: 'implicit' }), ['db.test', 6380, 'implicit', undefined, true]);
  t.same(at('mqtt', 'mqtts://mq.test'), ['mq.test', 8883, 'implicit', undefined, true]);
  t.same(at('imap', 'imaps://mail.test'), ['mail.test', 993, 'implicit', undefined, true]);
  t.same(at('imap', 'mail.test:993', { tls: 'none' }), ['mail.test', 993, undefined, undefined, true]);
  t.same(at('ssl', 'mail.test:25', { starttls: 'smtp' }), ['mail.test', 25, 'smtp', undefined, true]);
  t.same(at('ssl', 'mail.test', { starttls: 'imap' }), ['mail.test', 143, 'imap', undefined, true]);
  t.same(at('ftps', 'files.test', { tls: 'explicit' }), ['files.test', 21, 'ftp', undefined, true]);
  t.same(at('ftps', 'ftpes://files.test'), ['files.test', 21, 'ftp', undefined, true]);
  t.same(at('ssh', 'git.test:443'), ['git.test', 443, undefined, undefined, true]);
  t.same(at('tcp', '[2001:db8::1]:7'), ['2001:db8::1', 7, undefined, undefined, true]);
});

void t.test('what takes no connection is dialled nowhere, and a name to be asked about has no path', async (t) => {
  for (const type of ['icmp', 'ntp', 'snmp', 'radius', 'traceroute']) t.same(at(type, 'a.test')[1], 0, type);
  t.same(at('udp', 'a.test:53'), ['a.test', 0, undefined, undefined, true]);
  t.same(at('sip', 'sip.test', {}), ['sip.test', 0, undefined, undefined, true]);
  t.same(at('sip', 'sip.test:5061', { transport: 'tls' }), ['sip.test', 5061, 'implicit', undefined, true]);
  for (const type of ['dns', 'whois', 'rdap', 'dnsbl'])
    t.same(at(type, 'a.test'), ['a.test', 0, undefined, undefined, false], type);
});

void t.test('user information is neither used nor given, and what cannot be read is nowhere', async (t) => {
  t.notMatch(JSON.stringify(at('https', 'https://user:canary@shop.test/')), /canary|user/);
  for (const protocol of protocols)
    for (const url of ['', 'http://[', 'x://user:canary@a.test', 'user:canary@a.test', 'a b', '/var/run/x.sock', '\0'])
      t.notMatch(JSON.stringify(at(protocol, url)), /canary/, `${protocol} ${url}`);
});
