import t from 'tap';
import { listenPlace, wantedProbe } from './container-options.ts';

t.test('a place to listen at is a host and a port, with brackets around an IPv6 address', (t) => {
  t.same(listenPlace('0.0.0.0:4222'), { host: '0.0.0.0', port: 4222 });
  t.same(listenPlace('[::]:4222'), { host: '::', port: 4222 });
  t.same(listenPlace('postgres:5432'), { host: 'postgres', port: 5432 });
  for (const wrong of [
    '4222',
    ':4222',
    'nats',
    'nats:0',
    'nats:65536',
    'nats:4222 ',
    '::1:4222',
    'nats:4222\nhttp: 1',
  ]) {
    t.throws(() => listenPlace(wrong), /host:port is expected/, JSON.stringify(wrong));
  }
  t.end();
});

t.test('a wanted probe is a name, which becomes the name of a file, and a region; it may be given again', (t) => {
  const one = wantedProbe('probe-eu=eu-west');
  t.same(wantedProbe('probe-us=us-east', one), [
    { name: 'probe-eu', region: 'eu-west' },
    { name: 'probe-us', region: 'us-east' },
  ]);
  for (const wrong of [
    'probe-eu',
    '=eu',
    'probe-eu=',
    '../x=eu',
    '.=eu',
    'a/b=eu',
    'a=b=c',
    'a b=eu',
    `${'x'.repeat(64)}=eu`,
  ]) {
    t.throws(() => wantedProbe(wrong), /name=region is expected/, JSON.stringify(wrong));
  }
  t.end();
});
