import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { text as textOf } from 'node:stream/consumers';
import t from 'tap';
import { freePort, ownFolder, startReal } from '../../../../../packages/checks/src/testing/real-server.ts';
import { domainsApi } from './testing.ts';

const root = path.join(import.meta.dirname, '../../../../..');
const host = 'status.shop.example';

/** The example of docs/status-pages.md, with ports of the test, an authority of its own in place of a public one, and nothing kept outside of a folder. */
function caddyfileOf(
  apiPort: number,
  ports: { readonly http: number; readonly https: number },
  folder: string,
): string {
  const [, example] =
    /```caddyfile\n([^]+?)```/.exec(readFileSync(path.join(root, 'docs/status-pages.md'), 'utf8')) ?? [];
  if (example === undefined) throw new Error('docs/status-pages.md has no example for Caddy');
  const options = [
    'admin off',
    'local_certs',
    'skip_install_trust',
    `http_port ${ports.http}`,
    `https_port ${ports.https}`,
    'default_bind 127.0.0.1',
    `storage file_system ${folder}`,
  ];
  return example.replaceAll('127.0.0.1:8080', `127.0.0.1:${apiPort}`).replace('{\n', `{\n\t${options.join('\n\t')}\n`);
}

type Seen = { readonly status: number | undefined; readonly names: string; readonly text: string };

/** Asks for a path by TLS. @throws whatever the handshake ends with */
async function ask(port: number, name: string, at: string): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        servername: name,
        path: at,
        headers: { host: name },
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        const names = (response.socket as TLSSocket).getPeerCertificate().subjectaltname ?? '';
        textOf(response).then((text) => resolve({ status: response.statusCode, names, text }), reject);
      },
    );
    asked.on('error', reject).end();
  });
}

void t.test('the example for Caddy gets certificates for domains of pages, and for nothing else', async (t) => {
  const api = await domainsApi(t);
  const folder = await ownFolder(t, 'caddy');
  const ports = { http: await freePort(), https: await freePort() };
  const file = path.join(folder, 'Caddyfile');
  writeFileSync(file, caddyfileOf(api.port, ports, folder));
  const server = await startReal(t, {
    program: 'caddy',
    args: ['run', '--config', file, '--adapter', 'caddyfile'],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    ready: /serving initial configuration/,
  });
  if (server === undefined) return;
  await t.rejects(ask(ports.https, host, '/'), 'no page has this domain yet');
  const page = await api.page({ is_published: true, slug: 'shop', domain: host });
  await t.rejects(ask(ports.https, host, '/'), 'a claim without its proof gets no certificate');
  api.txt({ [`_parallax.${host}`]: [page.domain_txt ?? ''] });
  t.equal((await api.pages('POST', `/${page.id}/domain/verify`)).status, 200);
  const isServed = async () => (await api.call('GET', `/api/v1/public/domains/ask?domain=${host}`)).status === 200;
  while (!(await isServed())) await api.settle();
  const served = await ask(ports.https, host, '/');
  t.equal(served.status, 200);
  t.equal(served.names, `DNS:${host}`);
  t.match(served.text, `<link rel=canonical href="https://${host}">`);
  t.equal((await ask(ports.https, host, '/feed.atom')).status, 200);
  t.equal((await ask(ports.https, host, '/api/v1/status-pages')).status, 404, 'nothing else of the product is there');
  await t.rejects(ask(ports.https, 'stranger.example', '/'), 'a name of nobody gets no certificate');
  const own = await ask(ports.https, 'parallax.example', '/status/shop');
  t.match(own, { status: 200, names: 'DNS:parallax.example' }, 'the installation itself is served beside it');
});
