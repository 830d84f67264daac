import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { eventually } from '../harness/processes.ts';
import { enrolAgent, signedIn, startProduct, untilOnline } from '../harness/product.ts';

// Runs in a network of its own, with three addresses of the internet: the product, three probes, the targets, and a host that always answers. Says what it saw as one line of JSON.
const [, , shared = '', other = '', canary = ''] = process.argv;
const port = 8_080;
const sharing = 50;
const patience = { timeoutMs: 90_000, everyMs: 500 };

type Told = { readonly kind: string; readonly incidentId: number; readonly atMs: number };
type Incident = { id: number; status: string; resolution: string | null; member_count: number; shared_cause: string };

let servers: readonly Server[] = [];
async function answer(): Promise<void> {
  servers = [shared, other].map(() => createServer((_, response) => response.end('hello\n')));
  await Promise.all(
    servers.map(
      (server, index) =>
        new Promise<void>((resolve) => server.listen(port, index === 0 ? shared : other, () => resolve())),
    ),
  );
}
async function die(): Promise<void> {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    ),
  );
}

/** What the live stream tells of incidents, in its order. */
async function watch(url: string, token: string, told: Told[]): Promise<AbortController> {
  const over = new AbortController();
  const response = await fetch(`${url}/api/v1/events/stream?results=false`, {
    headers: { authorization: `Bearer ${token}` },
    signal: over.signal,
  });
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const kind = /^event: (incident\..*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (kind === undefined || data === undefined) continue;
        told.push({ kind, incidentId: (JSON.parse(data) as { incident_id: number }).incident_id, atMs: Date.now() });
      }
    }
  };
  void read().catch(() => undefined);
  return over;
}

await answer();
const product = await startProduct();
const { api, workspaceId } = await signedIn(product.baseUrl);
// By it the probes know that it is not their own uplink that is lost.
const healthy = createServer((_, response) => response.end());
await new Promise<void>((resolve) => healthy.listen(port, canary, () => resolve()));
const environment = { PARALLAX_PROBE_CANARIES: `${canary}:${port}` };
const agents = await Promise.all(
  ['north', 'east', 'south'].map((name) => enrolAgent(product, api, { name, region: name, environment })),
);
const running = agents.map((agent) => agent.start());
const told: Told[] = [];
const { token } = await api.call<{ token: string }>('POST', '/api/v1/auth/tokens', 201, { name: 'watch' });
const stream = await watch(product.baseUrl, token, told);

const statuses = async (): Promise<string[]> =>
  (await api.call<{ monitors: { status: string }[] }>('GET', '/api/v1/monitors?page_size=100', 200)).monitors.map(
    ({ status }) => status,
  );
const incidents = async (): Promise<Incident[]> =>
  (await api.call<{ incidents: Incident[] }>('GET', '/api/v1/incidents', 200)).incidents;

try {
  await untilOnline(api, 3);
  for (let number = 0; number <= sharing; number += 1) {
    await api.call('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name: `monitor ${number}`,
      url: `http://${number === sharing ? other : shared}:${port}/${number}`,
      protocol: 'http',
      interval_seconds: number % 5 === 0 ? 15 : 5,
      timeout_seconds: 2,
    });
  }
  const all = (wanted: string) =>
    eventually(
      `all ${wanted}`,
      async () => {
        const others = (await statuses()).filter((status) => status !== wanted);
        if (others.length > 0) throw new Error(`${others.length} are ${[...new Set(others)].join()}`);
        return true;
      },
      patience,
    );
  await all('UP');
  const before = (await incidents()).length;
  await die();
  await all('DOWN');
  const open = await eventually(
    'all of them in incidents',
    async () => {
      const found = await incidents();
      return found.reduce((sum, one) => sum + one.member_count, 0) === sharing + 1 ? found : undefined;
    },
    patience,
  );
  const kindsOf = (kind: string) => told.filter((one) => one.kind === kind);
  await eventually('that it is told', async () => kindsOf('incident.opened').length === open.length, patience);
  await answer();
  await all('UP');
  await eventually('the ends told', async () => kindsOf('incident.resolved').length === open.length, patience);
  const updates = kindsOf('incident.updated');
  process.stdout.write(
    `${JSON.stringify({
      before,
      open: open.map(({ status, member_count, shared_cause }) => [status, member_count, shared_cause]),
      ended: (await incidents()).map(({ status, resolution }) => [status, resolution]),
      opened: kindsOf('incident.opened').length,
      resolved: kindsOf('incident.resolved').length,
      others: told.length - updates.length - kindsOf('incident.opened').length - kindsOf('incident.resolved').length,
      updatesApartMs: updates.slice(1).map(({ atMs }, index) => atMs - (updates[index]?.atMs ?? 0)),
    })}\n`,
  );
} finally {
  stream.abort();
  await Promise.all(running.map((agent) => agent.stop()));
  await product.stop();
  for (const server of [...servers, healthy]) {
    server.closeAllConnections();
    server.close();
  }
}
