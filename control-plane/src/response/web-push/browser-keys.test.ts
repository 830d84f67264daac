import { createECDH, randomBytes } from 'node:crypto';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { keysHash, readKeys } from './browser-keys.ts';
import { browserName } from './browser-name.ts';

const point = createECDH('prime256v1').generateKeys();
const auth = randomBytes(16);
const keys = { p256dh: point.toString('base64url'), auth: auth.toString('base64url') };

void t.test('keys are read from both alphabets of base64, padded or not, into one form', async (t) => {
  t.same(readKeys(keys), { ok: true, keys });
  t.same(readKeys({ p256dh: point.toString('base64'), auth: auth.toString('base64') }), { ok: true, keys });
  t.equal(keysHash(keys).length, 32);
  t.notSame(keysHash({ ...keys, auth: randomBytes(16).toString('base64url') }), keysHash(keys));
});

void t.test('what is no point of the curve, or of another length, is refused', async (t) => {
  const with04 = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]);
  for (const [p256dh, message] of [
    [with04.toString('base64url'), /no public key/],
    [Buffer.alloc(65).toString('base64url'), /no public key/],
    [Buffer.concat([Buffer.of(2), point.subarray(1)]).toString('base64url'), /no public key/],
    [point.subarray(0, 64).toString('base64url'), /65 bytes/],
    [Buffer.concat([point, Buffer.of(0)]).toString('base64url'), /65 bytes/],
    [`${keys.p256dh.slice(0, 40)} ${keys.p256dh.slice(40)}`, /65 bytes/],
    ['', /65 bytes/],
  ] as const) {
    t.match(readKeys({ ...keys, p256dh }), { ok: false, key: 'p256dh', message }, p256dh);
  }
  // The last character stands for two bits more than there are.
  for (const wrong of [
    '',
    'AAAA',
    randomBytes(15).toString('base64url'),
    randomBytes(17).toString('base64url'),
    `${'A'.repeat(21)}B`,
  ]) {
    t.match(readKeys({ ...keys, auth: wrong }), { ok: false, key: 'auth' }, wrong);
  }
});

void t.test('no text brings it to throw', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.base64String(), (one, other) => {
      readKeys({ p256dh: one, auth: other });
      return !readKeys({ p256dh: other, auth: one }).ok;
    }),
  );
});

void t.test('a browser is called by what it says of itself', async (t) => {
  for (const [userAgent, name] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
      'Safari on macOS',
    ],
    ['curl/8.5.0', 'Browser'],
    [null, 'Browser'],
  ] as const) {
    t.equal(browserName(userAgent), name);
  }
});
