import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { compareKeys, openDatabaseOf, storedKeys } from '../faults/oracle.ts';
import { archiveLog } from '../harness/log-archive.ts';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import type { ApiClient } from '../harness/product.ts';
import { eventually, freePorts } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { startForwarder, startReplica } from '../harness/replicas.ts';
import type { Replica } from '../harness/replicas.ts';
import { startTarget } from '../harness/target.ts';

type ManualCheck = {
  status: string;
  results: { probe_id: number; status: string; error_code: string | null }[];
  missing: { reason: string }[];
};

const loadMonitors = 15;
const sources = ['127.0.0.31', '127.0.0.32', '127.0.0.33'] as const;

t.test('several replicas are one control plane', { timeout: 170_000 }, async (t) => {
  const target = await startTarget();
  const slow = await startTarget();
  const forwarder = await startForwarder();
  t.teardown(() => Promise.all([forwarder.close(), target.close(), slow.close()]));
  const product = await startProduct({
    PARALLAX_ROLES: 'api,worker',
    PARALLAX_GRPC_PUBLIC_ADDRESS: forwarder.address,
  });
  const replicas: Replica[] = [];
  const running: Started[] = [];
  const archives: { stop: () => void }[] = [];
  t.teardown(async () => {
    for (const archive of archives) archive.stop();
    await Promise.all([...running, ...replicas.map((replica) => replica.process)].map((one) => one.stop(4_000)));
    await product.stop();
  });
  const start = async (
    roles: string,
    ports?: Replica['ports'],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Replica> => {
    const replica = await startReplica(product, { roles, environment, ...(ports === undefined ? {} : { ports }) });
    replicas.push(replica);
    return replica;
  };
  const [metricsPort = 0] = await freePorts(1);
  let second = await start('dispatch,ingest', undefined, { PARALLAX_METRICS_PORT: String(metricsPort) });
  forwarder.setBackends([second.ports.grpc]);

  const { api, workspaceId } = await signedIn(product.baseUrl);
  const enrolmentAddress = second.enrolmentAddress;
  const agents = await Promise.all(
    sources.map((sourceAddress, index) =>
      enrolAgent({ ...product, enrolmentAddress }, api, {
        name: `probe-${index + 1}`,
        region: `region-${index + 1}`,
        sourceAddress,
      }),
    ),
  );
  const logs = agents.map((agent) => archiveLog(agent.stateDir, path.join(product.dataDir, `archive-${agent.name}`)));
  archives.push(...logs);
  running.push(...agents.map((agent) => agent.start()));
  const pool = openDatabaseOf(product);
  t.teardown(() => pool.end());

  /** How many probes have their session at each replica. */
  const sessionsAt = async (replica: Replica): Promise<number> => {
    const { rows } = await pool.query('select from probe_sessions where closed_at is null and replica = $1', [
      replica.name,
    ]);
    return rows.length;
  };
  const ownerIs = async (replica: Replica): Promise<boolean> =>
    (await pool.query('select from shards where owner = $1', [replica.name])).rows.length === 1;
  const create = (name: string, url: string, intervalSeconds: number, timeoutSeconds: number) =>
    api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name,
      url,
      protocol: 'http',
      interval_seconds: intervalSeconds,
      timeout_seconds: timeoutSeconds,
    });
  const check = (client: ApiClient, monitorId: number) =>
    client.call<ManualCheck>('POST', `/api/v1/monitors/${monitorId}/check`, 200);
  const statusIs = (monitorId: number, wanted: string) =>
    eventually(`monitor ${monitorId} to be ${wanted}`, async () => {
      const { status } = await api.call<{ status: string }>('GET', `/api/v1/monitors/${monitorId}`, 200);
      if (status !== wanted) throw new Error(`it is ${status}`);
      return true;
    });

  await eventually('three sessions at the second replica', async () => (await sessionsAt(second)) === 3);
  const load: number[] = [];
  for (let number = 1; number <= loadMonitors; number += 1) {
    load.push((await create(`load ${number}`, target.url, 2, 2)).id);
  }
  const first = load[0] ?? 0;
  const rare = await create('rare', slow.url, 3, 2);
  // Nothing but checks by hand asks this one for the rest of the test.
  const byHand = await create('by hand', slow.url, 3_600, 2);
  await Promise.all([first, rare.id, byHand.id].map((id) => statusIs(id, 'UP')));
  /** Begins a check by hand that lasts until its timeout, 2 s, and waits until every probe has begun it. */
  const beginLongCheck = async (client: ApiClient): Promise<() => Promise<ManualCheck>> => {
    await api.call('POST', `/api/v1/monitors/${rare.id}/pause`, 200);
    slow.everybody('hang');
    const asked = () => sources.reduce((sum, address) => sum + slow.asked(address).length, 0);
    const before = asked();
    const underWay = check(client, byHand.id);
    underWay.catch(() => undefined);
    await eventually('the check to have begun', async () => asked() >= before + 3, { everyMs: 20 });
    return () => underWay;
  };

  await t.test('a manual check finds the replica that holds the sessions', async (t) => {
    const answer = await check(api, first);
    t.equal(answer.status, 'UP');
    t.same(new Set(answer.results.map((result) => result.probe_id)), new Set(agents.map((agent) => agent.probeId)));
    t.same(answer.missing, []);
  });

  await t.test('a replica without the API says whether it is well, where no check may ask', async (t) => {
    const own = `http://127.0.0.1:${metricsPort}`;
    for (const path of ['/health/liveness', '/health/readiness']) {
      const [ofReplica, ofApi] = await Promise.all([fetch(own + path), fetch(product.baseUrl + path)]);
      t.equal(ofReplica.status, 200, path);
      t.same(await ofReplica.json(), await ofApi.json(), path);
    }
    await t.rejects(fetch(`http://127.0.0.1:${second.ports.http}/health/liveness`), 'nothing listens at its HTTP port');
    const denied = await create('metrics', `${own}/metrics`, 3_600, 2);
    const { results } = await check(api, denied.id);
    t.equal(results.length, sources.length);
    t.same(new Set(results.map((result) => result.error_code)), new Set(['address_denied']));
  });

  await t.test('a first failure is asked about at once, by the ingest of one process through the broker', async (t) => {
    slow.everybody('fail');
    await statusIs(rare.id, 'DOWN');
    slow.everybody('answer');
    await statusIs(rare.id, 'UP');
    const { rows } = await pool.query('select from check_results where monitor_id = $1 and flags & 3 = 1', [rare.id]);
    t.ok(rows.length > 0, `${rows.length} rechecks`);
  });

  const third = await start('api,dispatch,ingest,worker');
  let thirdApi = api.at(third.baseUrl);
  await eventually('every probe to be told where the third replica listens, by a new session', async () => {
    const { rows } = await pool.query(
      `select from probe_sessions session, replicas replica
       where session.closed_at is null and replica.name = $1 and session.opened_at > replica.started_at`,
      [third.name],
    );
    return rows.length === sources.length;
  });
  await t.test(
    'a replica that stops answers what is under way, hands its sessions and its shard over at once',
    async (t) => {
      forwarder.setBackends([second.ports.grpc, third.ports.grpc]);
      t.ok(await ownerIs(second));
      const underWay = await beginLongCheck(api);
      const stoppedMs = Date.now();
      second.process.kill('SIGTERM');
      await eventually('the third replica to own the shard', () => ownerIs(third), { timeoutMs: 6_000, everyMs: 50 });
      const ownedMs = Date.now() - stoppedMs;
      const answer = await underWay();
      t.equal(answer.results.length, 3, `all three answered: ${JSON.stringify(answer.missing)}`);
      t.equal(await second.process.ended, 0);
      const endedMs = Date.now() - stoppedMs;
      await eventually('three sessions at the third', async () => (await sessionsAt(third)) === 3, {
        timeoutMs: 10_000,
      });
      t.comment(`shard after ${ownedMs} ms, end after ${endedMs} ms, sessions after ${Date.now() - stoppedMs} ms`);
      slow.everybody('answer');
    },
  );

  await t.test('with two dispatchers every request finds every probe', async (t) => {
    second = await start('dispatch,ingest', second.ports);
    forwarder.setBackends([second.ports.grpc]);
    t.ok(forwarder.cutOne(third.ports.grpc));
    await eventually('a session at the second replica', async () => (await sessionsAt(second)) === 1);
    t.equal(await sessionsAt(third), 2);
    forwarder.setBackends([second.ports.grpc, third.ports.grpc]);
    // The row of a session is there a moment before its replica listens for requests to the probe.
    await eventually('every probe to be found', async () => (await check(api, first)).results.length === 3);
    for (const client of [api, thirdApi]) {
      const answer = await check(client, first);
      t.equal(answer.results.length, 3, JSON.stringify(answer.missing));
    }
  });

  await t.test('an API that stops answers what it has taken', async (t) => {
    const underWay = await beginLongCheck(thirdApi);
    const stoppedMs = Date.now();
    third.process.kill('SIGTERM');
    await eventually('the second replica to own the shard', () => ownerIs(second), { timeoutMs: 6_000, everyMs: 50 });
    const ownedMs = Date.now() - stoppedMs;
    t.equal((await underWay()).results.length, 3);
    t.equal(await third.process.ended, 0);
    await eventually('three sessions at the second', async () => (await sessionsAt(second)) === 3, {
      timeoutMs: 10_000,
    });
    t.comment(`shard after ${ownedMs} ms, sessions after ${Date.now() - stoppedMs} ms`);
    slow.everybody('answer');
    const again = await start('api,dispatch,ingest,worker', third.ports);
    thirdApi = api.at(again.baseUrl);
    t.equal((await check(thirdApi, first)).results.length, 3);
  });

  await t.test('no probe was lost on the way, no outage was seen, and no result is missing', async (t) => {
    for (const id of load) await api.call('POST', `/api/v1/monitors/${id}/pause`, 200);
    for (const [index, agent] of agents.entries()) {
      const found = await eventually(
        `all results of ${agent.name}`,
        async () => {
          const archived = logs[index]?.results() ?? [];
          const logged = new Set(archived.map((one) => `${one.epoch}/${one.shard}/${one.seq}`)).size;
          const stored = await storedKeys(pool, agent.probeId);
          if (stored.length !== logged) throw new Error(`${logged} were logged and ${stored.length} are stored`);
          return { complaints: compareKeys(stored, archived), logged };
        },
        { timeoutMs: 20_000, everyMs: 300 },
      );
      t.same(found.complaints, [], `${agent.name}: ${found.logged} results`);
    }
    const { rows } = await pool.query(
      `select monitor_id, status from status_ranges where monitor_id = any ($1) and status in ('DOWN', 'TIMEOUT')`,
      [load],
    );
    t.same(rows, [], 'no false outage');
    const notices = await pool.query(`select payload from outbox where kind = 'probe.offline'`);
    t.same(notices.rows, []);
    const rejected = await pool.query('select reason from rejected_batches');
    t.same(rejected.rows, []);
  });

  await t.test('a revocation reaches the replica that holds the session within 5 s', async (t) => {
    const probeId = agents[2]?.probeId ?? 0;
    const revokedMs = Date.now();
    await thirdApi.call('DELETE', `/api/v1/probes/${probeId}`, 204);
    await eventually(
      'its session to be closed',
      async () => {
        const { rows } = await pool.query('select from probe_sessions where probe_id = $1 and closed_at is null', [
          probeId,
        ]);
        return rows.length === 0;
      },
      { timeoutMs: 5_500, everyMs: 50 },
    );
    t.comment(`closed after ${Date.now() - revokedMs} ms`);
    await delay(1_500);
    const { rows } = await pool.query('select from probe_sessions where probe_id = $1 and closed_at is null', [
      probeId,
    ]);
    t.same(rows, [], 'and no replica lets it in again');
  });
});
