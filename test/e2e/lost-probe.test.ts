import t from 'tap';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = {
  id: number;
  status: string;
  assigned_probes: { probe_id: number; supplement: boolean }[];
};

t.test('a probe is killed: another stands in for it, its seat stays its own', { timeout: 180_000 }, async (t) => {
  const target = await startTarget();
  const product = await startProduct();
  t.teardown(async () => {
    await product.stop();
    await target.close();
  });
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const places = [
    { name: 'first', region: 'north', sourceAddress: '127.0.0.21' },
    { name: 'second', region: 'east', sourceAddress: '127.0.0.22' },
    { name: 'third', region: 'south', sourceAddress: '127.0.0.23' },
    { name: 'spare', region: 'north', sourceAddress: '127.0.0.24' },
  ];
  const agents = [];
  for (const place of places) agents.push(await enrolAgent(product, api, place));
  const running = agents.map((agent) => agent.start());
  t.teardown(async () => {
    await Promise.all(running.map((agent) => agent.stop()));
  });
  const health = async (): Promise<Map<number, string>> => {
    const { probes } = await api.call<{ probes: { id: number; health: { status: string } }[] }>(
      'GET',
      '/api/v1/probes',
      200,
    );
    return new Map(probes.map((probe) => [probe.id, probe.health.status]));
  };
  await eventually('four probes online', async () => [...(await health()).values()].every((one) => one === 'online'));

  const { id } = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'watched by three of four',
    url: target.url,
    protocol: 'http',
    interval_seconds: 2,
    timeout_seconds: 2,
  });
  const path = `/api/v1/monitors/${id}`;
  const seated = await eventually('three seats, and UP', async () => {
    const monitor = await api.call<Monitor>('GET', path, 200);
    return monitor.status === 'UP' && monitor.assigned_probes.length === 3 ? monitor.assigned_probes : undefined;
  });
  const seats = seated.map((one) => one.probe_id);
  const [killed, spare] = [agents[0]?.probeId, agents[3]?.probeId];
  t.same(
    seats,
    agents.slice(0, 3).map((agent) => agent.probeId),
    'one in each region, the spare one is free',
  );
  t.equal(target.asked('127.0.0.24').length, 0);

  running[0]?.kill('SIGKILL');
  await running[0]?.ended;
  const killedAt = Date.now();
  const wrong: string[] = [];
  // 45 s without a heartbeat; the first 60 s of a control plane, in which nobody is lost, have begun before that.
  const supplemented = await eventually(
    'the fourth probe standing in',
    async () => {
      const monitor = await api.call<Monitor>('GET', path, 200);
      const own = monitor.assigned_probes.filter((one) => !one.supplement).map((one) => one.probe_id);
      if (own.join() !== seats.join()) wrong.push(`seats ${own.join()}`);
      if (monitor.status !== 'UP') wrong.push(`status ${monitor.status}`);
      return monitor.assigned_probes.find((one) => one.supplement);
    },
    { timeoutMs: 100_000, everyMs: 250 },
  );
  const tookMs = Date.now() - killedAt;
  t.comment(`supplemented ${Math.round(tookMs / 100) / 10} s after the kill`);
  t.equal(supplemented.probe_id, spare);
  t.equal((await health()).get(killed ?? 0), 'offline');
  t.ok(tookMs > 28_000, 'and not before 45 s without a heartbeat, which came every 15 s');
  await eventually('a result of the fourth', async () => {
    const { results } = await api.call<{ results: { probe_id: number; status: string }[] }>(
      'GET',
      `${path}/results?page_size=100`,
      200,
    );
    return results.some((result) => result.probe_id === spare && result.status === 'UP');
  });
  const { timeline } = await api.call<{ timeline: { status: string }[] }>(
    'GET',
    `${path}/timeline?hours=1&probe_id=${spare}`,
    200,
  );
  t.match(timeline[0], { status: 'UP' });
  t.same(wrong, [], 'three seats and UP at every moment');
});
