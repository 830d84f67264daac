// Written from RFC 8030 (HTTP Web Push), RFC 8188 (aes128gcm), RFC 8291 (encryption) and RFC 8292 (VAPID), and https://mozilla-services.github.io/autopush-rs/errors.html
// (Error Codes). Checked on 2026-11-23 against the last, docs/src/errors.md of mozilla-services/autopush-rs: statuses and errno, at most 30 days of TTL, `Retry-After` of a
// 429. It lets a topic have letters and digits only; RFC 8030, section 5.4, names base64url. The words of other
// services beside a 400 were found in issues 1323 of vjt/grappa-irc (Apple) and 237 of web-push-libs/web-push (Google).
import { createECDH, createHash, createPublicKey, verify } from 'node:crypto';
import type { SubscribedBrowser, SubscribedBrowsers } from '../../channel.ts';
import { decryptPush } from '../decrypt-push.ts';
import type { BrowserSecrets } from '../decrypt-push.ts';
import type { Must, SeenRequest, StandIn } from '../stand-in.ts';

const bytesOf = (word: string) => createHash('sha256').update(word).digest();

/** A browser with fixed keys, so that a stand-in knows them without being told. */
function browserOf(word: string): BrowserSecrets {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(bytesOf(word));
  return {
    privateKey: ecdh.getPrivateKey(),
    publicKey: ecdh.getPublicKey(),
    auth: bytesOf(`${word} auth`).subarray(0, 16),
  };
}

const browser = browserOf('web push stand-in');
const path = '/wpush/v2/wp-path-credential-81';

const vapid = createECDH('prime256v1');
vapid.setPrivateKey(bytesOf('vapid stand-in'));
const vapidKeys = { publicKey: vapid.getPublicKey('base64url'), privateKey: vapid.getPrivateKey('base64url') };

function subscribed(baseUrl: string): SubscribedBrowsers {
  const only: SubscribedBrowser = {
    id: 7,
    name: 'Firefox on Linux',
    endpoint: `${baseUrl}${path}`,
    keys: { p256dh: browser.publicKey.toString('base64url'), auth: browser.auth.toString('base64url') },
  };
  return {
    find: async (id) => (id === null || id === only.id ? [only] : []),
    remove: async () => undefined,
    noteDelivered: async () => undefined,
    vapidKeys: async () => vapidKeys,
  };
}

/** A push service that lets in whoever has the key of the subscription, and the browser behind it, which opens what it is given. */
export const webPush: StandIn = {
  channel: 'web-push',
  documents: [
    'https://www.rfc-editor.org/rfc/rfc8030',
    'https://www.rfc-editor.org/rfc/rfc8188',
    'https://www.rfc-editor.org/rfc/rfc8291',
    'https://www.rfc-editor.org/rfc/rfc8292',
    'https://mozilla-services.github.io/autopush-rs/errors.html',
  ],
  settings: () => ({}),
  target: 'all',
  browsers: subscribed,
  handle: (request, must) => {
    must(request.method === 'POST' && request.path === path, 'POST to the endpoint');
    mustBeTreated(request, must);
    mustBeSigned(request, must);
    mustOpen(request, must);
    return { status: 201, headers: { location: `http://${request.headers['host'] ?? ''}/m/1`, ttl: '60' } };
  },
  troubles: {
    // RFC 8292, section 4.2, and autopush (errno 109).
    refused_credentials: { status: 401, json: { code: 401, errno: 109, error: 'Unauthorized' } },
    // RFC 8030, section 7.3: an expired subscription.
    unknown_target: { status: 410, json: { code: 410, errno: 106, error: 'Gone' } },
    rate_limited: { status: 429, headers: { 'retry-after': '7' } },
    refused_message: { status: 400, json: { code: 400, errno: 110, error: 'Bad Request' } },
    service_unavailable: { status: 503, text: '' },
  },
  saysHowLong: true,
};

/** RFC 8030, sections 5.2 to 5.4. */
function mustBeTreated({ headers }: SeenRequest, must: Must): void {
  must(/^[0-9]{1,9}$/.test(headers['ttl'] ?? ''), 'TTL in seconds');
  must(/^(very-low|low|normal|high)$/.test(headers['urgency'] ?? 'normal'), 'an urgency that is known');
  must(/^[A-Za-z0-9_-]{1,32}$/.test(headers['topic'] ?? 'none'), 'a topic of at most 32 characters of base64url');
}

/** RFC 8292, sections 2 and 3. */
function mustBeSigned({ headers }: SeenRequest, must: Must): void {
  const { token = '', key = '' } =
    /^vapid t=(?<token>[A-Za-z0-9_.-]+), ?k=(?<key>[A-Za-z0-9_-]+)$/.exec(headers['authorization'] ?? '')?.groups ?? {};
  must(key === vapidKeys.publicKey, 'the public key that the browser subscribed with');
  const [header = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(vapidKeys.publicKey, 'base64url');
  const publicKey = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  });
  const signed = Buffer.from(`${header}.${claims}`);
  must(
    verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')),
    'a token that is signed with ES256',
  );
  const { alg } = jsonOf(header);
  const { aud, exp, sub } = jsonOf(claims);
  must(alg === 'ES256', 'ES256');
  must(aud === `http://${headers['host'] ?? ''}`, 'the origin of the push service as audience');
  const leftS = Number(exp) - Date.now() / 1_000;
  must(leftS > 0 && leftS <= 86_400, 'an end within 24 hours');
  must(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(String(sub)), 'whom to turn to');
}

/** RFC 8291, and the size that every service takes by RFC 8030, section 7.2. */
function mustOpen({ headers, bytes }: SeenRequest, must: Must): void {
  must(headers['content-encoding'] === 'aes128gcm', 'aes128gcm');
  must(bytes.length <= 4_096, 'at most 4,096 bytes');
  try {
    const { title, body } = JSON.parse(decryptPush(bytes, browser).toString('utf8')) as Record<string, unknown>;
    must(typeof title === 'string' && title !== '', 'a title');
    must(typeof body === 'string', 'a body');
  } catch (error) {
    must(false, `a body that the browser opens: ${String(error)}`);
  }
}

function jsonOf(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}
