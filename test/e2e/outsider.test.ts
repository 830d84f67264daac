import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { protocols } from '@parallax/checks';
import { isWhole, sampleSeed } from '@parallax/testkit/extent';
import t from 'tap';
import type { Test } from 'tap';
import { oneInEach } from '../contract/hostile/sample.ts';
import { apiClient } from '../harness/api-client.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { enrolAgent, signedIn, loopbackTargetsForAll, startProduct, untilOnline } from '../harness/product.ts';
import type { Product } from '../harness/product.ts';

/** A monitor that somebody may try to create. */
type Attempt = {
  readonly protocol: string;
  readonly url: string;
  readonly settings?: Readonly<Record<string, unknown>>;
};
type Checked = { status: string; results: { outcome: string; error_code: string | null; message: string | null }[] };
/** `refused` at the API, else the codes of what those that checked had to say. */
type Fate = { readonly attempt: Attempt; readonly codes: readonly string[]; readonly text: string };

const atOnce = 8;
/** Each door, target or spelling is tried in one of so many ways, the next one in the ways that follow. */
const oneIn = isWhole ? 1 : 3;
/** What a name comes to that nobody has, with name servers and without. */
const unknownName = ['dns_nxdomain', 'dns_refused', 'dns_timeout', 'dns_servfail', 'dns_no_answer'];

/** Every way to write this machine that a resolver, a kernel or a URL parser takes. */
const loopbackSpellings = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'any.localhost',
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0x7f000001',
  '017700000001',
  '2130706433',
  '127.8.9.10',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '１２７.0.0.1',
  '127。0。0。1',
];
const otherSpellings = [
  '0.0.0.0',
  '0',
  '[::]',
  '[::ffff:0:0]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[::127.0.0.1]',
];

function interfaceAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [...new Set(all.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)))];
}

