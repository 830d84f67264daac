import t from 'tap';
import { openDatabaseOf } from '../faults/oracle.ts';
import { startProduct } from '../harness/product.ts';
import type { Product } from '../harness/product.ts';
import { startNode } from '../harness/processes.ts';
import { replicaEnvironment, startForwarder, startReplica } from '../harness/replicas.ts';
import { threeProbes } from './three-probes.ts';

t.test('the story of three probes holds with two shards and two replicas', { timeout: 180_000 }, async (t) => {
  const forwarder = await startForwarder();
  t.teardown(() => forwarder.close());
  let product: Product | undefined;
  await threeProbes(t, {
    settings: { PARALLAX_SHARDS: '2', PARALLAX_GRPC_PUBLIC_ADDRESS: forwarder.address },
    startProduct: async (settings) => {
      const started = await startProduct(settings);
      product = started;
      const second = await startReplica(started, { roles: 'api,dispatch,ingest,worker' });
      forwarder.setBackends([started.ports.grpc, second.ports.grpc]);
      const stop = async (): Promise<void> => {
        await second.process.stop();
        await started.stop();
      };
      return { ...started, stop };
    },
    whenRunning: async () => {
      if (product === undefined) throw new Error('the product was not started');
      const pool = openDatabaseOf(product);
      const { rows } = await pool.query('select distinct replica from probe_sessions where closed_at is null');
      await pool.end();
      t.equal(rows.length, 2, 'each replica holds sessions');
    },
  });
  if (product === undefined) throw new Error('the product was not started');
  const running = product;
  const pool = openDatabaseOf(running);
  t.teardown(() => pool.end());

  await t.test('its results went through both shards', async (t) => {
    const { rows } = await pool.query('select distinct shard from cursors order by shard');
    t.same(rows, [{ shard: 0 }, { shard: 1 }]);
  });

  await t.test('another number of shards is refused', async (t) => {
    const environment = { ...(await replicaEnvironment(running)), PARALLAX_SHARDS: '3' };
    const refusals = ['serve', 'prepare'].map(async (command) => {
      const refused = startNode(['control-plane/src/main.ts', command], environment);
      t.not(await refused.ended, 0, command);
      t.match(refused.errors(), /the installation has 2 shards and PARALLAX_SHARDS is 3: .*set it back to 2/, command);
    });
    await Promise.all(refusals);
    t.equal((await pool.query('select from shards')).rows.length, 2);
  });
});
