import { createServer, type ServerOptions } from 'node:https';
import t, { type Test } from 'tap';
import { runCheck } from '../run.ts';
import { issue } from '../testing/certificates.ts';
import { listen, listenRaw, testContext } from '../testing/context.ts';

const authority = await issue({ name: 'Authority', authority: true });
const { cert, key } = await issue({ name: 'leaf', by: authority, addresses: ['127.0.0.1'] });
const trust = { ca_certificates: authority.cert };
/** A share of the hybrid key exchange alone has more bytes. */
const shareBytes = 1_184;

const check = (port: number, settings: object) =>
  runCheck('https', { url: `https://127.0.0.1:${port}/` }, settings, testContext());

void t.test('what anybody may read is asked for without a hybrid key, what a secret opens with one', async (t) => {
  let helloBytes = 0;
  const peer = await listenRaw((socket) => {
    socket.once('data', (hello: Buffer) => {
      helloBytes = hello.readUInt16BE(3);
      socket.destroy();
    });
  });
  t.teardown(peer.stop);
  const hello = async (settings: object): Promise<number> => {
    helloBytes = 0;
    await check(peer.port, settings);
    return helloBytes;
  };
  const plain = await hello({});
  t.ok(plain > 100 && plain < shareBytes, `${plain} bytes`);
  t.equal(await hello({ headers: { 'X-Probe': '1' } }), plain, 'an open header is no secret');
  for (const [what, settings] of Object.entries({
    'a password': { username: 'who', password: 'secret' },
    'a token': { bearer_token: 'secret' },
    'a secret header': { secret_headers: { 'X-Key': 'secret' } },
    'a body': { method: 'POST', body: 'secret' },
    'an own certificate': { client_certificate: cert, client_key: key },
  }))
    t.ok((await hello(settings)) > shareBytes, what);
});

void t.test('a server that takes nothing but hybrid keys is up, and from then on asked with one at once', async (t) => {
  const { port, connections } = await server(t, { ecdhCurve: 'X25519MLKEM768' });
  const settings = { ...trust };
  t.match(await check(port, settings), { outcome: 'ok', phases: { tls: Number } });
  t.equal(connections(), 2, 'the first check learns it');
  t.match(await check(port, settings), { outcome: 'ok' });
  t.equal(connections(), 3);
});

void t.test('a server whose keys are of any other kind is asked once', async (t) => {
  for (const ecdhCurve of ['P-256', 'P-384', 'P-521', 'X448', 'ffdhe2048']) {
    const { port, connections } = await server(t, { ecdhCurve });
    t.match(await check(port, trust), { outcome: 'ok' }, ecdhCurve);
    t.equal(connections(), 1, ecdhCurve);
  }
  const { port } = await server(t, { ciphers: 'TLS_AES_256_GCM_SHA384' });
  t.match(await check(port, trust), { outcome: 'ok' }, 'nor is a cipher left out');
});

void t.test('a server that refuses both has failed, after a second try', async (t) => {
  const { port, connections } = await server(t, { ecdhCurve: 'brainpoolP256r1', maxVersion: 'TLSv1.2' });
  t.match(await check(port, trust), { outcome: 'fail', source: 'target', code: 'tls_handshake' });
  t.equal(connections(), 2);
});

async function server(t: Test, options: ServerOptions): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const made = createServer({ key, cert, ...options }, (_request, response) => response.end('hello'));
  made.on('connection', () => (connections += 1));
  made.on('tlsClientError', () => undefined);
  const { port, stop } = await listen(made);
  t.teardown(stop);
  return { port, connections: () => connections };
}
