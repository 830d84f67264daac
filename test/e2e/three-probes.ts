import { setTimeout as delay } from 'node:timers/promises';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import type { Agent, AgentCommand, Product } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';
import type { Test } from 'tap';

type Monitor = { id: number; status: string; status_since: string | null };
type Ranges = {
  status_ranges: { id: number; status: string; started_at: string; ended_at: string | null; evidence?: unknown }[];
  total: number;
};
type Incidents = {
  incidents: { id: number; status: string; started_at: string; resolved_at: string | null; monitor_id: number }[];
};

/** What may differ between the ways in which the same story is told. */
export type ThreeProbesOptions = {
  /** How agents are started; the agent from its sources otherwise. */
  readonly agentCommand?: AgentCommand;
  /** Settings of the product beside its folder and its ports, for example a number of shards. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts the product; it gets `settings`. What it gives is stopped by the story. */
  readonly startProduct?: (settings: Readonly<Record<string, string>>) => Promise<Product>;
  /** Called with every probe online and before the first monitor exists. */
  readonly whenRunning?: (running: {
    readonly product: Product;
    readonly agents: readonly { readonly agent: Agent; readonly process: Started }[];
  }) => Promise<void>;
};

/**
 * Three vantage points and one truth: one target, seen by three probes, that answers, is refused for one, for two, recovers, loses a probe.
 * Rejects when anything cannot be started; what it finds wrong it says to `t`.
 */
