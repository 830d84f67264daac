import type tls from 'node:tls';
import { createSecureContext } from 'node:tls';
import t from 'tap';
import type { ErrorCode } from './outcome.ts';
import type { Protocol } from './registry.ts';
import { runCheck } from './run.ts';
import { startTlsProtocols } from './ssl/starttls.ts';
import { issue, type Issued } from './testing/certificates.ts';
import { testContext } from './testing/context.ts';
import { startMssql } from './testing/servers/mssql.ts';
import { openTlsFront, type Preamble, preambles } from './testing/tls-front.ts';

const host = 'site.localhost';
const otherHost = 'other.localhost';
const days = (count: number) => ({ fromDays: Math.min(count - 10, -1), untilDays: count });
const names = { dnsNames: [host], addresses: ['127.0.0.1'] };
const root = await issue({ name: 'Test root', authority: true });
const middle = await issue({ name: 'Test intermediate', authority: true, by: root });
const stranger = await issue({ name: 'Another root', authority: true });
const good = await issue({ name: 'site', by: root, ...names });
const other = await issue({ name: 'other', by: root, dnsNames: [otherHost] });

/** What a server shows, and the code that every type gives for it; without one the handshake is good. */
type Case = { readonly shows: Issued; readonly options?: tls.TlsOptions; readonly code?: ErrorCode };
const cases: Readonly<Record<string, Case>> = {
  expired: { shows: await issue({ name: 'old', by: root, ...names, ...days(-1) }), code: 'tls_expired' },
  'not yet valid': {
    shows: await issue({ name: 'new', by: root, ...names, fromDays: 2 }),
    code: 'tls_not_yet_valid',
  },
  'another host': { shows: other, code: 'tls_hostname' },
  'signed by itself': { shows: await issue({ name: 'self', ...names }), code: 'tls_self_signed' },
  'without its intermediate': {
    shows: await issue({ name: 'leaf', by: middle, ...names }),
    code: 'tls_incomplete_chain',
  },
  'of an authority that nobody trusts': {
    shows: await issue({ name: 'leaf', by: stranger, ...names }),
    options: { ca: [stranger.cert] },
    code: 'tls_untrusted',
  },
  'a key of 1024 bits': {
    shows: await issue({ name: 'weak', by: root, ...names, rsaBits: 1024 }),
    options: { ciphers: 'DEFAULT:@SECLEVEL=0' },
    code: 'tls_weak',
  },
  'only TLS 1.1': {
    shows: good,
    options: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
    code: 'tls_weak',
  },
  'only TLS 1.2': { shows: good, options: { maxVersion: 'TLSv1.2' } },
  'with its intermediate': { shows: await withChain(), options: {} },
  'one of two names (SNI)': {
    shows: other,
    options: {
      SNICallback: (name, answer) =>
        answer(null, name === host ? createSecureContext({ key: good.key, cert: good.cert }) : undefined),
    },
  },
};

async function withChain(): Promise<Issued> {
  const leaf = await issue({ name: 'leaf', by: middle, ...names });
  return { ...leaf, cert: leaf.cert + middle.cert };
}

/** A way to a handshake: a type with the settings that lead to it, and what is said before. */
type Way = {
  readonly type: Protocol;
  readonly url: (port: number) => string;
  readonly settings?: object | ((port: number) => object);
  readonly preamble?: Preamble;
};
const bare = (port: number) => `${host}:${port}`;
const implicit = { tls: 'implicit' };
const agreed = { tls: 'starttls' };
const login = { username: 'u', password: 'secret' };

