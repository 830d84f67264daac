import { enrolAgent, signedIn, startProduct, untilOnline } from './product.ts';
import type { Agent, ApiClient, Product } from './product.ts';
import type { Started } from './processes.ts';
import { startTarget } from './target.ts';
import type { Target } from './target.ts';
import type { TestContext } from '@parallax/testkit';

export type ThreeAgents = {
  readonly product: Product;
  readonly api: ApiClient;
  readonly workspaceId: number;
  readonly target: Target;
  /** In the order of their addresses. */
  readonly agents: readonly Agent[];
  readonly addresses: readonly string[];
  /** The process of each agent; one that was killed may be replaced by another start of its agent. */
  readonly running: Started[];
  /** Makes a monitor of the target. @returns its path */
  readonly monitor: (name: string, more: Record<string, unknown>) => Promise<string>;
  readonly statusOf: (path: string) => Promise<string>;
  /** The statuses of all monitors by one request: a request for each costs 16 ms of a core. */
  readonly statuses: () => Promise<readonly string[]>;
  readonly incidents: () => Promise<{ id: number; status: string; started_at: string; monitor_id: number }[]>;
};

/** The product with a probe for each address, three mostly, which reach one target each from an address of its own; all ends with the test. */
export async function threeAgents(t: TestContext, addresses: readonly string[]): Promise<ThreeAgents> {
  const product = await startProduct();
  t.teardown(() => product.stop());
  const target = await startTarget();
  t.teardown(() => target.close());
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agents = await Promise.all(
    addresses.map((sourceAddress, index) =>
      enrolAgent(product, api, { name: `probe-${index + 1}`, region: `region-${index + 1}`, sourceAddress }),
    ),
  );
  const running = agents.map((agent) => agent.start());
  t.teardown(async () => {
    await Promise.all(
      running.map((agent) => {
        // One that a test has stopped would not hear of its end.
        agent.kill('SIGCONT');
        return agent.stop();
      }),
    );
  });
  await untilOnline(api, addresses.length);
  let made = 0;
  return {
    product,
    api,
    workspaceId,
    target,
    agents,
    addresses,
    running,
    monitor: async (name, more) => {
      const body = { workspace_id: workspaceId, name, url: target.url, protocol: 'http', timeout_seconds: 2, ...more };
      const { id } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, body);
      made += 1;
      return `/api/v1/monitors/${id}`;
    },
    statusOf: async (path) => (await api.call<{ status: string }>('GET', path, 200)).status,
    statuses: async () => {
      const { monitors } = await api.call<{ monitors: { status: string }[] }>(
        'GET',
        `/api/v1/monitors?workspace_id=${workspaceId}&page_size=100`,
        200,
      );
      if (monitors.length !== made) throw new Error(`${monitors.length} of ${made} monitors are listed`);
      return monitors.map(({ status }) => status);
    },
    incidents: async () =>
      (
        await api.call<{ incidents: Awaited<ReturnType<ThreeAgents['incidents']>> }>(
          'GET',
          `/api/v1/incidents?workspace_id=${workspaceId}`,
          200,
        )
      ).incidents,
  };
}
