import { createECDH, createHash, randomBytes } from 'node:crypto';
import { createServer as createPlainServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { testAuthority } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { importJWK, jwtVerify } from 'jose';
import { decryptPush } from '../../channels/testing/decrypt-push.ts';
import type { BrowserSecrets } from '../../channels/testing/decrypt-push.ts';

/** What a push service took and its browser opened. */
type Received = {
  readonly browser: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly notification: Readonly<Record<string, unknown>>;
};

type Instead = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** What happens before it is answered. */
  readonly after?: () => Promise<unknown>;
};

/** A browser that has subscribed. */
export type TestBrowser = {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** From now on its push service gives these answers, and the last of them for good; none: as usual. */
  readonly meet: (...answers: readonly Instead[]) => void;
};

type PushService = {
  readonly origin: string;
  /** Of the authority that issued its certificate; absent over plain HTTP. */
  readonly caCertificates?: string;
  /** @param publicKey the key of the application that it subscribes with (RFC 8292, section 4) */
  readonly browser: (publicKey: string, name?: string) => TestBrowser;
  readonly received: Received[];
  /** How many requests came, whatever they were answered. */
  readonly requests: () => number;
};

type Kept = {
  readonly name: string;
  readonly publicKey: string;
  readonly secrets: BrowserSecrets;
  answers: readonly Instead[];
};

/**
 * For tests: a push service with browsers behind it, on loopback. It lets in whoever signs with the key of the subscription, as RFC 8292 has it,
 * and its browsers open what they are given, as RFC 8291 has it; anything else is answered 400 with what is wrong.
 */
export async function pushService(t: TestContext, scheme: 'https' | 'http' = 'https'): Promise<PushService> {
  const kept = new Map<string, Kept>();
  const received: Received[] = [];
  let requests = 0;
  let origin = '';
  const answer = async (request: IncomingMessage): Promise<Instead & { readonly text?: string }> => {
    const body = await buffer(request);
    const browser = kept.get(request.url ?? '');
    if (browser === undefined) return { status: 404 };
    const [instead, ...later] = browser.answers;
    if (instead !== undefined) {
      if (later.length > 0) browser.answers = later;
      await instead.after?.();
      return instead;
    }
    if (body.length > 4_096) return { status: 413 };
    try {
      const claims = await verified(request.headers.authorization ?? '', browser.publicKey, origin);
      if (request.headers['content-encoding'] !== 'aes128gcm') return { status: 400, text: 'content-encoding' };
      if (!/^[0-9]+$/.test(String(request.headers['ttl']))) return { status: 400, text: 'ttl' };
      const notification = JSON.parse(decryptPush(body, browser.secrets).toString('utf8')) as Record<string, unknown>;
      received.push({ browser: browser.name, headers: request.headers, bytes: body.length, claims, notification });
      return { status: 201, headers: { location: `${origin}/m/${received.length}` } };
    } catch (error) {
      return { status: error instanceof Refused ? 403 : 400, text: String(error) };
    }
  };
  const listener: RequestListener = (request, response) => {
    requests += 1;
    void answer(request).then(({ status, headers = {}, text = '' }) =>
      response.writeHead(status, { ...headers }).end(text),
    );
  };
  const authority = scheme === 'https' ? await testAuthority() : undefined;
  const issued = await authority?.issue({ names: ['127.0.0.1'] });
  const server =
    issued === undefined
      ? createPlainServer(listener)
      : createTlsServer({ cert: issued.certificatePem, key: issued.keyPem }, listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const address = server.address();
  origin = `${scheme}://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    origin,
    ...(authority === undefined ? {} : { caCertificates: authority.certificatePem }),
    browser: (publicKey, name = 'browser') => {
      const path = `/push/${randomBytes(24).toString('base64url')}`;
      const ecdh = createECDH('prime256v1');
      const secrets = { publicKey: ecdh.generateKeys(), privateKey: ecdh.getPrivateKey(), auth: randomBytes(16) };
      const browser: Kept = { name, publicKey, secrets, answers: [] };
      kept.set(path, browser);
      const keys = { p256dh: secrets.publicKey.toString('base64url'), auth: secrets.auth.toString('base64url') };
      return { endpoint: `${origin}${path}`, keys, meet: (...answers) => void (browser.answers = answers) };
    },
    received,
    requests: () => requests,
  };
}

class Refused extends Error {}

/** RFC 8292, sections 2 and 3: who sends, and whether the subscription is theirs. */
async function verified(authorization: string, publicKey: string, origin: string): Promise<Record<string, unknown>> {
  const { token = '', key = '' } = /^vapid t=(?<token>\S+), k=(?<key>\S+)$/.exec(authorization)?.groups ?? {};
  if (key !== publicKey) throw new Refused('the subscription has another key');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), {
    audience: origin,
    algorithms: ['ES256'],
  });
  if (payload.exp === undefined || payload.exp - Date.now() / 1_000 > 86_400)
    throw new Refused('ends later than in 24 hours');
  if (!/^(mailto:|https:\/\/)/.test(payload.sub ?? '')) throw new Refused('says not whom to turn to');
  return payload;
}

/** SHA-256 of an endpoint, as lists show it. */
export function shownHash(endpoint: string): string {
  return createHash('sha256').update(endpoint).digest('hex');
}
