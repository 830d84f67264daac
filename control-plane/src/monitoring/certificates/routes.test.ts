import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { certificateChainSchema } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
// The same certificates as in the tests of the checks.
import { issue } from '../../../../packages/checks/src/testing/certificates.ts';
import type { Issued } from '../../../../packages/checks/src/testing/certificates.ts';
import { sql } from '../../platform/database/pools.ts';
import { addProbe, monitorsApi } from '../testing.ts';
import type { MonitorsApi } from '../testing.ts';
import { certificatesCapability } from './index.ts';

async function chainOf(leafOptions: { readonly untilDays?: number; readonly dnsNames?: readonly string[] } = {}) {
  const root = await issue({ name: 'root', authority: true });
  const middle = await issue({ name: 'middle', authority: true, by: root });
  const leaf = await issue({ name: 'leaf', by: middle, dnsNames: ['localhost'], ...leafOptions });
  return { root, middle, leaf };
}

async function server(t: TestContext, leaf: Issued, sent: readonly Issued[]) {
  const sockets = new Set<Socket>();
  const made = tls.createServer({ key: leaf.key, cert: sent.map(({ cert }) => cert).join('') });
  const counter = { port: 0, connections: 0 };
  made.on('connection', (socket: Socket) => {
    counter.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  made.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
  await once(made, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    made.close();
  });
  counter.port = (made.address() as AddressInfo).port;
  return counter;
}

const open = (t: TestContext, allowed: readonly string[] = ['127.0.0.0/8', '::1/128']): Promise<MonitorsApi> =>
  monitorsApi(t, { more: [certificatesCapability], context: { allowedPrivateTargets: allowed } });
const pathOf = (id: number, query = '') => `/api/v1/monitors/${id}/cert-chain${query}`;

void t.test(
  'without probes the control plane shakes hands, once for all who ask, and keeps it for five minutes',
  async (t) => {
    const api = await open(t);
    const { root, middle, leaf } = await chainOf();
    const target = await server(t, leaf, [leaf, middle]);
    const { id } = await api.monitor({
      protocol: 'ssl',
      url: `localhost:${target.port}`,
      settings: { ca_certificates: root.cert, ip_version: 4 },
    });
    const asked = await Promise.all([1, 2, 3].map(() => api.call('GET', pathOf(id), { token: api.token })));
    t.equal(target.connections, 1, JSON.stringify(asked[0]?.body));
    for (const { status, body } of asked) {
      t.equal(status, 200);
      t.ok(certificateChainSchema.strict().safeParse(body).success);
      t.match(body, {
        reachable: true,
        error: null,
        trusted: true,
        problems: [],
        probe_id: null,
        tls_version: 'TLSv1.3',
        certificates: [
          {
            role: 'leaf',
            subject: 'CN=leaf',
            issuer: 'CN=middle',
            names: ['localhost'],
            key_type: 'ec',
            key_bits: 256,
            signature_algorithm: /ecdsa/i,
            days_left: 90,
            pem: /BEGIN CERTIFICATE/,
          },
          { role: 'intermediate', subject: 'CN=middle' },
        ],
      });
    }
    t.match((await api.call('GET', pathOf(id), { token: api.token })).body, { cached: true });
    t.equal(target.connections, 1);
    t.match((await api.call('GET', pathOf(id, '?force=true'), { token: api.token })).body, { cached: false });
    t.equal(target.connections, 2, 'force looks again');
    await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { url: `127.0.0.1:${target.port}` } });
    t.match((await api.call('GET', pathOf(id), { token: api.token })).body, {
      cached: false,
      trusted: false,
      problems: [{ code: 'wrong_host', certificate: 0 }],
    });
    t.equal(target.connections, 3, 'another configuration is another answer');
  },
);

void t.test('handshakes are counted by monitor, so that nobody uses them against a target', async (t) => {
  const api = await open(t);
  const { leaf, middle } = await chainOf();
  const target = await server(t, leaf, [leaf, middle]);
  const { id } = await api.monitor({ protocol: 'ssl', url: `127.0.0.1:${target.port}` });
  const statuses: number[] = [];
  // A minute may begin in between: at most two windows' worth get through.
  for (let tried = 0; tried < 25; tried += 1)
    statuses.push((await api.call('GET', pathOf(id, '?force=true'), { token: api.token })).status);
  t.ok(statuses.filter((each) => each === 200).length <= 20, statuses.join());
  t.ok(target.connections <= 20);
  t.equal(statuses.at(-1), 429);
  t.equal((await api.call('GET', pathOf(id), { token: api.token })).status, 200, 'what is kept costs nothing');
});

