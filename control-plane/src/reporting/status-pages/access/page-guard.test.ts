import t from 'tap';
import { Problem } from '@parallax/api-contract';
import { setCookie } from './cookie.ts';
import { PageGuard } from './page-guard.ts';
import { accessFor, basic, clientWith, verifyPlain } from './testing.ts';

const password = 'correct horse';
const access = accessFor({ passwordHash: password });

function stage(verify = verifyPlain) {
  const clock = { ms: 1_790_000_000_000 };
  const compared: string[] = [];
  const guard = new PageGuard({
    now: () => clock.ms,
    verify: async (hash, text) => {
      compared.push(text);
      return verify(hash, text);
    },
  });
  return { clock, compared, guard };
}

t.test('a password in a header, or by Basic, opens a page; it is compared once in ten minutes', async (t) => {
  const { guard, compared, clock } = stage();
  for (const headers of [{ 'x-status-password': password }, { authorization: basic(password, 'anybody') }]) {
    const client = clientWith(headers);
    t.equal((await guard.check(access, client)).kind, 'open');
    t.equal(guard.judge(access, client), 'open', 'now without waiting');
  }
  t.same(compared, [password], 'both ways are one password');
  clock.ms += 600_000;
  t.equal(guard.judge(access, clientWith({ 'x-status-password': password })), 'check');
  t.equal((await guard.check(access, clientWith({ 'x-status-password': password }))).kind, 'open');
  t.equal(compared.length, 2);
});

t.test('what was right before a change of the page, or at another page, is not right', async (t) => {
  const { guard } = stage();
  const client = clientWith({ 'x-status-password': password });
  t.equal((await guard.check(access, client)).kind, 'open');
  for (const other of [
    accessFor({ passwordHash: 'another one', version: 2 }),
    accessFor({ passwordHash: 'another one', pageId: 2 }),
  ]) {
    t.equal(guard.judge(other, client), 'check');
    t.equal((await guard.check(other, client)).kind, 'refused');
  }
  const withoutPassword = accessFor({ addresses: ['192.0.2.0/24'], version: 3 });
  t.equal(guard.judge(withoutPassword, client), 'refused');
  t.equal((await guard.check(withoutPassword, client)).kind, 'refused');
});

t.test(
  'five wrong passwords a minute are compared for each client and page, and right ones cost nothing',
  async (t) => {
    const { guard, compared, clock } = stage();
    const wrong = (number: number, address?: string) =>
      guard.check(access, clientWith({ 'x-status-password': `wrong ${number}` }, address));
    for (let number = 0; number < 20; number += 1) {
      t.equal((await guard.check(access, clientWith({ 'x-status-password': password }))).kind, 'open');
    }
    for (let number = 0; number < 5; number += 1) t.equal((await wrong(number)).kind, 'refused');
    t.match(await wrong(5), { kind: 'limited', waitMs: 12_000 });
    t.equal(compared.length, 6);
    t.match(await guard.compare(access, 'by the form', '198.51.100.7'), { kind: 'limited' }, 'also by another way');
    t.equal(
      (await guard.check(access, clientWith({ 'x-status-password': password }))).kind,
      'open',
      'it was right before',
    );
    t.equal((await wrong(6, '198.51.100.8')).kind, 'refused', 'others are not held up');
    t.equal((await guard.compare(accessFor({ pageId: 2, passwordHash: 'x' }), 'y', '198.51.100.7')).kind, 'refused');
    for (const last of ['1', '2', '3', '4', '5']) await wrong(7, `2001:db8::${last}`);
    t.equal((await wrong(8, '2001:db8::ffff:6')).kind, 'limited', 'a network of IPv6 is one client');
    clock.ms += 12_000;
    t.equal((await wrong(9)).kind, 'refused');
    t.equal((await wrong(10)).kind, 'limited');
  },
);

t.test('a flood at once is compared five times; the same password at once is compared once', async (t) => {
  const { guard, compared } = stage();
  const flood = await Promise.all(
    Array.from({ length: 50 }, (_, number) =>
      guard.check(access, clientWith({ 'x-status-password': `wrong ${number}` })),
    ),
  );
  t.equal(flood.filter(({ kind }) => kind === 'refused').length, 5);
  t.equal(flood.filter(({ kind }) => kind === 'limited').length, 45);
  t.equal(compared.length, 5);
  const together = await Promise.all(
    Array.from({ length: 50 }, () => guard.check(access, clientWith({ 'x-status-password': password }, '192.0.2.1'))),
  );
  t.ok(together.every(({ kind }) => kind === 'open'));
  t.equal(compared.length, 6);
});

t.test('what is longer than a password can be is wrong without being compared', async (t) => {
  const { guard, compared } = stage();
  t.equal((await guard.check(access, clientWith({ 'x-status-password': 'x'.repeat(201) }))).kind, 'refused');
  t.equal((await guard.check(access, clientWith({ authorization: basic('x'.repeat(9_000)) }))).kind, 'refused');
  t.same(compared, []);
});

t.test('while too many are compared nobody is judged, and nothing is counted', async (t) => {
  let isBusy = true;
  const { guard } = stage(async (hash, text) => {
    if (isBusy) throw new Problem('busy', 'too many');
    return verifyPlain(hash, text);
  });
  for (let number = 0; number < 10; number += 1) {
    t.equal((await guard.check(access, clientWith({ 'x-status-password': `any ${number}` }))).kind, 'busy');
  }
  isBusy = false;
  t.equal((await guard.check(access, clientWith({ 'x-status-password': password }))).kind, 'open');
});

t.test('networks and cookies open a page without a comparison', async (t) => {
  const { guard, compared, clock } = stage();
  const mixed = accessFor({ passwordHash: password, addresses: ['192.0.2.0/24', '2001:db8::/32'] });
  for (const address of ['192.0.2.255', '::ffff:192.0.2.1', '2001:db8:1::1']) {
    t.equal(guard.judge(mixed, clientWith({ 'x-status-password': 'wrong' }, address)), 'open', address);
  }
  for (const address of ['192.0.3.0', '2001:db9::1', 'unknown', '']) {
    t.equal(guard.judge(mixed, clientWith({}, address)), 'refused', address);
  }
  const header = setCookie(mixed, { path: '/', isSecure: false, nowMs: clock.ms });
  t.equal(guard.judge(mixed, clientWith({ cookie: header.split(';')[0] ?? '' })), 'open');
  t.equal(guard.judge(mixed, undefined), 'refused', 'nobody in particular');
  t.equal(guard.judge(null, undefined), 'open');
  t.same(compared, []);
});
