import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { compileCache, eventually } from '../harness/processes.ts';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';

// Runs in a network of its own, beside that of one probe: the product, two probes and the target. Says what it saw as one line of JSON.
const [, , probeNetwork = '', own = '', target = ''] = process.argv;
const monitorCount = 200;
const tool = 'ip';

type Monitor = { id: number; status: string; assigned_probes: unknown[] };
type Probe = { id: number; name: string; health: { status: string }; quarantines: unknown[] };

const server = createServer((_, response) => response.end('hello\n'));
await new Promise<void>((resolve) => server.listen(0, target, resolve));
const url = `http://${target}:${(server.address() as AddressInfo).port}/`;
const started = await startProduct({ PARALLAX_GRPC_HOST: own, PARALLAX_NATS_HOST: own });
const product = { ...started, enrolmentAddress: `${own}:${started.ports.enrolment}` };
const { api, workspaceId } = await signedIn(product.baseUrl);
const there = {
  command: tool,
  args: ['netns', 'exec', probeNetwork, process.execPath, 'probe-agent/src/main.ts'],
  environment: { NODE_COMPILE_CACHE: compileCache },
};
const agents = [
  await enrolAgent(product, api, { name: 'first', region: 'north' }),
  await enrolAgent(product, api, { name: 'second', region: 'east' }),
  await enrolAgent(product, api, { name: 'away', region: 'south', command: there }),
];
const running = agents.map((agent) => agent.start());
const awayId = agents[2]?.probeId ?? 0;

const probes = async () => (await api.call<{ probes: Probe[] }>('GET', '/api/v1/probes', 200)).probes;
const away = async () => (await probes()).find(({ id }) => id === awayId);
const cable = (state: 'up' | 'down') => execFileSync(tool, ['link', 'set', 'there', state]);
async function monitors(): Promise<Monitor[]> {
  const pages = [];
  for (let page = 1; page <= monitorCount / 100; page += 1)
    pages.push(await api.call<{ monitors: Monitor[] }>('GET', `/api/v1/monitors?page=${page}&page_size=100`, 200));
  return pages.flatMap((page) => page.monitors);
}
/** As the list counts them: a page of one monitor costs a hundredth of them all. */
async function areAllUp(): Promise<boolean> {
  const { total } = await api.call<{ total: number }>('GET', '/api/v1/monitors?status_filter=up&page_size=1', 200);
  return total === monitorCount;
}
/** Monitors that the probe has found to answer since then, among some. */
async function votedSince(ids: readonly number[], sinceMs: number): Promise<number> {
  const found = await Promise.all(
    ids.map((id) =>
      api.call<{ results: { created_at: string; status: string }[] }>(
        'GET',
        `/api/v1/monitors/${id}/results?probe_id=${awayId}&page_size=5`,
        200,
      ),
    ),
  );
  return found.filter(({ results }) =>
    results.some((one) => one.status === 'UP' && Date.parse(one.created_at) >= sinceMs),
  ).length;
}

try {
  await eventually(
    'three probes online',
    async () => (await probes()).every(({ health }) => health.status === 'online'),
    { timeoutMs: 90_000 },
  );
  for (let number = 1; number <= monitorCount; number += 1) {
    await api.call('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name: `monitor ${number}`,
      url,
      protocol: 'http',
      interval_seconds: 10,
      timeout_seconds: 2,
    });
  }
  const all = await eventually(
    'all monitors UP',
    async () => {
      const found = (await areAllUp()) ? await monitors() : [];
      return found.length === monitorCount &&
        found.every((one) => one.status === 'UP' && one.assigned_probes.length === 3)
        ? found
        : undefined;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  const sample = all.filter((_, index) => index % 20 === 0).map(({ id }) => id);
  await eventually('its votes', async () => (await votedSince(sample, 0)) === sample.length, { timeoutMs: 60_000 });

  const wrong = new Set<string>();
  const look = async (): Promise<void> => {
    if (await areAllUp()) return;
    wrong.add('not UP');
    for (const { status } of await monitors()) if (status !== 'UP') wrong.add(status);
  };
  cable('down');
  await eventually(
    'its loss',
    async () => {
      await look();
      return (await away())?.health.status === 'offline';
    },
    { timeoutMs: 90_000, everyMs: 1_000 },
  );
  // The notice comes with a look of its own, and none while the control plane is younger than a minute.
  await eventually(
    'the notice',
    async () => {
      await look();
      return product.supervisor.output().includes('a probe is offline');
    },
    { timeoutMs: 90_000, everyMs: 1_000 },
  );
  cable('up');
  const backMs = Date.now();
  await eventually(
    'its votes again',
    async () => {
      await look();
      return (await votedSince(sample, backMs)) === sample.length;
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  // Its results come by the broker; its session is dialled again by itself, a little earlier or later.
  await eventually(
    'the notice that it is back',
    async () => {
      await look();
      return product.supervisor.output().includes('a probe is online again');
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  await delay(3_000);
  await look();
  const ranges = new Set<string>();
  for (const { id } of all) {
    const { status_ranges } = await api.call<{ status_ranges: { status: string }[] }>(
      'GET',
      `/api/v1/monitors/${id}/status-ranges`,
      200,
    );
    for (const { status } of status_ranges) ranges.add(status);
  }
  const { total } = await api.call<{ total: number }>('GET', '/api/v1/incidents', 200);
  const output = product.supervisor.output();
  process.stdout.write(
    `${JSON.stringify({
      wrong: [...wrong],
      ranges: [...ranges],
      incidents: total,
      offline: output.split('a probe is offline').length - 1,
      online: output.split('a probe is online again').length - 1,
      quarantines: (await away())?.quarantines.length,
    })}\n`,
  );
} finally {
  await Promise.all(running.map((agent) => agent.stop()));
  await product.stop();
  server.close();
}