export async function threeProbes(t: Test, options: ThreeProbesOptions = {}): Promise<void> {
  const target = await startTarget();
  const product = await (options.startProduct ?? startProduct)(options.settings ?? {});
  t.teardown(async () => {
    await product.stop();
    await target.close();
  });
  const { api, workspaceId } = await signedIn(product.baseUrl);

  const sources = ['127.0.0.11', '127.0.0.12', '127.0.0.13'] as const;
  const agents = await Promise.all(
    sources.map((sourceAddress, index) =>
      enrolAgent(product, api, {
        name: `probe-${index + 1}`,
        region: `region-${index + 1}`,
        sourceAddress,
        ...(options.agentCommand && { command: options.agentCommand }),
      }),
    ),
  );
  const running = agents.map((agent) => agent.start());
  t.teardown(async () => {
    await Promise.all(running.map((agent) => agent.stop()));
  });
  await eventually('three probes online', async () => {
    const { probes } = await api.call<{ probes: { health: { status: string } }[] }>('GET', '/api/v1/probes', 200);
    return probes.filter((probe) => probe.health.status === 'online').length === 3;
  });
  await options.whenRunning?.({
    product,
    agents: agents.flatMap((agent, index) => {
      const process = running[index];
      return process === undefined ? [] : [{ agent, process }];
    }),
  });

  const monitor = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'the target',
    url: target.url,
    protocol: 'http',
    interval_seconds: 2,
    timeout_seconds: 2,
  });
  const path = `/api/v1/monitors/${monitor.id}`;
  const statusIs = (wanted: string, timeoutMs = 25_000) =>
    eventually(
      `status ${wanted}`,
      async () => {
        const now = await api.call<Monitor>('GET', path, 200);
        if (now.status !== wanted) throw new Error(`it is ${now.status}`);
        return now;
      },
      { timeoutMs },
    );
  const incidents = () => api.call<Incidents>('GET', `/api/v1/incidents?workspace_id=${workspaceId}`, 200);

  await t.test('an answering target is UP for everyone', async (t) => {
    await statusIs('UP');
    await eventually('a result of each probe', async () => {
      const { results } = await api.call<{ results: { probe_id: number }[] }>(
        'GET',
        `${path}/results?page_size=100`,
        200,
      );
      return new Set(results.map((result) => result.probe_id)).size === 3;
    });
    const range = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
    t.equal(range.status_ranges[0]?.status, 'UP');
    t.equal(range.status_ranges[0]?.ended_at, null);
  });

  await t.test('refused for one probe: PARTIAL and no outage', async (t) => {
    target.towards(sources[0], 'refuse');
    await statusIs('PARTIAL');
    // A failing and a passing probe look at the target once more; from then on only checks ask it.
    await eventually('the diagnosis of the disagreement', async () => {
      const { status_ranges } = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
      const range = `${path}/status-ranges/${status_ranges[0]?.id}/evidence`;
      const { diagnoses } = await api.call<{ diagnoses: { state: string }[] }>('GET', range, 200);
      return diagnoses.some(({ state }) => state === 'made');
    });
    await statusIs('PARTIAL');
    t.same((await incidents()).incidents, [], 'no incident');
  });

  await t.test('refused for two: DOWN dated back to the second probe’s first failure', async (t) => {
    const before = target.asked(sources[1]).length;
    const switched = Date.now();
    target.towards(sources[1], 'refuse');
    await statusIs('DOWN');
    const firstFailure = target
      .asked(sources[1])
      .slice(before)
      .find((at) => at >= switched);
    t.ok(firstFailure, 'the second probe asked');
    const { status_ranges } = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
    t.equal(status_ranges[0]?.status, 'DOWN');
    t.equal(status_ranges[1]?.status, 'DEGRADED', 'PARTIAL counts as degraded in ranges');
    const onset = Date.parse(status_ranges[0]?.started_at ?? '');
    t.ok(
      Math.abs(onset - (firstFailure ?? 0)) < 250,
      `the onset is the first failure (${onset - (firstFailure ?? 0)} ms apart)`,
    );
    const open = await eventually('an incident', async () =>
      (await incidents()).incidents.find((one) => one.status === 'open'),
    );
    t.equal(open.monitor_id, monitor.id);
    t.ok(Math.abs(Date.parse(open.started_at) - onset) < 2, 'the incident begins with the outage');
  });

  await t.test('each probe’s own timeline differs as it should', async (t) => {
    const timelineOf = async (probeId: number) =>
      (
        await api.call<{ timeline: { status: string }[] }>('GET', `${path}/timeline?hours=1&probe_id=${probeId}`, 200)
      ).timeline.map((entry) => entry.status);
    const [first, second, third] = await Promise.all(agents.map((agent) => timelineOf(agent.probeId)));
    t.ok(first?.includes('DOWN'), 'the first saw it down');
    t.ok(second?.includes('DOWN'), 'the second saw it down');
    t.notOk(third?.includes('DOWN'), 'the third never did');
  });

  await t.test('recovery ends the outage and resolves the incident', async (t) => {
    target.everybody('answer');
    await statusIs('UP');
    const resolved = await eventually('the incident resolved', async () =>
      (await incidents()).incidents.find((one) => one.status === 'resolved'),
    );
    t.ok(resolved.resolved_at);
  });

  await t.test('a probe that ends in the middle changes nothing to DOWN', async (t) => {
    running[2]?.kill('SIGKILL');
    await running[2]?.ended;
    const until = Date.now() + 16_000;
    while (Date.now() < until) {
      const { status } = await api.call<Monitor>('GET', path, 200);
      if (status !== 'UP') t.fail(`the status became ${status}`);
      await delay(500);
    }
    target.towards(sources[0], 'refuse');
    await statusIs('PARTIAL');
    const { status_ranges } = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
    t.equal(status_ranges.filter((range) => range.status === 'DOWN').length, 1, 'the one outage and no other');
    target.everybody('answer');
    await statusIs('UP');
  });

  await t.test('a manual check answers from the probes and counts nowhere', async (t) => {
    const answer = await api.call<{ status: string; response_time_ms: number; results: unknown[]; missing: unknown[] }>(
      'POST',
      `${path}/check`,
      200,
    );
    t.equal(answer.status, 'UP');
    t.ok(answer.response_time_ms > 0);
    t.equal(answer.results.length + answer.missing.length, 3);
  });

  await t.test('the product’s own listeners are refused by every name, other local ports are not', async (t) => {
    for (const port of [product.ports.http, product.ports.grpc, product.ports.enrolment, product.ports.nats]) {
      for (const host of ['localhost', '127.0.0.1', '127.1', '[::1]', '0.0.0.0']) {
        const denied = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
          workspace_id: workspaceId,
          name: `listener ${host} ${port}`,
          url: `http://${host}:${port}/`,
          protocol: 'http',
          interval_seconds: 60,
          timeout_seconds: 2,
        });
        const { results } = await api.call<{ results: { error_code: string | null }[] }>(
          'POST',
          `/api/v1/monitors/${denied.id}/check`,
          200,
        );
        t.ok(
          results.length > 0 && results.every((result) => result.error_code === 'address_denied'),
          `${host}:${port} is denied`,
        );
        await api.call('DELETE', `/api/v1/monitors/${denied.id}`, 204);
      }
    }
  });
}
