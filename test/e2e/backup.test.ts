import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { renew } from '../../probe-agent/src/enrolment/renew.ts';
import { readIdentity, writeIdentity } from '../../probe-agent/src/state/identity.ts';
import { endLeftChildren } from '../harness/children.ts';
import { eventually, runNode, startNode } from '../harness/processes.ts';
import { apiClient, signedIn } from '../harness/api-client.ts';
import { enrolAgent, newInstallation, startProduct, untilReady } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = { id: number; name: string; status: string; last_checked_at: string | null };
type Range = { status: string; started_at: string; ended_at: string | null };
type Ranges = { status_ranges: Range[] };
type Results = { results: { probe_id: number | null }[] };
type Probes = { probes: { id: number; name: string; health: { status: string } }[] };
type Tokens = { access_token: string; refresh_token: string };

const account = { email: 'first@example.org', password: 'a long enough passphrase' };

t.test('a trial of restore', { timeout: 240_000 }, async (t) => {
  const target = await startTarget();
  const product = await startProduct({ PARALLAX_LOCAL_PROBES: '1' });
  // The same ports: the probe does not know that anything happened.
  const restored = await newInstallation({ PARALLAX_LOCAL_PROBES: '1' });
  const environment = { ...product.environment, PARALLAX_DATA_DIR: restored.dataDir };
  const file = path.join(restored.dataDir, 'parallax.backup');
  let supervisor = product.supervisor;
  let stopAgent: () => Promise<unknown> = () => Promise.resolve();
  t.teardown(async () => {
    await stopAgent();
    await supervisor.stop(15_000);
    await endLeftChildren(restored.dataDir);
    await product.stop();
    restored.remove();
    await target.close();
  });

  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agent = await enrolAgent(product, api, { name: 'elsewhere', region: 'eu-north' });
  let running = agent.start();
  stopAgent = () => running.stop();
  const { id } = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'web',
    url: target.url,
    interval_seconds: 1,
    timeout_seconds: 1,
    confirmations: 1,
    probe_ids: [agent.probeId],
  });
  const monitor = (as = api) => as.call<Monitor>('GET', `/api/v1/monitors/${id}`, 200);
  const ranges = async (as = api) =>
    (await as.call<Ranges>('GET', `/api/v1/monitors/${id}/status-ranges?page_size=100`, 200)).status_ranges;
  const until = (status: string, as = api) =>
    eventually(status, async () => (await monitor(as)).status === status, { timeoutMs: 30_000 });

  const untilProbeTold = (as: typeof api, time = '', atLeast = 1) =>
    eventually(
      `${atLeast} results of the probe itself`,
      async () => {
        const { results } = await as.call<Results>('GET', `/api/v1/monitors/${id}/results?${time}`, 200);
        return results.filter(({ probe_id: probeId }) => probeId === agent.probeId).length >= atLeast;
      },
      { timeoutMs: 40_000 },
    );

  // Until the probe is seated the control plane checks by itself. The backup must know the seat: a restored control plane takes no results of
  // an assignment that it does not remember.
  await untilProbeTold(api);
  await until('UP');
  target.everybody('fail');
  await until('DOWN');
  target.everybody('answer');
  await until('UP');
  const before = await ranges();
  const { refresh_token: refreshToken } = await apiClient(product.baseUrl).call<Tokens>(
    'POST',
    '/api/v1/auth/login',
    200,
    account,
  );

  await t.test('a backup is made while the product runs, whole and for its owner only', async (t) => {
    const out = await runNode(['control-plane/src/main.ts', 'backup', file], product.environment);
    t.match(out, /monitors: 1 rows/);
    t.match(out, `keep a copy of ${path.join(product.dataDir, 'key-encryption-key')}`);
    t.equal(statSync(file).mode & 0o777, 0o600);
    t.match(
      await runNode(['control-plane/src/main.ts', 'backup', '--verify', file], product.environment),
      'nobody altered it',
    );
  });

  // Life goes on: an outage, a monitor, a certificate that is renewed, and results that the probe has freed.
  target.everybody('fail');
  await until('DOWN');
  await api.call('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    name: 'later',
    url: target.url,
    interval_seconds: 1,
    probe_ids: [agent.probeId],
  });
  await running.stop();
  const identity = await readIdentity(agent.stateDir);
  if (identity === undefined) throw new Error('the agent has no identity');
  await writeIdentity(agent.stateDir, await renew(identity, Date.now()));
  target.everybody('answer');
  running = agent.start();
  const goneOnMs = Date.now();
  const sinceGone = (endMs: number) =>
    `start_time=${new Date(goneOnMs).toISOString()}&end_time=${new Date(endMs).toISOString()}`;
  await until('UP');
  // When the second one is committed, the probe has been told that the first one is.
  await untilProbeTold(api, sinceGone(goneOnMs + 60_000), 2);
  const stoppedMs = Date.now();
  await supervisor.stop(15_000);

  await t.test('a restore runs into a new data folder, with the key', async (t) => {
    const restore = () => startNode(['control-plane/src/main.ts', 'restore', file], environment);
    const without = restore();
    t.equal(await without.ended, 1);
    t.match(without.errors(), /key-encryption-key/);
    t.notOk(existsSync(path.join(restored.dataDir, 'postgres')), 'without the key nothing is made');
    copyFileSync(path.join(product.dataDir, 'key-encryption-key'), path.join(restored.dataDir, 'key-encryption-key'));
    const first = restore();
    t.equal(await first.ended, 0, first.output());
    t.match(first.errors(), /restored: \d+ rows, as they were at/);
  });

  supervisor = startNode(['control-plane/src/main.ts', 'up'], environment, path.join(restored.dataDir, 'output.log'));
  await untilReady(product, supervisor);
  const nobody = apiClient(product.baseUrl);

  await t.test('accounts are there; everybody logs in again', async (t) => {
    await api.call('GET', `/api/v1/monitors/${id}`, 401);
    await nobody.call('POST', '/api/v1/auth/refresh', 401, { refresh_token: refreshToken });
    t.ok((await nobody.call<Tokens>('POST', '/api/v1/auth/login', 200, account)).access_token);
  });
  const { access_token: accessToken } = await nobody.call<Tokens>('POST', '/api/v1/auth/login', 200, account);
  const again = nobody.withToken(accessToken);

  await t.test('the timeline up to the backup is the same, and monitors made later are gone', async (t) => {
    const { monitors } = await again.call<{ monitors: Monitor[] }>('GET', '/api/v1/monitors', 200);
    t.same(
      monitors.map(({ name }) => name),
      ['web'],
    );
    const after = await ranges(again);
    for (const range of before) {
      const same = after.find(({ started_at: startedAt }) => startedAt === range.started_at);
      t.match(same, range.ended_at === null ? { status: range.status } : range);
    }
  });

  await t.test("the probe's session goes on with its renewed certificate and no new token", async (t) => {
    await eventually(
      'the probe online',
      async () => {
        const { probes } = await again.call<Probes>('GET', '/api/v1/probes', 200);
        return probes.find((probe) => probe.id === agent.probeId)?.health.status === 'online';
      },
      { timeoutMs: 40_000 },
    );
    const sinceMs = Date.now();
    await eventually('new results', async () => Date.parse((await monitor(again)).last_checked_at ?? '') > sinceMs, {
      timeoutMs: 40_000,
    });
    await until('UP', again);
    t.notMatch(running.output(), /refused this probe/);
  });

  await t.test('what the probe still has of the time since the backup arrives too', async (t) => {
    await untilProbeTold(again, sinceGone(stoppedMs));
    t.match(running.output(), 'lost results that it had acknowledged');
  });

  await t.test(
    'a monitor that is made now gets a number that no earlier one had, and the probe checks it',
    async (t) => {
      const made = await again.call<Monitor>('POST', '/api/v1/monitors', 201, {
        workspace_id: workspaceId,
        name: 'new',
        url: target.url,
        interval_seconds: 1,
        probe_ids: [agent.probeId],
      });
      t.ok(made.id > id + 100);
      await eventually(
        'UP',
        async () => (await again.call<Monitor>('GET', `/api/v1/monitors/${made.id}`, 200)).status === 'UP',
        { timeoutMs: 30_000 },
      );
    },
  );

  await t.test('the local probe, whose state folder was not in the backup, is registered anew', async (t) => {
    const onlineOnes = async () => {
      const { probes } = await again.call<Probes>('GET', '/api/v1/probes', 200);
      return probes.filter(({ name, health }) => name === 'local-1' && health.status === 'online');
    };
    await eventually('the local probe online', async () => (await onlineOnes()).length > 0, { timeoutMs: 40_000 });
    t.equal((await onlineOnes()).length, 1);
  });
  t.notMatch(readFileSync(path.join(restored.dataDir, 'output.log'), 'utf8'), /"level":50/, 'no errors');
});
