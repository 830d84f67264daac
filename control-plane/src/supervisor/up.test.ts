import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isRunning, type ProcessIdentity } from '@parallax/embedded';
import { freePort, leakGuard, tcpTarget, type TestContext } from '@parallax/testkit';
import t from 'tap';
import { recordsFolder } from './leftovers.ts';
import { readRunning } from './running-file.ts';

leakGuard(t);

type Started = {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
  readonly url: Promise<string>;
  readonly ended: Promise<number | null>;
};

const seed = mkdtempSync('/tmp/parallax-up-seed-');
t.teardown(() => rmSync(seed, { recursive: true, force: true }));

/** After the first test with its database in place: to initialise one takes longer than everything else. */
function checkoutOf(t: TestContext): string {
  const checkout = mkdtempSync('/tmp/parallax-up-');
  chmodSync(checkout, 0o711);
  mkdirSync(path.join(checkout, 'data'), { mode: 0o711 });
  if (existsSync(path.join(seed, 'postgres'))) {
    spawnSync('/bin/cp', ['-a', path.join(seed, 'postgres'), path.join(checkout, 'data')]);
  }
  t.teardown(() => rmSync(checkout, { recursive: true, force: true }));
  return checkout;
}

function start(t: TestContext, checkout: string, env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'up.fixture.ts'), checkout], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  let output = '';
  let errors = '';
  stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // After a disconnect from this side Node emits no 'close'.
  const ended = Promise.all([once(child, 'exit'), finished(stdout), finished(stderr)]).then(
    ([[code]]) => code as number | null,
  );
  const url = new Promise<string>((resolve, reject) => {
    stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /is running: (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) => reject(new Error(`ended with ${code}:\n${output}\n${errors}`)));
  });
  url.catch(() => {});
  t.teardown(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  return { process: child, output: () => output, errors: () => errors, url, ended };
}

function recorded(dataDir: string): ProcessIdentity[] {
  const folder = recordsFolder(dataDir);
  return readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as ProcessIdentity,
  );
}

function recordedByName(dataDir: string): ReadonlyMap<string, ProcessIdentity> {
  const folder = recordsFolder(dataDir);
  return new Map(
    readdirSync(folder).map((name) => [
      path.parse(name).name,
      JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as ProcessIdentity,
    ]),
  );
}

/** The shell among the children of a supervisor. */
function guardOf(supervisor: number): number {
  const listed = spawnSync('/bin/ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }).stdout;
  const found = listed
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, parent, name]) => parent === String(supervisor) && /(^|\/)(sh|dash|bash)$/.test(name ?? ''));
  return Number(found?.[0]);
}

t.test('everything comes up, and is stopped in order by one signal of several', async (t) => {
  const checkout = checkoutOf(t);
  const dataDir = path.join(checkout, 'data');
  const first = start(t, checkout, { PARALLAX_LOCAL_PROBES: '2' });
  const url = await first.url;
  t.equal(await (await fetch(url, { headers: { connection: 'close' } })).text(), 'well');
  const children = recorded(dataDir);
  t.equal(children.length, 5);
  t.ok(children.every(isRunning));
  const running = readRunning(dataDir);
  t.match(running, { pid: first.process.pid, http_url: url, nats: { host: '127.0.0.1' } });
  t.equal(readFileSync(path.join(dataDir, 'probes/local-2/enrolled'), 'utf8'), 'token of local-2 in local');

  const startedMs = performance.now();
  for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) first.process.kill(signal);
  t.equal(await first.ended, 0, first.errors());
  t.ok(performance.now() - startedMs < 10_000);
  t.same(children.filter(isRunning), []);
  t.same(recorded(dataDir), []);
  t.equal(readRunning(dataDir), undefined);
});

t.test('without the API a start is ready when the listener of the metrics says so', async (t) => {
  const started = start(t, checkoutOf(t), {
    PARALLAX_ROLES: 'dispatch,ingest,worker',
    PARALLAX_METRICS_PORT: String(await freePort()),
    PARALLAX_LOCAL_PROBES: '0',
  });
  await started.url;
  started.process.kill('SIGTERM');
  t.equal(await started.ended, 0);
});

