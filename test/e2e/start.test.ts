import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { sourceAddresses } from '@parallax/checks';
import { isRunning } from '@parallax/embedded';
import t from 'tap';
import { readRunning } from '../../control-plane/src/supervisor/index.ts';
import { endLeftChildren, recordedChildren } from '../harness/children.ts';
import { eventually, startCommand } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { processTree } from '../harness/process-tree.ts';
import { newInstallation, signedIn, untilReady } from '../harness/product.ts';
import type { Installation } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Monitor = { id: number; status: string; last_checked_at: string | null };
type Probes = { probes: { name: string; health: { status: string } }[] };

/** Everything that `npm start` runs, by the name it is recorded under. */
const children = ['PostgreSQL', 'control-plane', 'nats-server', 'probe-local-1'];
const endsWithinMs = 10_000;
/** On a machine that does nothing else; where more wants to run than there are cores, it takes as much longer. */
const readyAgainWithinMs = () => 15_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

function npmStart(installation: Installation): Started {
  return startCommand('npm', ['start'], installation.environment, path.join(installation.dataDir, 'output.log'));
}

function supervisorOf(dataDir: string): number {
  const running = readRunning(dataDir);
  if (running === undefined) throw new Error(`nothing runs on ${dataDir}`);
  return running.pid;
}

/** Starts again what was installed and ran before; gives how long it took to be ready. */
async function startAgain(installation: Installation): Promise<{ readonly npm: Started; readonly tookMs: number }> {
  const startedMs = performance.now();
  const npm = npmStart(installation);
  try {
    // What an earlier run left behind may answer as ready too, until this one has ended it.
    await eventually('the URL', async () => npm.output().includes('Parallax is running'), {
      timeoutMs: 60_000,
      everyMs: 20,
    });
    await untilReady(installation, npm);
  } catch (cause) {
    throw new Error(`it did not start again:\n${npm.output().slice(-5_000)}`, { cause });
  }
  return { npm, tookMs: performance.now() - startedMs };
}

