import type { ApiCheck, ApiCheckResult, ApiCheckRun, Incident } from '@parallax/api-contract';
import t from 'tap';
import { shopCheck, shopPassword, startShop } from '../../control-plane/src/monitoring/api-checks/testing.ts';
import { eventually } from '../harness/processes.ts';
import { enrolAgent, signedIn, startProduct, untilOnline } from '../harness/product.ts';

type Results = { readonly results: readonly ApiCheckResult[] };
type Incidents = { readonly incidents: readonly Incident[] };

const patience = { timeoutMs: 60_000 };

t.test('an API check of three steps goes down by its third, and comes back', { timeout: 180_000 }, async (t) => {
  const shop = await startShop(t);
  const product = await startProduct();
  t.teardown(product.stop);
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agent = await enrolAgent(product, api, { name: 'near', region: 'here' });
  const running = agent.start();
  t.teardown(() => running.stop());
  await untilOnline(api, 1);

  const { id } = await api.call<ApiCheck>('POST', '/api/v1/api-checks', 201, {
    workspace_id: workspaceId,
    name: 'shop',
    ...shopCheck(shop),
    interval_seconds: 2,
    timeout_seconds: 2,
    confirmations: 1,
    probe_ids: [agent.probeId],
  });
  const path = `/api/v1/api-checks/${id}`;
  const statusIs = (wanted: string) =>
    eventually(
      `status ${wanted}`,
      async () => (await api.call<ApiCheck>('GET', path, 200)).status === wanted,
      patience,
    );
  await statusIs('UP');
  t.match(shop.asked.slice(0, 3), ['/login', '/users/7?region=eu', '/orders'], 'what was taken out goes on');

  shop.state = 'degraded';
  await statusIs('DOWN');
  const failing = await eventually(
    'two results with a failed step',
    async () => {
      const { results } = await api.call<Results>('GET', `${path}/results`, 200);
      const found = results.filter(({ outcome, is_manual: isManual }) => outcome === 'fail' && !isManual);
      return found.length >= 2 ? found : undefined;
    },
    patience,
  );
  for (const result of failing) {
    t.match(result, { error_code: 'assertion_failed', failed_step: { number: 3, name: 'orders' } });
  }
  t.match(failing.at(-1), {
    message: /^Step 3 "orders": /,
    steps: [{ result: 'ok' }, { result: 'ok' }, { result: 'failed' }],
  });
  const open = await eventually(
    'an incident',
    async () => (await api.call<Incidents>('GET', '/api/v1/incidents', 200)).incidents[0],
    patience,
  );
  t.match(open, { monitor_id: id, status: 'open', cause: { status: 'DOWN' } });

  const ran = await api.call<ApiCheckRun>('POST', `${path}/run`, 200);
  t.match(ran, {
    status: 'DOWN',
    results: [
      {
        probe_id: agent.probeId,
        failed_step: { number: 3 },
        steps: [
          { extracted: ['token', 'id', 'region', 'session'] },
          { extracted: [], assertions: [] },
          { result: 'failed', assertions: [{ holds: true }, { holds: false }] },
        ],
      },
    ],
  });

  shop.state = 'fine';
  await statusIs('UP');
  await eventually(
    'the incident resolved',
    async () => (await api.call<Incidents>('GET', '/api/v1/incidents', 200)).incidents[0]?.resolution === 'auto',
    patience,
  );
  const said = JSON.stringify([ran, failing, open, product.supervisor.output(), running.output()]);
  for (const hidden of [shopPassword, 'tok-zyxwvuts98', 's-abcdefgh12']) t.notOk(said.includes(hidden), hidden);
});