/** Every type that can shake hands, from the first byte on. */
const direct: Readonly<Record<string, Way>> = {
  https: { type: 'https', url: (port) => `https://${host}:${port}/` },
  wss: { type: 'wss', url: (port) => `wss://${host}:${port}/` },
  grpcs: { type: 'grpc', url: (port) => `grpcs://${host}:${port}` },
  docker: { type: 'docker', url: (port) => `https://${host}:${port}`, settings: { container: 'web' } },
  rdap: {
    type: 'rdap',
    url: () => 'example.test',
    settings: (port: number) => ({ rdap_server: `https://${host}:${port}/` }),
  },
  'DNS over TLS': { type: 'dns', url: () => 'www.test', settings: overDns('tls') },
  'DNS over HTTPS': { type: 'dns', url: () => 'www.test', settings: overDns('https') },
  ssl: { type: 'ssl', url: bare },
  tls: { type: 'tls', url: bare },
  smtps: { type: 'smtp', url: bare, settings: implicit },
  imaps: { type: 'imap', url: bare, settings: implicit },
  pop3s: { type: 'pop3', url: bare, settings: implicit },
  ftps: { type: 'ftps', url: bare, settings: implicit },
  ldaps: { type: 'ldap', url: bare, settings: implicit },
  mqtts: { type: 'mqtt', url: bare, settings: implicit },
  amqps: { type: 'amqp', url: bare, settings: implicit },
  kafkas: { type: 'kafka', url: bare, settings: implicit },
  'nats first': { type: 'nats', url: bare, settings: implicit },
  rediss: { type: 'redis', url: bare, settings: implicit },
  mongodb: { type: 'mongodb', url: bare, settings: implicit },
  sips: { type: 'sip', url: (port) => `sips:${host}:${port}` },
};

/** And every one that changes to it. */
const changing: Readonly<Record<string, Way>> = {
  'smtp STARTTLS': { type: 'smtp', url: bare, settings: agreed, preamble: preambles.smtp },
  'imap STARTTLS': { type: 'imap', url: bare, settings: agreed, preamble: preambles.imap },
  'pop3 STLS': { type: 'pop3', url: bare, settings: agreed, preamble: preambles.pop3 },
  'ftps AUTH TLS': { type: 'ftps', url: bare, settings: agreed, preamble: preambles.ftp },
  'ldap StartTLS': { type: 'ldap', url: bare, settings: agreed, preamble: preambles.ldap },
  'nats INFO': { type: 'nats', url: bare, settings: agreed, preamble: preambles.nats },
  'postgres SSLRequest': {
    type: 'postgres',
    url: bare,
    settings: { ...agreed, ...login },
    preamble: preambles.postgres,
  },
  'mysql SSLRequest': { type: 'mysql', url: bare, settings: { ...agreed, ...login }, preamble: preambles.mysql },
  ...Object.fromEntries(
    (['ssl', 'tls'] as const).flatMap((type) =>
      startTlsProtocols.map((starttls) => [
        `${type} by ${starttls}`,
        { type, url: bare, settings: { starttls }, preamble: preambles[starttls] },
      ]),
    ),
  ),
};

function overDns(transport: 'tls' | 'https') {
  return (port: number) => ({ transport, server: `${host}:${port}` });
}

function check(way: Way, port: number) {
  const settings = typeof way.settings === 'function' ? way.settings(port) : way.settings;
  const whole = { ...settings, ca_certificates: root.cert };
  return runCheck(way.type, { url: way.url(port) }, whole, testContext({ timeoutMs: 10_000 }));
}

for (const [what, way] of Object.entries({ ...direct, ...changing })) {
  void t.test(`${what}: each fault of a certificate has its code`, async (t) => {
    const marks = await Promise.all(
      Object.entries(cases).map(async ([fault, { shows, options, code }]) => {
        const front = await openTlsFront({ key: shows.key, cert: shows.cert, ...options }, way.preamble);
        const outcome = await check(way, front.port);
        if (code === undefined) {
          t.notMatch(outcome.code, /^(tls_|starttls_|connect_refused|probe_|target_)/, `${fault}: ${outcome.message}`);
          t.type(outcome.phases.tls, 'number', `${fault}: the handshake was finished`);
        } else {
          t.match(
            outcome,
            { outcome: 'fail', source: 'target', code, message: String },
            `${fault}: ${outcome.message}`,
          );
        }
        await front.stop();
        return `${fault}: ${outcome.code ?? outcome.outcome}`;
      }),
    );
    t.comment(marks.join(', '));
  });
}

void t.test('mssql: the same inside of its own packets', async (t) => {
  for (const [fault, { shows, options = {}, code }] of Object.entries(cases)) {
    // The server of this protocol takes a certificate and its key, and no other settings.
    if (Object.keys(options).length > 0 || code === undefined) continue;
    const guard = () => Buffer.alloc(0);
    const peer = await startMssql(t, { key: shows.key, cert: shows.cert, login: guard });
    const way: Way = { type: 'mssql', url: bare, settings: { ...agreed, ...login } };
    t.match(await check(way, peer.port), { outcome: 'fail', source: 'target', code }, fault);
  }
});
