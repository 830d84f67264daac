import t from 'tap';
import { checkTypeOf, protocols } from '../registry.ts';
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
  t.same(at('ftps', 'files.test', { tls: 'starttls' }), ['files.test', 21, 'ftp', undefined, true]);
  t.same(at('ftps', 'ftpes://files.test'), ['files.test', 21, 'ftp', undefined, true]);
  t.same(at('ftps', 'files.test'), ['files.test', 990, 'implicit', undefined, true]);
  t.same(at('ssh', 'git.test:443'), ['git.test', 443, undefined, undefined, true]);
  t.same(at('tcp', '[2001:db8::1]:7'), ['2001:db8::1', 7, undefined, undefined, true]);
});

void t.test('the port and the beginning of TLS are those of the check, for every scheme', async (t) => {
  t.same(at('kafka', 'kafkas://log.test'), ['log.test', 9093, 'implicit', undefined, true]);
  t.same(at('kafka', 'log.test', { tls: 'implicit' }), ['log.test', 9093, 'implicit', undefined, true]);
  t.same(at('mqtt', 'mqtt://mq.test:8883'), ['mq.test', 8883, undefined, undefined, true]);
  t.same(at('mqtt', 'tcp://mq.test'), ['mq.test', 1883, undefined, undefined, true]);
  t.same(at('mqtt', 'ssl://mq.test'), ['mq.test', 8883, 'implicit', undefined, true]);
  t.same(at('nats', 'tls://bus.test'), ['bus.test', 4222, undefined, undefined, true]);
  t.same(at('redis', 'valkeys://db.test'), ['db.test', 6379, 'implicit', undefined, true]);
  t.same(at('smtp', 'mail.test:465', { tls: 'auto' }), ['mail.test', 465, 'implicit', undefined, true]);
  t.same(at('ssl', 'imaps://mail.test'), ['mail.test', 993, 'implicit', undefined, true]);
  t.same(at('ssl', 'db.test', { starttls: 'mysql' }), ['db.test', 3306, undefined, undefined, true]);
  t.same(at('grpc', 'grpcs://api.test'), ['api.test', 443, 'implicit', undefined, true]);
  t.same(at('grpc', 'api.test:443'), ['api.test', 443, undefined, undefined, true]);
  t.same(at('docker', 'https://host.test'), ['host.test', 2376, 'implicit', undefined, true]);
  t.same(at('docker', 'tcp://host.test'), ['host.test', 2375, undefined, undefined, true]);
  t.same(at('gamedig', 'mc.test', { game: 'minecraft_java' }), ['mc.test', 25_565, undefined, undefined, true]);
  t.same(at('gamedig', 'cs.test'), ['cs.test', 0, undefined, undefined, true]);
  t.same(at('sip', 'sips:pbx.test'), ['pbx.test', 5061, 'implicit', undefined, true]);
  t.same(at('api', 'https://api.test:8443/v1'), ['api.test', 8443, 'implicit', 'https://api.test:8443/v1', true]);
});

void t.test(
  'only types that speak HTTP, ask for names or ping say nothing of their own about where they connect',
  async (t) => {
    const without = protocols.filter((protocol) => checkTypeOf(protocol).addressOf === undefined);
    t.same(without.sort(), [
      'api',
      'dns',
      'dnsbl',
      'http',
      'https',
      'icmp',
      'pagespeed',
      'ping',
      'rdap',
      'whois',
      'ws',
      'wss',
    ]);
  },
);

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
