import t from 'tap';
import { eventually } from '../harness/processes.ts';
import { enrolAgent, signedIn, startProduct, untilOnline } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = { id: number; status: string };
type Ranges = { status_ranges: { id: number; status: string }[] };
type Side = { probe_id: number; probe_name: string; diagnosis: { answer?: { status?: number; body?: string } } | null };
type Evidence = {
  rule: string;
  quorum: number;
  votes: {
    probe_name: string;
    vote: string;
    error_code: string | null;
    phase: string | null;
    address: string | null;
  }[];
  diagnoses: {
    state: string;
    summary: string;
    failing: Side | null;
    passing: Side | null;
    differences: { field: string; failing: unknown; passing: unknown }[];
  }[];
};

t.test('probes that differ are asked what they see, and the range says it', { timeout: 120_000 }, async (t) => {
  const target = await startTarget();
  const product = await startProduct();
  t.teardown(async () => {
    await product.stop();
    await target.close();
  });
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agents = await Promise.all(
    ['127.0.0.21', '127.0.0.22', '127.0.0.23'].map((sourceAddress, index) =>
      enrolAgent(product, api, { name: `probe-${'abc'[index] ?? ''}`, region: `region-${index + 1}`, sourceAddress }),
    ),
  );
  const running = agents.map((agent) => agent.start());
  t.teardown(() => Promise.all(running.map((agent) => agent.stop())));
  await untilOnline(api, 3);
  const monitor = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'seen differently',
    url: target.url,
    protocol: 'http',
    interval_seconds: 2,
    timeout_seconds: 2,
  });
  const path = `/api/v1/monitors/${monitor.id}`;
  const statusIs = (wanted: string) =>
    eventually(`status ${wanted}`, async () => (await api.call<Monitor>('GET', path, 200)).status === wanted, {
      timeoutMs: 30_000,
    });
  await statusIs('UP');
  // One vantage point is shown another page, as a firewall or a block by country does it.
  target.towards('127.0.0.22', 'fail');
  await statusIs('PARTIAL');

  const evidence = await eventually(
    'the diagnosis is made',
    async () => {
      const { status_ranges: ranges } = await api.call<Ranges>('GET', `${path}/status-ranges`, 200);
      const partial = ranges.find((range) => range.status === 'DEGRADED');
      if (partial === undefined) throw new Error('there is no range of the disagreement');
      const found = await api.call<Evidence>('GET', `${path}/status-ranges/${partial.id}/evidence`, 200);
      if (found.diagnoses[0]?.state !== 'made') throw new Error(JSON.stringify(found.diagnoses));
      return found;
    },
    { timeoutMs: 45_000 },
  );
  t.equal(evidence.rule, 'some_failing');
  t.equal(evidence.quorum, 2);
  t.match(
    evidence.votes.find(({ vote }) => vote === 'DOWN'),
    { probe_name: 'probe-b', error_code: 'http_status', phase: 'answer', address: '127.0.0.1' },
    'the failing vote says why',
  );
  t.equal(evidence.votes.length, 3);
  t.equal(evidence.diagnoses.length, 1, 'one disagreement, one diagnosis');
  const [diagnosis] = evidence.diagnoses;
  t.match(diagnosis?.failing, {
    probe_name: 'probe-b',
    diagnosis: { answer: { status: 503, body: 'out of order\n' } },
  });
  t.match(diagnosis?.passing, { diagnosis: { answer: { status: 200, body: 'hello\n' } } });
  t.match(
    diagnosis?.differences.find(({ field }) => field === 'answer.status'),
    { failing: 503, passing: 200 },
    'the difference is named',
  );
  t.match(diagnosis?.summary, /probe-b was answered 503, probe-[ac] 200\./, 'in a sentence');

  // What the diagnoses asked for was recorded nowhere.
  const { results } = await api.call<{ results: { kind: string }[] }>('GET', `${path}/results?page_size=100`, 200);
  t.notOk(results.some(({ kind }) => kind === 'manual'));

  await api.call('DELETE', path, 204);
});
