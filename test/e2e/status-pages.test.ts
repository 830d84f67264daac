import path from 'node:path';
import { dnsTarget } from '@parallax/testkit';
import t from 'tap';
import { request } from 'undici';
import { startProduct, signedIn, untilReady } from '../harness/product.ts';
import type { Product } from '../harness/product.ts';
import { eventually, startNode } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { replicaEnvironment, startReplica } from '../harness/replicas.ts';

type Summary = { page: { name: string; updated_at: string }; components: { name: string; status: string }[] };

t.test('a status page outlives its database and a restart without it', { timeout: 170_000 }, async (t) => {
  const dns = await dnsTarget(t);
  const product = await startProduct({ PARALLAX_DNS_SERVERS: `${dns.host}:${dns.port}` });
  const started: Started[] = [];
  t.teardown(async () => {
    await Promise.all(started.map((one) => one.stop(4_000)));
    await product.stop();
  });
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const { id: monitorId } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'internal-name',
    url: 'http://127.0.0.1:9/',
    protocol: 'http',
  });
  const fields = {
    workspace_id: workspaceId,
    name: 'Shop',
    slug: 'shop',
    is_published: true,
    items: [{ type: 'monitor', id: monitorId, display_name: 'Checkout' }],
    domain: 'status.shop.example',
  };
  const page = await api.call<{ id: number; domain_txt: string }>('POST', '/api/v1/status-pages', 201, fields);
  const password = 'correct horse';
  await api.call('POST', '/api/v1/status-pages', 201, { ...fields, name: 'Secret', slug: 'secret', password });
  const rename = (name: string) => api.call('PUT', `/api/v1/status-pages/${page.id}`, 200, { name });

  const replica = await startReplica(product, { roles: 'api' });
  started.push(replica.process);
  const environment = await environmentOf(product, replica.ports);
  const url = `${replica.baseUrl}/status/shop`;
  const get = (at = '') =>
    fetch(url + at, { headers: { 'accept-language': 'en' }, signal: AbortSignal.timeout(5_000) });
  const nameShown = async (): Promise<string> => {
    const response = await get('/api/v2/summary.json');
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as Summary).page.name;
  };
  const untilNamed = (name: string, timeoutMs: number) =>
    eventually(
      `the page to be named ${name}`,
      async () => {
        const shown = await nameShown();
        if (shown !== name) throw new Error(`it is ${shown}`);
        return true;
      },
      { timeoutMs, everyMs: 50 },
    );

  await t.test('a change made at one process is visible at another within two seconds', async (t) => {
    t.equal((await get()).status, 200);
    const changedMs = Date.now();
    await rename('Shop of Spring');
    await untilNamed('Shop of Spring', 2_000);
    t.comment(`visible after ${Date.now() - changedMs} ms`);
  });

  const atDomain = async (at: string): Promise<number> => {
    const answer = await request(replica.baseUrl + at, { headers: { host: 'status.shop.example' } });
    await answer.body.dump();
    return answer.statusCode;
  };
  await t.test('a domain that is verified at one process is served at another within two seconds', async (t) => {
    dns.behave({
      kind: 'records',
      records: [{ type: 'TXT', name: '_parallax.status.shop.example', data: page.domain_txt }],
    });
    t.equal(await atDomain('/'), 421);
    await api.call('POST', `/api/v1/status-pages/${page.id}/domain/verify`, 200);
    const verifiedMs = Date.now();
    const isThere = async () => (await atDomain('/')) === 200;
    t.ok(await eventually('the domain to be served', isThere, { timeoutMs: 2_000, everyMs: 50 }));
    t.comment(`visible after ${Date.now() - verifiedMs} ms`);
  });

  const secret = (headers: Record<string, string> = {}) =>
    fetch(`${replica.baseUrl}/status/secret`, { headers, signal: AbortSignal.timeout(5_000) });
  let cookie = '';
  await t.test('a private page is opened by its password, and stays open by a cookie', async (t) => {
    t.equal((await secret()).status, 401);
    const opened = await fetch(`${replica.baseUrl}/status/secret/unlock`, {
      method: 'POST',
      body: new URLSearchParams({ password }),
      redirect: 'manual',
    });
    t.equal(opened.status, 303);
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    t.equal((await secret({ cookie })).status, 200);
  });

  await product.supervisor.stop(15_000);
  await t.test('with PostgreSQL and the broker stopped, all of the page is served on', async (t) => {
    for (const at of ['', '?lang=ru', '/history', '/api/v2/summary.json', '/feed.atom', '/calendar.ics', '/embed']) {
      const response = await get(at);
      t.equal(response.status, 200, at);
      t.ok((await response.text()).includes('Shop of Spring'), `${at} has the name`);
    }
    t.equal((await fetch(`${replica.baseUrl}/api/v1/public/status/shop`)).status, 200);
    t.same([await atDomain('/history'), await atDomain('/api/v1/public/status/shop')], [200, 404]);
    t.equal((await fetch(`${replica.baseUrl}/api/v1/public/domains/ask?domain=status.shop.example`)).status, 200);
    t.not((await fetch(`${replica.baseUrl}/api/v1/monitors`, { signal: AbortSignal.timeout(20_000) })).status, 200);
  });

  replica.process.kill('SIGKILL');
  await replica.process.ended;
  const again = startNode(['control-plane/src/main.ts', 'serve'], environment, path.join(product.dataDir, 'again.log'));
  started.push(again);
  await t.test('a process that starts without PostgreSQL serves the page as it was kept, with its age', async (t) => {
    const response = await eventually('the page to be there again', () => get(), { timeoutMs: 30_000 }).catch(
      (error: unknown) => {
        throw new Error(`the process said:\n${again.output().slice(-3_000)}`, { cause: error });
      },
    );
    const text = await response.text();
    t.equal(response.status, 200);
    t.ok(text.includes('Checkout'));
    t.notOk(text.includes('internal-name'));
    t.ok(text.includes('As of <time datetime='), 'it says how old it is');
    t.equal((await fetch(`${replica.baseUrl}/api/v1/monitors`)).status, 503);
    t.equal((await fetch(`${replica.baseUrl}/status/never-there`)).status, 503);
    t.same([await atDomain('/'), await atDomain('/api/v1/monitors')], [200, 404]);
    const closed = await secret();
    t.equal(closed.status, 401, 'a private one stays private');
    t.notMatch(await closed.text(), 'Checkout');
    t.equal((await secret({ 'x-status-password': 'wrong horse' })).status, 401);
    for (const headers of [{ cookie }, { 'x-status-password': password }] as Record<string, string>[]) {
      const open = await secret(headers);
      t.equal(open.status, 200);
      t.match(await open.text(), 'Checkout');
    }
  });

  await t.test('when PostgreSQL is back, the same process serves all, and the page follows changes', async (t) => {
    const supervisor = startNode(['control-plane/src/main.ts', 'up'], product.environment);
    started.push(supervisor);
    await untilReady(product, supervisor);
    await rename('Shop of Summer');
    await untilNamed('Shop of Summer', 60_000);
    const ready = async () => (await fetch(`${replica.baseUrl}/health/readiness`)).status === 200;
    t.ok(await eventually('the process to be ready', ready, { timeoutMs: 30_000 }));
  });
});

async function environmentOf(
  product: Product,
  ports: { readonly http: number; readonly grpc: number; readonly enrolment: number },
): Promise<Record<string, string>> {
  return {
    ...(await replicaEnvironment(product)),
    PARALLAX_ROLES: 'api',
    PARALLAX_HTTP_PORT: String(ports.http),
    PARALLAX_GRPC_PORT: String(ports.grpc),
    PARALLAX_ENROLMENT_PORT: String(ports.enrolment),
  };
}
