import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isWhole } from '@parallax/testkit/extent';
import t from 'tap';
import { compareTimelines } from '../../control-plane/src/monitoring/check-results/ingest/testing/compare-timelines.ts';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import { copyBrokerStore, pidOf, rollBackBrokerStore, signalChild, untilRestarted } from '../harness/children.ts';
import { archiveLog } from '../harness/log-archive.ts';
import { enrolAgent, signedIn, startProduct, untilOnline } from '../harness/product.ts';
import type { Agent, ApiClient, Product } from '../harness/product.ts';
import { eventually, startNode } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { startTarget } from '../harness/target.ts';
import { compareKeys, isAnyTwice, openDatabaseOf, storedKeys } from './oracle.ts';

/** Three probes look at each of these once a second: 150 results a second, and 501 in the long run. */
const monitorCount = isWhole ? 167 : 50;
/** How long processes are killed, after the other faults. */
const killSeconds = Number(process.env['PARALLAX_FAULT_SECONDS'] ?? 0);
/** Names of faults, with commas between them; without it all. */
const onlyFaults = process.env['PARALLAX_FAULTS']?.split(',');
const brokerPauseMs = Number(process.env['PARALLAX_FAULT_BROKER_PAUSE_MS'] ?? 10_000);

t.test(
  'killed again and again, nothing is lost and nothing doubled, and the timeline is the true one',
  { timeout: 900_000 },
  async (t) => {
    const target = await startTarget();
    const product = await startProduct({ PARALLAX_LOG_LEVEL: 'warn' });
    const { api, workspaceId } = await signedIn(product.baseUrl);
    const agents: Agent[] = [];
    for (const number of [1, 2, 3]) {
      agents.push(
        await enrolAgent(product, api, {
          name: `probe-${number}`,
          region: `region-${number}`,
          sourceAddress: `127.0.0.2${number}`,
        }),
      );
    }
    const archives = agents.map((agent) =>
      archiveLog(agent.stateDir, path.join(product.dataDir, `archive-${agent.name}`)),
    );
    const running: Started[] = agents.map((agent) => agent.start());
    const second = startSecondIngest(product);
    t.teardown(async () => {
      for (const archive of archives) archive.stop();
      await Promise.all([...running.map((agent) => agent.stop()), second.stop()]);
      await product.stop();
      await target.close();
    });
    await untilOnline(api, agents.length);
    await createMonitors(api, workspaceId, target.url);

    const calm = () => delay(1_000);
    const targetFails = async () => {
      target.towards('127.0.0.21', 'fail');
      target.towards('127.0.0.22', 'fail');
      await delay(3_000);
      target.everybody('answer');
    };
    const kills = [
      async () => {
        const pid = pidOf(product, 'control-plane');
        signalChild(product, 'control-plane', 'SIGKILL');
        await untilRestarted(product, 'control-plane', pid);
      },
      async () => {
        const pid = pidOf(product, 'nats-server');
        signalChild(product, 'nats-server', 'SIGKILL');
        await untilRestarted(product, 'nats-server', pid);
      },
      async () => {
        running[0]?.kill('SIGKILL');
        await running[0]?.ended;
        const again = agents[0]?.start();
        if (again !== undefined) running[0] = again;
      },
      targetFails,
    ];
    /** In this order; each ends with everything running again. */
    const faults: Record<string, () => Promise<void>> = {
      // The copy holds batches that nobody has taken yet. They are stored and settled before it is put back, and so come twice.
      'put the broker store back': async () => {
        const signalWriters = (signal: NodeJS.Signals) => {
          signalChild(product, 'control-plane', signal);
          second.kill(signal);
        };
        signalWriters('SIGSTOP');
        await delay(3_000);
        copyBrokerStore(product);
        signalWriters('SIGCONT');
        await targetFails();
        await rollBackBrokerStore(product);
      },
      'freeze the broker': async () => {
        signalChild(product, 'nats-server', 'SIGSTOP');
        await delay(brokerPauseMs);
        signalChild(product, 'nats-server', 'SIGCONT');
      },
      // Longer than a shard may stay silent, so that the other process takes it over and this one wakes up as a stale owner.
      'freeze the control plane': async () => {
        signalChild(product, 'control-plane', 'SIGSTOP');
        await delay(13_000);
        signalChild(product, 'control-plane', 'SIGCONT');
      },
      kill: async () => {
        const until = Date.now() + killSeconds * 1_000;
        // Each at least once, however short the run.
        for (let turn = 0; turn < kills.length || Date.now() < until; turn += 1) {
          await kills[turn % kills.length]?.();
          await calm();
        }
      },
    };
    const wanted = Object.entries(faults).filter(([name]) => onlyFaults?.includes(name) !== false);
    t.ok(wanted.length > 0, 'there are faults');

    const beganMs = Date.now();
    await delay(3_000);
    for (const [, fault] of wanted) {
      await fault();
      await calm();
    }
    const workedSeconds = (Date.now() - beganMs) / 1_000;

    await eventually('the API to answer', async () => (await fetch(`${product.baseUrl}/health/readiness`)).ok);
    await pauseMonitors(api);
    const pool = openDatabaseOf(product);
    t.teardown(() => pool.end());
    let isTrue = true;
    for (const [index, agent] of agents.entries()) {
      const complaints = await eventually(
        `all results of ${agent.name} to be stored`,
        async () => {
          // The same archive is counted and compared: a check that was under way at the pause may still be logged meanwhile.
          const archived = archives[index]?.results() ?? [];
          const logged = new Set(archived.map((one) => `${one.epoch}/${one.shard}/${one.seq}`)).size;
          const stored = await storedKeys(pool, agent.probeId);
          // What is stored twice stays so: there is nothing to wait for.
          if (isAnyTwice(stored)) return { found: compareKeys(stored, archived), logged };
          if (stored.length !== logged) throw new Error(`${logged} were logged and ${stored.length} are stored`);
          return { found: compareKeys(stored, archived), logged };
        },
        { timeoutMs: 90_000, everyMs: 500 },
      );
      isTrue =
        t.same(complaints.found, [], `${agent.name}: ${complaints.logged} results, none lost and none doubled`) &&
        isTrue;
      t.ok(complaints.logged > workedSeconds * monitorCount * 0.3, `${agent.name} had work`);
    }
    // Timelines of other results are others; nobody needs to wait until they agree.
    if (!isTrue) return;
    // The marks of pauses and the last votes are folded within a second or two.
    const wrong = await eventually('the timelines to agree', async () => {
      const complaints = await compareTimelines(
        pool,
        agents.map((agent) => agent.probeId),
      );
      if (complaints.length > 0) throw new Error(`${complaints.length} differ: ${complaints.slice(0, 3).join('\n')}`);
      return true;
    });
    t.ok(wrong, 'every stored timeline equals the batch form over all stored results');
    const { rows } = await pool.query<{ count: string; reasons: string | null }>(
      `select count(*)::text as count, string_agg(distinct reason, ', ') as reasons from rejected_batches`,
    );
    t.equal(rows[0]?.count, '0', `no batch was refused (${rows[0]?.reasons ?? ''})`);
  },
);

