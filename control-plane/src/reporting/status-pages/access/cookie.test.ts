import t from 'tap';
import { hasCookie, setCookie } from './cookie.ts';
import { accessFor } from './testing.ts';

const nowMs = 1_790_000_000_000;
const hourMs = 3_600_000;
const place = { path: '/status/shop', isSecure: true, nowMs };
const sentBack = (header: string): string => header.split(';')[0] ?? '';

t.test('a cookie is good for twelve hours, for its page in its version alone', async (t) => {
  const access = accessFor();
  const header = setCookie(access, place);
  t.match(
    header,
    /^status_access=[0-9a-z]+\.[\w-]{43}; Path=\/status\/shop; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
  );
  t.notMatch(setCookie(access, { ...place, isSecure: false }), 'Secure');
  const cookie = sentBack(header);
  t.ok(hasCookie(access, cookie, nowMs));
  t.ok(hasCookie(access, `a=b; ${cookie}; c=d`, nowMs + 12 * hourMs - 1));
  t.notOk(hasCookie(access, cookie, nowMs + 12 * hourMs));
  t.notOk(hasCookie(accessFor({ pageId: 2 }), cookie, nowMs), 'another page');
  t.notOk(hasCookie(accessFor({ version: 2 }), cookie, nowMs), 'after a change');
});

t.test('nobody makes one up, makes one last longer, or hides a good one behind others', async (t) => {
  const access = accessFor();
  const cookie = sentBack(setCookie(access, place));
  const [, value = ''] = cookie.split('=');
  const [expires = '', mac = ''] = value.split('.');
  const later = (Number.parseInt(expires, 36) + 1).toString(36);
  for (const forged of [
    `${later}.${mac}`,
    `${expires}.${mac.slice(0, -1)}`,
    `${expires}.${'A'.repeat(43)}`,
    `${expires}.`,
    `.${mac}`,
    mac,
    '',
    `${expires}.${mac}.${mac}`,
    '__proto__',
    'x'.repeat(5_000),
  ]) {
    t.notOk(hasCookie(access, `status_access=${forged}`, nowMs), forged.slice(0, 60));
  }
  t.notOk(hasCookie(access, undefined, nowMs));
  t.notOk(hasCookie(access, `other_${cookie}`, nowMs));
  t.ok(hasCookie(access, `status_access=forged; ${cookie}`, nowMs));
});