/** Creates each monitor, checks it by hand and gives what became of it; eight at a time. */
async function tryAll(outsider: Outsider, attempts: readonly Attempt[]): Promise<readonly Fate[]> {
  const fates: Fate[] = [];
  const waiting = [...attempts];
  const work = async (): Promise<void> => {
    for (let attempt = waiting.shift(); attempt !== undefined; attempt = waiting.shift())
      fates.push(await tryOne(outsider, attempt));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return fates;
}

type Outsider = { readonly api: ApiClient; readonly key: Record<string, string>; readonly workspaceId: number };

async function tryOne({ api, key, workspaceId }: Outsider, attempt: Attempt): Promise<Fate> {
  // Not active: only the checks by hand are made, so each attempt costs one connection.
  const body = {
    workspace_id: workspaceId,
    interval_seconds: 60,
    timeout_seconds: 2,
    is_active: false,
    name: uniqueName(),
    ...attempt,
  };
  const created = await fetch(`${api.baseUrl}/api/v1/monitors`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const monitor = (await created.json()) as { id: number };
  if (created.status === 422) return { attempt, codes: ['refused'], text: JSON.stringify(monitor) };
  if (created.status !== 201)
    throw new Error(`POST /monitors: ${created.status} ${JSON.stringify(monitor)} for ${attempt.url}`);
  const checked = await api.call<Checked>('POST', `/api/v1/monitors/${monitor.id}/check`, 200);
  const codes = checked.results.map((result) => result.error_code ?? result.outcome);
  return { attempt, codes, text: JSON.stringify(checked) };
}

let names = 0;
const uniqueName = (): string => `attempt ${(names += 1)}`;
const shown = ({ attempt, codes }: Fate): string =>
  `${attempt.protocol} ${attempt.url}${attempt.settings === undefined ? '' : ` ${JSON.stringify(attempt.settings)}`}: ${codes.join(', ') || 'nothing'}`;

/** The fates other than those that are wanted, as texts. */
const otherThan = (fates: readonly Fate[], wanted: readonly string[]): string[] =>
  fates.filter(({ codes }) => codes.length === 0 || !codes.every((code) => wanted.includes(code))).map(shown);

/** A server of the outsider's own: answers, and sends whoever asks for /to?where elsewhere. */
async function ownServer() {
  const server = createServer((request, response) => {
    const where = /^\/to\?(.*)$/.exec(request.url ?? '')?.[1];
    if (where === undefined) response.end('hello\n');
    else response.writeHead(302, { location: decodeURIComponent(where) }).end();
  });
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '::', ipv6Only: false }, resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** A way to knock at a door of the product: one spelling of one address, with the port of one listener. */
type Knock = { readonly host: string; readonly port: number; readonly attempt: Attempt };

/** Every listener of the product, by every spelling of every address; the doors of one spelling follow one another. */
function forbidden(
  product: Product,
  protocolsWithPort: readonly string[],
): { readonly byAddress: readonly Knock[]; readonly byName: readonly Knock[] } {
  const knocks = (hosts: readonly string[], isServer: boolean): Knock[] =>
    hosts.flatMap((host) =>
      Object.values(product.ports).flatMap((port) => {
        const attempts = protocolsWithPort.map((protocol): Attempt => {
          const scheme = protocol === 'http' || protocol === 'https' ? `${protocol}://` : '';
          return { protocol, url: `${scheme}${host}:${port}` };
        });
        if (isServer) attempts.push({ protocol: 'dns', url: 'example.org', settings: { server: `${host}:${port}` } });
        return attempts.map((attempt) => ({ host, port, attempt }));
      }),
    );
  const hosts = [...loopbackSpellings, ...otherSpellings, ...interfaceAddresses()];
  return { byAddress: knocks(hosts, true), byName: knocks([hostname(), 'ip6-localhost'], false) };
}

/** One in so many of the ways for each door. */
const someKnocks = (knocks: readonly Knock[]): readonly Knock[] =>
  oneInEach(knocks, ({ host, port }) => `${host} ${port}`, oneIn, sampleSeed);

/** What a sample must have as the whole does: each spelling with each port, each protocol with each spelling and with each port. */
const pairsOf = (knocks: readonly Knock[]): readonly string[] =>
  [
    ...new Set(
      knocks.flatMap(({ host, port, attempt: { protocol } }) => [
        `${host} with ${port}`,
        `${protocol} with ${host}`,
        `${protocol} with ${port}`,
      ]),
    ),
  ].sort();

/** Files, sockets and commands, written where a target belongs: no protocol takes them. */
function notTargets(product: Product): Attempt[] {
  const socket = socketOf(product);
  const texts = [
    `unix://${socket}`,
    `http+unix://${encodeURIComponent(socket)}/`,
    `http://${encodeURIComponent(socket)}/`,
    `tcp://${socket}`,
    `postgresql://parallax_owner@${encodeURIComponent(socket)}/postgres`,
    'file:///etc/passwd',
    'file://localhost/etc/passwd',
    '../../etc/passwd',
    'data:text/plain,hello',
    '127.0.0.1; cat /etc/passwd',
    '127.0.0.1 -f /etc/passwd',
    '127.0.0.1\nlocalhost',
    `http://user:password@localhost:${product.ports.nats}/`,
  ];
  return texts.flatMap((url) => protocols.map((protocol) => ({ protocol, url })));
}

/** Some protocols read the beginning of these as the name of a host, which is nobody's. */
function strangeNames(product: Product): Attempt[] {
  const socket = socketOf(product);
  const texts = [
    `unix:${socket}`,
    `http://unix:${socket}:/`,
    socket,
    '/etc/passwd',
    '@parallax',
    'javascript:1',
    '-f/etc/passwd',
    '--help',
    '$(id)',
    '`id`',
  ];
  return texts.flatMap((url) => protocols.map((protocol) => ({ protocol, url })));
}

/** One in so many of the protocols for each text. */
const ofEachText = (attempts: readonly Attempt[]): readonly Attempt[] =>
  oneInEach(attempts, ({ url }) => url, oneIn, sampleSeed);

function socketOf(product: Product): string {
  return `${product.dataDir}/postgres-socket/.s.PGSQL.5432`;
}

t.test('a registered user reaches nothing of the product through a check', { timeout: 240_000 }, async (t) => {
  const own = await ownServer();
  t.teardown(own.close);
  // With its own machine open to everybody, what is left to refuse are the product's own listeners.
  const product = await startProduct(loopbackTargetsForAll);
  t.teardown(product.stop);
  const { api: administrator } = await signedIn(product.baseUrl);
  const nobody = apiClient(product.baseUrl);
  const account = { email: 'outsider@example.org', password: 'somebody whom nobody knows' };
  await nobody.call('POST', '/api/v1/auth/register', 201, account);
  const { access_token } = await nobody.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, account);
  const api = nobody.withToken(access_token);
  const { workspaces } = await api.call<{ workspaces: { id: number }[] }>('GET', '/api/v1/workspaces', 200);
  const { key } = await api.call<{ key: string }>('POST', '/api/v1/api-keys', 201, { name: 'outsider' });
  const outsider: Outsider = { api, key: { 'x-api-key': key }, workspaceId: workspaces[0]?.id ?? 0 };

  /** What a place that checks is asked for: the control plane itself, then a probe. */
  async function reachesNothing(t: Test, protocolsWithPort: readonly string[]): Promise<void> {
    const { byAddress, byName } = forbidden(product, protocolsWithPort);
    const knocks = someKnocks(byAddress);
    t.same(pairsOf(knocks), pairsOf(byAddress), 'the sample leaves out no pair');
    const fates = await tryAll(
      outsider,
      knocks.map(({ attempt }) => attempt),
    );
    t.equal(fates.length, knocks.length);
    t.same(otherThan(fates, ['refused', 'address_denied']), [], 'no listener by any address');
    // A name may also not be known here.
    const named = await tryAll(
      outsider,
      someKnocks(byName).map(({ attempt }) => attempt),
    );
    t.same(otherThan(named, ['address_denied', ...unknownName]), []);
    const hops = Object.values(product.ports).flatMap((port) =>
      ['127.1', 'localhost', '[::1]', '0x7f.1'].map((host) => `http://${host}:${port}/`),
    );
    const redirected = (where: string): Attempt => ({
      protocol: 'http',
      url: `http://localhost:${own.port}/to?${encodeURIComponent(where)}`,
    });
    const chained = `http://localhost:${own.port}/to?${encodeURIComponent(`//127.0.0.1:${product.ports.nats}/`)}`;
    t.same(
      otherThan(await tryAll(outsider, [...hops, chained].map(redirected)), ['address_denied']),
      [],
      'nor after a redirect',
    );
    const files = await tryAll(outsider, ['file:///etc/passwd', 'unix:/run/x', 'ftp://localhost/'].map(redirected));
    t.same(otherThan(files, ['http_redirect']), [], 'nor a file after a redirect');
    const reached = await tryAll(
      outsider,
      loopbackSpellings.flatMap((host): Attempt[] => [
        { protocol: 'http', url: `http://${host}:${own.port}/` },
        { protocol: 'tcp', url: `${host}:${own.port}` },
      ]),
    );
    t.same(otherThan(reached, ['ok']), [], 'another port of the same machine works by each spelling');
  }

  await t.test('what is no target is refused at once', async (t) => {
    const attempts = ofEachText(notTargets(product));
    t.same(new Set(attempts.map(({ protocol }) => protocol)), new Set(protocols), 'each protocol is tried');
    const fates = await tryAll(outsider, attempts);
    t.equal(fates.length, attempts.length);
    t.same(otherThan(fates, ['refused']), []);
    const strange = await tryAll(outsider, ofEachText(strangeNames(product)));
    // Without a browser it is not even looked up.
    t.same(otherThan(strange, ['refused', 'probe_capability', ...unknownName]), []);
    t.same([...fates, ...strange].filter(({ text }) => text.includes('root:')).map(shown), [], 'no file is shown');
  });

  await t.test('by the control plane itself, which checks what has no probe', (t) =>
    reachesNothing(t, ['http', 'https', 'tcp', 'ssl', 'tls']),
  );

  const agent = await enrolAgent(product, administrator, { name: 'probe', region: 'here' });
  const running = agent.start();
  t.teardown(() => running.stop());
  await untilOnline(administrator, 1);

  await t.test('by a probe', (t) => reachesNothing(t, ['http', 'tcp', 'ssl']));
});
