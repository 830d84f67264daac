import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { fakeDocker, listenDockerAt } from '../../packages/checks/src/testing/docker-peer.ts';
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
  const product = await startProduct();
  const { api } = await signedIn(product.baseUrl);
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
  t.equal((await api.call<{ total: number }>('GET', '/api/v1/monitors', 200)).total, 0, 'nothing is stored');
});
