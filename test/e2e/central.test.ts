import t from 'tap';
import { eventually } from '../harness/processes.ts';
import { signedIn, startProduct } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = { id: number; status: string };
type Results = { results: { probe_id: number | null; is_fallback: boolean; is_manual: boolean; kind: string }[] };
type Ranges = {
  status_ranges: { status: string; started_at: string; evidence: { votes: { probe_id: number | null }[] } }[];
};
type Incidents = { incidents: { status: string; monitor_id: number; started_at: string }[] };

t.test('a product without any probe watches a target by itself', { timeout: 120_000 }, async (t) => {
  const target = await startTarget();
  const product = await startProduct();
  t.teardown(async () => {
    await product.stop();
    await target.close();
  });
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const monitor = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'the target',
    url: target.url,
    protocol: 'http',
    interval_seconds: 1,
    timeout_seconds: 2,
  });
  const path = `/api/v1/monitors/${monitor.id}`;
  const statusIs = (wanted: string) =>
    eventually(
      `status ${wanted}`,
      async () => {
        const { status } = await api.call<Monitor>('GET', path, 200);
        if (status !== wanted) throw new Error(`it is ${status}`);
        return status;
      },
      { timeoutMs: 25_000 },
    );
  const incident = (status: string) =>
    eventually(`an incident that is ${status}`, async () => {
      const { incidents } = await api.call<Incidents>('GET', `/api/v1/incidents?workspace_id=${workspaceId}`, 200);
      return incidents.find((one) => one.status === status);
    });

  await statusIs('UP');
  const { results } = await api.call<Results>('GET', `${path}/results`, 200);
  t.ok(results.length > 0);
  t.ok(
    results.every((one) => one.probe_id === null && !one.is_fallback && !one.is_manual),
    'its results are the monitor’s own',
  );

  target.everybody('refuse');
  await statusIs('DOWN');
  const { status_ranges } = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
  t.match(status_ranges[0], { status: 'DOWN', evidence: { rule: 'quorum_failing', votes: [{ probe_id: null }] } });
  const opened = await incident('open');
  t.equal(opened.monitor_id, monitor.id);

  target.everybody('answer');
  await statusIs('UP');
  await incident('resolved');
});