t.test('a second start on the same data folder is refused with the folder and the holder', async (t) => {
  const checkout = checkoutOf(t);
  const first = start(t, checkout, { PARALLAX_LOCAL_PROBES: '0' });
  await first.url;
  const second = start(t, checkout, { PARALLAX_LOCAL_PROBES: '0' });
  t.equal(await second.ended, 1);
  t.match(
    second.errors(),
    `data folder in use: ${path.join(checkout, 'data')} is held by process ${first.process.pid}`,
  );
  t.ok(identityOf(first.process.pid ?? 0));
});

t.test('after kill -9 of the supervisor everything ends by itself, in order and within 10 s', async (t) => {
  const checkout = checkoutOf(t);
  const first = start(t, checkout, { PARALLAX_LOCAL_PROBES: '2' });
  await first.url;
  const children = recordedByName(path.join(checkout, 'data'));
  // What is asked first ends last: between two questions an end can only come in the right order.
  const stages = [['PostgreSQL'], ['nats-server'], ['control-plane'], ['probe-local-1', 'probe-local-2']];
  const killedMs = performance.now();
  first.process.kill('SIGKILL');
  const orders: boolean[] = [];
  for (let run = stages; run.length > 0; ) {
    const running = stages.map((names) => names.some((name) => isRunning(children.get(name) as ProcessIdentity)));
    orders.push(running.every((runs, stage) => runs || running.slice(stage).every((later) => !later)));
    run = stages.filter((_, stage) => running[stage]);
    if (performance.now() - killedMs > 15_000) break;
    await sleep(10);
  }
  const tookMs = performance.now() - killedMs;
  t.comment(`ended after ${Math.round(tookMs)} ms`);
  t.ok(tookMs < 10_000);
  t.equal(children.size, 5);
  t.same([...children.values()].filter(isRunning), []);
  t.ok(orders.every(Boolean), 'agents, control plane, nats-server, PostgreSQL');
  await first.ended;
  const second = start(t, checkout, { PARALLAX_LOCAL_PROBES: '0' });
  await second.url;
});

t.test('when its guard was killed too, the next start ends what it left and starts anew', async (t) => {
  const checkout = checkoutOf(t);
  const dataDir = path.join(checkout, 'data');
  const first = start(t, checkout);
  await first.url;
  const left = recorded(dataDir);
  const guard = guardOf(first.process.pid ?? 0);
  process.kill(guard, 'SIGKILL');
  first.process.kill('SIGKILL');
  await first.ended;
  t.equal(left.filter(isRunning).length, 4);
  t.equal(readRunning(dataDir), undefined);
  const second = start(t, checkout);
  await second.url;
  t.same(left.filter(isRunning), []);
  t.equal(recorded(dataDir).filter(isRunning).length, 4);
});

t.test('when whoever started it is gone, everything ends', async (t) => {
  const checkout = checkoutOf(t);
  const started = start(t, checkout, { PARALLAX_LOCAL_PROBES: '0' });
  await started.url;
  const children = recorded(path.join(checkout, 'data'));
  started.process.disconnect();
  t.equal(await started.ended, 0);
  t.same(children.filter(isRunning), []);
});

t.test('a stop during the start leaves nothing behind', async (t) => {
  const checkout = checkoutOf(t);
  const started = start(t, checkout);
  await new Promise<void>((resolve) => {
    started.process.stdout?.on('data', () => {
      if (started.output().includes('PostgreSQL is ready')) resolve();
    });
  });
  const children = recorded(path.join(checkout, 'data'));
  started.process.kill('SIGTERM');
  t.equal(await started.ended, 0);
  t.same(children.filter(isRunning), []);
  t.same(recorded(path.join(checkout, 'data')), []);
});

t.test('what is wrong is said before anything is started: settings, a named port that is taken', async (t) => {
  const checkout = checkoutOf(t);
  const wrong = start(t, checkout, { PARALLAX_HTPP_PORT: '1' });
  t.equal(await wrong.ended, 1);
  t.match(wrong.errors(), 'PARALLAX_HTPP_PORT is not known: did you mean PARALLAX_HTTP_PORT?');
  const blind = start(t, checkout, { PARALLAX_ROLES: 'worker' });
  t.equal(await blind.ended, 1);
  t.match(blind.errors(), 'PARALLAX_ROLES is without api, so PARALLAX_METRICS_PORT must be set');
  const target = await tcpTarget(t);
  const taken = start(t, checkout, { PARALLAX_HTTP_PORT: String(target.port) });
  t.equal(await taken.ended, 1);
  t.match(taken.errors(), `port ${target.port} on 127.0.0.1 for http is taken`);
});
