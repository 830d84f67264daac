import t from 'tap';
import { createAddressPolicy, everyAddress } from './address-policy.ts';

const strict = createAddressPolicy({ allowedPrivate: [], localAddresses: () => ['192.0.2.2'] });
const rule = (policy: typeof strict, address: string, port = 443) => policy.judge(address, port)?.rule;

void t.test('public addresses may be reached', async (t) => {
  for (const address of [
    '93.184.216.34',
    '8.8.8.8',
    '2606:2800:220:1::1',
    '2a00:1450:4001::8a',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
    '2001:0:808:808::f7f7:f7f7',
  ]) {
    t.equal(strict.judge(address, 443), undefined, address);
  }
});

void t.test('what is not global unicast is denied', async (t) => {
  const denied = [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.1.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '2001:10::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
  ];
  for (const address of denied) t.equal(rule(strict, address), 'not_global', address);
});

void t.test('an IPv6 form that stands for an IPv4 address is judged as that address', async (t) => {
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '::127.0.0.1',
    '::10.0.0.1',
    '::ffff:0:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::10.0.0.1',
    '64:ff9b:1:a00:0:100::',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2001:0:0808:0808::f5ff:fffe',
    '2001:0:a00:1::f7f7:f7f7',
  ]) {
    t.equal(rule(strict, address), 'not_global', address);
  }
  const loopback = createAddressPolicy({ allowedPrivate: ['127.0.0.0/8'], localAddresses: () => [] });
  t.equal(rule(loopback, '::ffff:127.0.0.1'), undefined, 'and is allowed where that is');
  const allSix = createAddressPolicy({ allowedPrivate: ['::/0'], localAddresses: () => [] });
  t.equal(rule(allSix, '::ffff:10.0.0.1'), 'not_global', 'a range of IPv6 does not open IPv4');
});

void t.test('cloud metadata is denied even inside an allowed range', async (t) => {
  const open = createAddressPolicy({ allowedPrivate: ['0.0.0.0/0', '::/0'], localAddresses: () => [] });
  t.equal(rule(open, '10.0.0.1', 80), undefined);
  for (const address of [
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '169.254.170.2',
    'fd00:ec2::254',
    'fd00:0ec2:0::0254',
    '::ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2002:a83f:8110::',
    '2001:0:0808:0808::5601:5601',
    '2001:0:a9fe:a9fe::f7f7:f7f7',
  ]) {
    t.equal(rule(open, address, 80), 'metadata', address);
  }
});

void t.test('own listeners are denied by every local address, even inside an allowed range', async (t) => {
  const everyLocal = [
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '0.0.0.0',
    '::',
    '192.0.2.2',
    'fd00::2',
    '::ffff:127.0.0.1',
    '::ffff:192.0.2.2',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
  ];
  for (const bound of ['0.0.0.0', '::', '127.0.0.1', 'localhost', '192.0.2.2', '[::1]', 'fd00::2%eth0']) {
    const policy = createAddressPolicy({
      allowedPrivate: ['0.0.0.0/0', '::/0'],
      deniedListeners: [{ address: bound, port: 5432 }],
      localAddresses: () => ['192.0.2.2', 'fd00::2'],
    });
    for (const address of everyLocal) t.equal(rule(policy, address, 5432), 'own_listener', `${bound} by ${address}`);
    t.equal(rule(policy, '127.0.0.1', 5433), undefined, 'another port');
    t.equal(rule(policy, '10.1.1.1', 5432), undefined, 'another machine');
  }
});

void t.test('a listener on another machine is denied there only, and the list can be replaced', async (t) => {
  const policy = createAddressPolicy({
    allowedPrivate: ['10.0.0.0/8', '127.0.0.0/8'],
    deniedListeners: [{ address: '10.0.0.5', port: 9443 }],
    localAddresses: () => [],
  });
  t.equal(rule(policy, '10.0.0.5', 9443), 'own_listener');
  t.equal(rule(policy, '::ffff:10.0.0.5', 9443), 'own_listener');
  t.equal(rule(policy, '10.0.0.6', 9443), undefined);
  t.equal(rule(policy, '127.0.0.1', 9443), undefined);
  policy.setDeniedListeners([{ address: '127.0.0.1', port: 4222 }]);
  t.equal(rule(policy, '10.0.0.5', 9443), undefined);
  t.equal(rule(policy, '127.0.0.1', 4222), 'own_listener');
});