void t.test(
  'an assigned probe is asked; what it gives is read here, and nothing else of it is passed on',
  async (t) => {
    const api = await open(t);
    await addProbe(api.database, 'a', 'eu');
    const { leaf, middle } = await chainOf({ untilDays: -2, dnsNames: ['other.test'] });
    const sent = [leaf, middle].map(({ certificate }) => Buffer.from(certificate.rawData).toString('base64'));
    const chain = { certificates: sent, trust_error: 'CERT_HAS_EXPIRED', tls_version: 'TLSv1.2', cipher: 'X' };
    api.broker.answer = () => ({ chain: { ...chain, banner: 'canary', subject: 'canary' } });
    const { id } = await api.monitor({ settings: { username: 'ada', password: 'hidden' } });
    const read = await api.call('GET', pathOf(id), { token: api.token });
    t.match(
      read,
      {
        status: 200,
        body: {
          probe_id: 1,
          trusted: false,
          problems: [
            { code: 'expired', certificate: 0 },
            { code: 'wrong_host', certificate: 0 },
          ],
        },
      },
      JSON.stringify(read.body),
    );
    t.notMatch(JSON.stringify(read.body), /canary|hidden/);
    t.match(api.broker.questions, [{ subject: 'dispatch.1', message: { type: 'read_chain', monitor_id: id } }]);
    t.same(
      Object.keys(Object(api.broker.questions[0]?.message)),
      ['type', 'monitor_id', 'deadline_ms'],
      'it knows the rest',
    );
    await api.call('POST', `/api/v1/monitors/${id}/pause`, { token: api.token });
    await api.call('GET', pathOf(id, '?force=true'), { token: api.token });
    t.match(
      api.broker.questions.at(-1)?.message,
      { assignment: { url: 'https://example.com/' } },
      'of a paused one it is told',
    );
    await api.call('POST', `/api/v1/monitors/${id}/resume`, { token: api.token });
    await api.database.worker.query(sql.unsafe`
      insert into pauses (monitor_id, started_at, paused_by) values (${id}, now() + interval '1 hour', 'group')`);
    await api.call('GET', pathOf(id, '?force=true'), { token: api.token });
    t.match(api.broker.questions.at(-1)?.message, { assignment: {} }, 'and of one that its group pauses');
  },
);

void t.test(
  'a probe that cannot is stood in for by the control plane, unless the monitor names its probes',
  async (t) => {
    const api = await open(t);
    const probeId = await addProbe(api.database, 'a', 'eu');
    const { leaf, middle } = await chainOf();
    const target = await server(t, leaf, [leaf, middle]);
    const url = `127.0.0.1:${target.port}`;
    const { id } = await api.monitor({ protocol: 'ssl', url, name: 'one' });
    const named = await api.monitor({ protocol: 'ssl', url, name: 'two', probe_ids: [probeId] });
    for (const answer of [
      { refused: 'the agent of this probe is too old to read a certificate chain' },
      { chain: { certificates: ['not a certificate!'] } },
      undefined,
    ]) {
      api.broker.answer = () => answer;
      t.match((await api.call('GET', pathOf(id, '?force=true'), { token: api.token })).body, {
        probe_id: null,
        reachable: true,
      });
      t.match(await api.call('GET', pathOf(named.id, '?force=true'), { token: api.token }), {
        status: 503,
        body: { code: 'probe_unreachable' },
      });
    }
    t.equal(target.connections, 3);
  },
);

void t.test('what cannot be reached, may not be reached, or has no TLS is said', async (t) => {
  const api = await open(t);
  const silent = net.createServer((socket) => socket.on('error', () => undefined).end('no TLS here\r\n'));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const garbage = await api.monitor({ protocol: 'ssl', url: `127.0.0.1:${port}`, name: 'garbage' });
  const said = await api.call('GET', pathOf(garbage.id), { token: api.token });
  t.match(said.body, { reachable: true, certificates: [], error_code: 'tls_handshake', error: /handshake/ });
  t.notMatch(JSON.stringify(said.body), /no TLS here/);
  const denied = await api.monitor({ protocol: 'ssl', url: `10.0.0.1:${port}`, name: 'denied' });
  t.match((await api.call('GET', pathOf(denied.id), { token: api.token })).body, {
    reachable: false,
    error_code: 'address_denied',
    trusted: false,
  });
  const plain = await api.monitor({ protocol: 'tcp', url: `127.0.0.1:${port}`, name: 'plain' });
  t.match(await api.call('GET', pathOf(plain.id), { token: api.token }), {
    status: 422,
    body: { errors: [{ code: 'no_tls' }] },
  });
  t.equal((await api.call('GET', pathOf(999), { token: api.token })).status, 404);
  const stranger = await api.account('stranger@example.com');
  t.equal((await api.call('GET', pathOf(garbage.id), { token: stranger.accessToken })).status, 404);
  const { body } = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  t.equal((await api.call('GET', pathOf(garbage.id), { key: String(body['key']) })).status, 200);
});
