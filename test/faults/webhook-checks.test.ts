import type { WebhookCheck } from '@parallax/api-contract';
import type pg from 'pg';
import t from 'tap';
import { eventually, startNode } from '../harness/processes.ts';
import { processTree } from '../harness/process-tree.ts';
import { signedIn, startProduct, untilReady } from '../harness/product.ts';
import { openDatabaseOf } from './oracle.ts';

/*
 * Everything is killed between a delivery to a webhook check and the deadline of the next one, and comes back long after it: nobody could have delivered,
 * so the deadline is moved, and what does not come then either is noticed, once.
 */

const graceSeconds = 20;

void t.test(
  'a deadline outlives the death of everything, with the outage credited',
  { timeout: 600_000 },
  async (t) => {
    const product = await startProduct();
    let supervisor = product.supervisor;
    t.teardown(async () => {
      await supervisor.stop(15_000);
      await product.stop();
    });
    const { api, workspaceId } = await signedIn(product.baseUrl);
    const check = await api.call<WebhookCheck>('POST', '/api/v1/webhook-checks', 201, {
      workspace_id: workspaceId,
      name: 'nightly',
      signature: 'none',
      expected_interval_seconds: 1,
      grace_period_seconds: graceSeconds,
    });
    const read = () => api.call<WebhookCheck>('GET', `/api/v1/webhook-checks/${check.id}`, 200);
    await api.call('POST', `/api/v1/webhook-check/${String(check.slug)}`, 202);
    const deadlineMs = Date.parse((await read()).deadline_at ?? '');
    t.ok(deadlineMs > Date.now(), 'in the middle of the grace period');
    // Only what this test has started, and all of it at once.
    for (const { pid } of processTree(supervisor.pid)) process.kill(pid, 'SIGKILL');
    await supervisor.ended;
    const killedMs = Date.now();
    await eventually('the deadline to pass with nobody there', async () => Date.now() > deadlineMs + 1_000, {
      timeoutMs: 60_000,
    });

    supervisor = startNode(['control-plane/src/main.ts', 'up'], product.environment);
    await untilReady(product, supervisor, 180_000);
    // The supervisor notes it a moment after the rest is ready.
    const pool = await eventually('the database to be known', async () => openDatabaseOf(product));
    t.teardown(() => pool.end());
    const credited = await eventually('the deadline to be moved', async () => {
      const { status, deadline_at: movedTo } = await read();
      t.not(status, 'down', 'nothing is missed before it is');
      const movedMs = Date.parse(movedTo ?? '');
      return movedMs > deadlineMs ? movedMs : undefined;
    });
    const outageMs = deadlineMs - killedMs;
    t.ok(credited - deadlineMs >= outageMs + 60_000, `by ${credited - deadlineMs} ms, for more than ${outageMs} ms`);
    t.same(await toldOf(pool, check.id), []);
    const down = await eventually(
      'the miss',
      async () => ((await read()).status === 'down' ? await read() : undefined),
      {
        timeoutMs: 200_000,
      },
    );
    t.equal(Date.parse(down.status_since), credited, 'of when it was due');
    t.same(await toldOf(pool, check.id), ['webhook_check.missed'], 'once');
    await api.call('POST', `/api/v1/webhook-check/${String(check.slug)}`, 202);
    t.same(await toldOf(pool, check.id), ['webhook_check.missed', 'webhook_check.recovered']);
  },
);

async function toldOf(pool: pg.Pool, checkId: number): Promise<string[]> {
  const { rows } = await pool.query<{ kind: string }>('select kind from outbox where key = $1 order by id', [
    `webhook_check:${checkId}`,
  ]);
  return rows.map(({ kind }) => kind);
}