/** A second process of the control plane with the roles that write results, beside the supervised one. */
function startSecondIngest(product: Product): Started {
  const urls = readRunning(product.dataDir)?.database_urls;
  if (urls === undefined || urls === null) throw new Error('the product does not run with a database of its own');
  return startNode(
    ['control-plane/src/main.ts', 'serve'],
    {
      ...product.environment,
      PARALLAX_ROLES: 'ingest,worker',
      PARALLAX_DATABASE_URL: urls.owner,
      PARALLAX_DATABASE_API_URL: urls.api,
      PARALLAX_DATABASE_WORKER_URL: urls.worker,
    },
    path.join(product.dataDir, 'second.log'),
  );
}

async function createMonitors(api: ApiClient, workspaceId: number, url: string): Promise<void> {
  for (let number = 1; number <= monitorCount; number += 1) {
    await api.call('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name: `monitor ${number}`,
      url,
      protocol: 'http',
      interval_seconds: 1,
      timeout_seconds: 1,
    });
  }
}

async function pauseMonitors(api: ApiClient): Promise<void> {
  const { access_token } = await api.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, {
    email: 'first@example.org',
    password: 'a long enough passphrase',
  });
  const fresh = api.withToken(access_token);
  for (let page = 1; page <= Math.ceil(monitorCount / 100); page += 1) {
    const { monitors } = await fresh.call<{ monitors: { id: number }[] }>(
      'GET',
      `/api/v1/monitors?page=${page}&page_size=100&sort=name`,
      200,
    );
    for (const monitor of monitors) await fresh.call('POST', `/api/v1/monitors/${monitor.id}/pause`, 200);
  }
}
