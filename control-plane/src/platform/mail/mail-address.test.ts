import t from 'tap';
import { isMailAddress, maskedAddress, parseSender } from './mail-address.ts';
import { retryAfterSeconds } from './retries.ts';

t.test('one plain mailbox is an address, and nothing that could break out of a header', (t) => {
  const label = 'b'.repeat(63);
  const longDomain = `${label}.${label}.${label}`;
  const good = [
    'ada@example.com',
    'ada+parallax@mail.example.com',
    "o'neil@example.com",
    'a@b',
    'noreply@localhost',
    `${'a'.repeat(254 - longDomain.length - 1)}@${longDomain}`,
  ];
  const bad = [
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\n',
    '\nada@example.com',
    'ada@exa\r\nmple.com',
    'ada@example.com\u0000',
    'ada@example.com ',
    'a da@example.com',
    '"ada"@example.com',
    '"a@b"@example.com',
    'ada@example.com,eve@example.com',
    'ada@example.com;eve@example.com',
    'Ada <ada@example.com>',
    '<ada@example.com>',
    'ada(comment)@example.com',
    'ada\\@example.com',
    'ada@eve@example.com',
    '.ada@example.com',
    'a..da@example.com',
    'ada@-example.com',
    'ada@example..com',
    'ada@[127.0.0.1]',
    'ada@exämple.com',
    'ädä@example.com',
    'ada@example.com\u2028',
    `${'a'.repeat(65)}@example.com`,
    `${'a'.repeat(255 - longDomain.length - 1)}@${longDomain}`,
    `a@${'b'.repeat(64)}.example`,
  ];
  t.same(
    good.filter((text) => !isMailAddress(text)),
    [],
  );
  t.same(
    bad.filter((text) => isMailAddress(text)),
    [],
  );
  t.equal(good.at(-1)?.length, 254);
  t.equal(bad.at(-2)?.length, 255);
  t.end();
});

t.test('a sender has a name or none', (t) => {
  t.same(parseSender('noreply@example.com'), { name: '', address: 'noreply@example.com' });
  t.same(parseSender(' Parallax Nord <noreply@example.com> '), {
    name: 'Parallax Nord',
    address: 'noreply@example.com',
  });
  for (const text of ['Parallax', 'A <b>', 'A <a@b.example> x', 'A "q" <a@b.example>', 'A\r\nB: c <a@b.example>']) {
    t.throws(() => parseSender(text), { name: 'MailAddressError' }, JSON.stringify(text));
  }
  t.equal(maskedAddress('ada@example.com'), 'a…@example.com');
  t.equal(maskedAddress('nothing'), '…');
  t.end();
});

t.test('a mail is tried again sooner, then hourly, for a day', (t) => {
  const waits: number[] = [];
  let nowMs = 0;
  for (let attempts = 1; attempts < 100; attempts += 1) {
    const wait = retryAfterSeconds(attempts, 0, nowMs);
    if (wait === undefined) break;
    waits.push(wait);
    nowMs += wait * 1_000;
  }
  t.same(waits.slice(0, 7), [5, 30, 120, 600, 1_800, 3_600, 3_600]);
  t.ok(nowMs > 23 * 3_600_000 && nowMs <= 24 * 3_600_000, `${nowMs / 3_600_000} h`);
  t.end();
});
