import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { fakeDocker, listenDockerAt } from '../../packages/checks/src/testing/docker-peer.ts';
import { answerInTurns } from '../../packages/checks/src/testing/name-server.ts';
import { startHttpProxy } from '../../packages/checks/src/testing/proxy-peer.ts';
import { eventually } from '../harness/processes.ts';
import { enrolAgent, signedIn, startProduct, untilOnline } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Tested = {
  status: string;
  results: { probe_id: number | null; error_code: string | null; evidence: { details?: object } | null }[];
  trace: { probe_id: number | null; step: string; detail: string }[];
};

t.test('a configuration is tested from a probe before it is stored', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-docker-'));
  const socket = path.join(folder, 'docker.sock');
  const docker = fakeDocker({ web: { health: 'healthy' } });
  const stopDocker = await listenDockerAt(docker, socket);
  const target = await startTarget();
  const proxy = await startHttpProxy({ login: 'ann:Marked-proxy-secret', names: { 'shop.test': '127.0.0.1' } });
  const product = await startProduct();
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agent = await enrolAgent(product, api, {
    name: 'near',
    region: 'here',
    sourceAddress: '127.0.0.21',
    environment: { PARALLAX_PROBE_DOCKER_SOCKETS: socket },
  });
  const running = agent.start();
  t.teardown(async () => {
    await running.stop();
    await product.stop();
    await proxy.stop();
    await target.close();
    await stopDocker();
    rmSync(folder, { recursive: true });
  });
  const test = (body: object) => api.call<Tested>('POST', '/api/v1/monitors/test', 200, body);

  const container = { protocol: 'docker', url: `unix://${socket}`, settings: { container: 'web' } };
  await untilOnline(api, 1);
  t.match(await test(container), {
    status: 'UP',
    results: [{ probe_id: agent.probeId, evidence: { details: { state: 'running', health: 'healthy', socket } } }],
  });
  docker.containers.set('web', { status: 'exited', exitCode: 1 });
  t.match(await test(container), { status: 'DOWN', results: [{ error_code: 'container_not_running' }] });
  const secret = 'Marked-secret-0123456789';
  const page = await test({ url: target.url, settings: { bearer_token: secret, keyword: 'hello' } });
  t.match(page, { status: 'UP', results: [{ probe_id: agent.probeId }] });
  t.same(
    page.trace.map(({ step }) => step),
    ['dns', 'connect', 'request', 'answer', 'verdict'],
  );
  t.ok(page.trace.every(({ probe_id: probeId }) => probeId === agent.probeId));
  t.notMatch(JSON.stringify(page), secret);
  t.equal(target.asked('127.0.0.21').length, 1, 'from where the probe is, once');
  const elsewhere = await test({ ...container, url: 'unix:///run/other.sock' });
  t.match(elsewhere, { status: 'UNKNOWN', results: [{ error_code: 'probe_capability' }] });
  // A name that the proxy alone knows.
  const url = `http://shop.test:${new URL(target.url).port}/`;
  const through = { url, settings: { proxy: `http://ann:Marked-proxy-secret@127.0.0.1:${proxy.port}` } };
  const proxied = await test(through);
  t.match(proxied, { status: 'UP', results: [{ probe_id: agent.probeId }] });
  t.match(
    proxied.trace.map(({ step }) => step),
    ['proxy', 'proxy', 'proxy', 'request', 'answer', 'verdict'],
  );
  t.notMatch(JSON.stringify(proxied), 'Marked-proxy-secret');
  t.equal((await api.call<{ total: number }>('GET', '/api/v1/monitors', 200)).total, 0, 'nothing is stored');

  const body = {
    ...through,
    workspace_id: workspaceId,
    name: 'through',
    interval_seconds: 2,
    timeout_seconds: 2,
    confirmations: 1,
  };
  const { id } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, body);
  const statusIs = (wanted: string) =>
    eventually(
      `status ${wanted}`,
      async () => (await api.call<{ status: string }>('GET', `/api/v1/monitors/${id}`, 200)).status === wanted,
      { timeoutMs: 30_000 },
    );
  await statusIs('UP');
  await proxy.stop();
  await statusIs('DOWN');
  const results = await api.call<{ results: readonly object[] }>('GET', `/api/v1/monitors/${id}/results`, 200);
  const failing = results.results.find((each) => JSON.stringify(each).includes('proxy_error'));
  t.match(failing, { outcome: 'fail', error_code: 'proxy_error' });
  t.notMatch(JSON.stringify(results), 'Marked-proxy-secret');

  // The same monitor without a proxy, by a name server that alone knows the name.
  const names = await answerInTurns((name) => [name === 'shop.test' ? ['127.0.0.1'] : []]);
  t.teardown(names.stop);
  const resolver = [names.server];
  const changed = await api.call<{ settings: object }>('PATCH', `/api/v1/monitors/${id}`, 200, {
    settings: { proxy: null, resolver },
  });
  t.match(changed.settings, { resolver });
  const before = target.asked('127.0.0.21').length;
  await statusIs('UP');
  t.ok(target.asked('127.0.0.21').length > before, 'the probe looked it up there');
});
