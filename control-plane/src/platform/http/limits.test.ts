import t from 'tap';
import { allowedMethods } from './allowed-methods.ts';
import { addressMatcher, clientNetwork } from './client-address.ts';
import { rateHeaders, refusedBy } from './rate-headers.ts';

void t.test('clients are counted by IPv4 address and by IPv6 /64', async (t) => {
  const cases: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['not an address', 'not an address'],
  ];
  for (const [address, network] of cases) t.equal(clientNetwork(address), network, address);
});

void t.test('an address is matched against networks of its own family', async (t) => {
  const isProxy = addressMatcher(['10.0.0.0/8', '2001:db8::/32']);
  t.ok(isProxy('10.1.2.3'));
  t.ok(isProxy('::ffff:10.1.2.3'), 'mapped');
  t.ok(isProxy('2001:db8::1'));
  for (const address of ['11.0.0.1', '2001:db9::1', '', 'x']) t.notOk(isProxy(address), address);
  t.notOk(addressMatcher([])('127.0.0.1'), 'none are trusted by default');
});

const minute = { name: 'minute', quota: 10, windowSeconds: 60, resetSeconds: 20.4 } as const;
const hour = { name: 'hour', quota: 100, windowSeconds: 3_600, resetSeconds: 1_800 } as const;

void t.test('rate headers name all policies and what is left of the tightest', async (t) => {
  t.same(
    rateHeaders([
      { ...minute, used: 3 },
      { ...hour, used: 4 },
    ]),
    {
      'ratelimit-policy': '"hour";q=100;w=3600, "minute";q=10;w=60',
      ratelimit: '"minute";r=7;t=21',
    },
  );
  t.equal(
    rateHeaders([
      { ...minute, used: 1 },
      { ...hour, used: 99 },
    ])['ratelimit'],
    '"hour";r=1;t=1800',
  );
  t.equal(
    rateHeaders([
      { ...minute, used: 11 },
      { ...hour, used: 9 },
    ])['ratelimit'],
    '"minute";r=0;t=21',
  );
  t.same(rateHeaders([]), {});
});

void t.test('a request is refused above a quota, by the window that lasts longest', async (t) => {
  t.equal(
    refusedBy([
      { ...minute, used: 10 },
      { ...hour, used: 100 },
    ]),
    undefined,
    'the last one within',
  );
  t.match(
    refusedBy([
      { ...minute, used: 11 },
      { ...hour, used: 9 },
    ]),
    { name: 'minute' },
  );
  t.match(
    refusedBy([
      { ...minute, used: 11 },
      { ...hour, used: 101 },
    ]),
    { name: 'hour' },
  );
});

void t.test('a path knows the methods of all its routes', async (t) => {
  const allowed = allowedMethods([
    { method: 'GET', path: '/items' },
    { method: 'POST', path: '/items' },
    { method: 'DELETE', path: '/items/:id' },
  ]);
  t.same(allowed('/items'), ['GET', 'HEAD', 'POST', 'OPTIONS']);
  t.same(allowed('/items/7'), ['DELETE', 'OPTIONS']);
  for (const path of ['/items/', '/items/7/x', '/', '']) t.same(allowed(path), [], path);
});