t.test('npm start, from the first time to the time after the worst crash', { timeout: 240_000 }, async (t) => {
  const target = await startTarget();
  const installation = await newInstallation({ PARALLAX_LOCAL_PROBES: '1' });
  const { dataDir, baseUrl } = installation;
  let npm = npmStart(installation);
  t.teardown(async () => {
    await npm.stop(15_000);
    await endLeftChildren(dataDir);
    installation.remove();
    await target.close();
  });

  await untilReady(installation, npm);
  await eventually('the URL', async () => npm.output().includes('Parallax is running'));
  const { api, workspaceId } = await signedIn(baseUrl);
  const created = await api.call<Monitor>('POST', '/api/v1/monitors', 201, {
    workspace_id: workspaceId,
    url: target.url,
  });
  const monitorPath = `/api/v1/monitors/${created.id}`;
  const probeOnline = () =>
    eventually('the local probe online', async () => {
      const { probes } = await api.call<Probes>('GET', '/api/v1/probes', 200);
      return probes.some(({ name, health }) => name === 'local-1' && health.status === 'online');
    });
  /** That a check was made, travelled and was stored since then: the whole way stands. */
  const checkedSince = (sinceMs: number) =>
    eventually('a check by hand that is stored', async () => {
      await api.call('POST', `${monitorPath}/check`, 200);
      const { results } = await api.call<{ results: { created_at: string }[] }>('GET', `${monitorPath}/results`, 200);
      return results.some((result) => Date.parse(result.created_at) >= sinceMs);
    });

  await t.test('shows its progress and the address', (t) => {
    const lines = npm.output();
    t.match(lines, `data folder: ${dataDir}`);
    for (const name of ['PostgreSQL', 'nats-server', 'control plane', 'probe local-1'])
      t.match(lines, `${name} is ready (`);
    t.match(lines, `Parallax is running: ${baseUrl}\n`);
    t.same([...recordedChildren(dataDir).keys()].sort(), children);
    t.end();
  });

  await t.test('a monitor of a server on localhost becomes UP with nothing but its URL', async () => {
    await probeOnline();
    await eventually('UP', async () => (await api.call<Monitor>('GET', monitorPath, 200)).status === 'UP');
  });

  await t.test('what a target must allow is listed, though everything runs here and nothing was set', async (t) => {
    const { addresses } = await api.call<{ addresses: string[] }>('GET', '/probe/ips', 200);
    t.same(addresses, [...(await sourceAddresses())].sort());
  });

  await t.test('a second start on the same data folder is refused and names it', async (t) => {
    const second = npmStart(installation);
    t.equal(await second.ended, 1);
    t.match(second.errors(), `data folder in use: ${dataDir} is held by process `);
    t.equal((await fetch(`${baseUrl}/health/readiness`)).status, 200, 'the first goes on');
  });

  await t.test('SIGTERM to npm ends every process within 10 s', async (t) => {
    const tree = processTree(npm.pid);
    const recorded = [...recordedChildren(dataDir).values()];
    t.ok(
      recorded.every((pid) => tree.some((one) => one.pid === pid)),
      'the tree has all that is recorded',
    );
    const signalledMs = performance.now();
    npm.kill('SIGTERM');
    await npm.ended;
    await eventually('everything gone', async () => !tree.some(isRunning), { timeoutMs: endsWithinMs, everyMs: 20 });
    t.ok(performance.now() - signalledMs < endsWithinMs, `it took ${Math.round(performance.now() - signalledMs)} ms`);
    t.same([...recordedChildren(dataDir)], []);
  });

  await t.test('the next start is ready within 15 s and serves the same data', async (t) => {
    const again = await startAgain(installation);
    npm = again.npm;
    t.ok(again.tookMs < readyAgainWithinMs(), `it took ${Math.round(again.tookMs)} ms`);
    t.equal((await api.call<Monitor>('GET', monitorPath, 200)).id, created.id, 'the session and the monitor are there');
    await probeOnline();
    await checkedSince(Date.now());
  });

  await t.test('after kill -9 of everything the next start heals', async (t) => {
    const tree = processTree(npm.pid);
    const recorded = [...recordedChildren(dataDir).values()];
    // The supervisor first, so that it starts nothing again.
    for (const pid of [supervisorOf(dataDir), ...recorded]) process.kill(pid, 'SIGKILL');
    await npm.ended;
    await eventually('everything gone', async () => !tree.some(isRunning));
    const again = await startAgain(installation);
    npm = again.npm;
    t.ok(again.tookMs < readyAgainWithinMs(), `it took ${Math.round(again.tookMs)} ms`);
    await probeOnline();
    await checkedSince(Date.now());
  });

  await t.test(
    'after kill -9 of the supervisor alone everything ends by itself, and the next start heals',
    async (t) => {
      const recorded = new Set(recordedChildren(dataDir).values());
      const left = processTree(npm.pid).filter(({ pid }) => recorded.has(pid));
      t.equal(left.length, children.length);
      const killedMs = performance.now();
      process.kill(supervisorOf(dataDir), 'SIGKILL');
      await npm.ended;
      await eventually('its children gone', async () => !left.some(isRunning), {
        timeoutMs: endsWithinMs,
        everyMs: 20,
      });
      t.ok(performance.now() - killedMs < endsWithinMs, `it took ${Math.round(performance.now() - killedMs)} ms`);
      npm = (await startAgain(installation)).npm;
      await probeOnline();
      await checkedSince(Date.now());
    },
  );
});

t.test('a port that was named and is taken is an error that names it', { timeout: 60_000 }, async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = holder.address() as AddressInfo;
  t.teardown(() => holder.close());
  const installation = await newInstallation({ PARALLAX_GRPC_PORT: String(port) });
  t.teardown(installation.remove);
  const npm = npmStart(installation);
  t.equal(await npm.ended, 1);
  t.match(npm.errors(), `Parallax cannot start: port ${port} on 127.0.0.1 for grpc is taken`);
});