void t.test('a new address of this machine counts as local within 30 s', async (t) => {
  let now = 0;
  let own = ['10.0.0.1'];
  const policy = createAddressPolicy({
    allowedPrivate: ['10.0.0.0/8'],
    deniedListeners: [{ address: '::', port: 22 }],
    localAddresses: () => own,
    clock: () => now,
  });
  t.equal(rule(policy, '10.0.0.2', 22), undefined);
  own = ['10.0.0.1', '10.0.0.2'];
  now = 30_000;
  t.equal(rule(policy, '10.0.0.2', 22), 'own_listener');
});

void t.test('zones, spellings that are no addresses, and port 25 are denied', async (t) => {
  t.equal(rule(strict, 'fe80::1%eth0'), 'zone');
  t.equal(rule(strict, '2606:2800::1%1'), 'zone');
  for (const text of ['2130706433', '0x7f.1', '127.1', '010.0.0.1', 'example.com', '', '[::1]', '1.2.3.4 ']) {
    t.equal(rule(strict, text), 'malformed', JSON.stringify(text));
  }
  t.equal(rule(strict, '8.8.8.8', 25), 'mail_port');
  t.equal(strict.judge('8.8.8.8', 25, { mail: true }), undefined);
});

void t.test('a range that cannot be read is refused by name', async (t) => {
  t.throws(() => createAddressPolicy({ allowedPrivate: ['10.0.0.0/33'] }), { message: /"10.0.0.0\/33"/ });
  t.throws(() => createAddressPolicy({ allowedPrivate: ['intranet'] }), { message: /"intranet"/ });
});

void t.test('within ranges a policy allows what both allow, shares policies, and follows the denied listeners', (t) => {
  const wide = createAddressPolicy({ allowedPrivate: ['10.0.0.0/8', '127.0.0.0/8'], localAddresses: () => [] });
  const narrow = wide.within(['10.1.0.0/16', '192.168.0.0/16']);
  for (const [address, rule] of [
    ['10.1.2.3', undefined],
    ['::ffff:10.1.2.3', undefined],
    ['10.2.0.1', 'not_global'],
    ['::ffff:10.2.0.1', 'not_global'],
    ['192.168.0.1', 'not_global'],
    ['127.0.0.1', 'not_global'],
    ['169.254.169.254', 'metadata'],
    ['8.8.8.8', undefined],
    ['2001:4860:4860::8888', undefined],
  ] as const)
    t.equal(narrow.judge(address, 443)?.rule, rule, address);
  t.equal(narrow.judge('8.8.8.8', 25)?.rule, 'mail_port');
  t.equal(wide.judge('127.0.0.1', 443), undefined, 'the wide one stays as it was');
  t.equal(wide.within(['192.168.0.0/16', '10.1.0.0/16', '10.1.0.0/16']), narrow, 'one policy for equal ranges');
  t.equal(narrow.within([]).judge('10.1.2.3', 443)?.rule, 'not_global');
  wide.setDeniedListeners([{ address: '10.1.2.3', port: 4222 }]);
  t.equal(narrow.judge('10.1.2.3', 4222)?.rule, 'own_listener');
  const all = createAddressPolicy({ allowedPrivate: everyAddress, localAddresses: () => [] });
  t.equal(all.within(['0.0.0.0/0']).judge('169.254.169.254', 80)?.rule, 'metadata', 'whatever is allowed');
  t.equal(all.within([]).judge('10.0.0.1', 80)?.rule, 'not_global');
  t.throws(() => wide.within(['10.0.0.0/33']), { message: /10.0.0.0\/33/ });
  t.end();
});
