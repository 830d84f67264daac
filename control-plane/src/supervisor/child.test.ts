import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, type ProcessSpec } from '@parallax/embedded';
import { keptLog, leakGuard, quietLog, type TestContext } from '@parallax/testkit';
import t from 'tap';
import { startChild, type ChildPlan } from './child.ts';
import { endLeftovers, recordsFolder } from './leftovers.ts';

leakGuard(t);

const never = new AbortController().signal;

function planOf(t: TestContext, code: string | (() => string)): ChildPlan & { readonly dataDir: string } {
  const dataDir = mkdtempSync('/tmp/parallax-child-');
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const spec = (): ProcessSpec => ({
    name: 'script',
    command: process.execPath,
    args: ['-e', typeof code === 'string' ? code : code()],
    env: {},
    cwd: dataDir,
    readiness: { line: /ready/, timeoutMs: 5_000 },
    stopSteps: [{ signal: 'SIGTERM', waitMs: 2_000 }],
    onLine: () => {},
  });
  return {
    dataDir,
    name: 'script',
    prepare: () => Promise.resolve(spec()),
    record: path.join(recordsFolder(dataDir), 'script.json'),
    stopWithinMs: 2_000,
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (const startedMs = performance.now(); !condition(); ) {
    if (performance.now() - startedMs > 30_000) throw new Error('waited for 30 s in vain');
    await sleep(5);
  }
}

const stays = "console.log('ready'); setInterval(() => {}, 1000);";

t.test('a child that ends is started again after a growing delay, and its record follows it', async (t) => {
  const plan = planOf(t, stays);
  const delays: number[] = [];
  const { log, lines } = keptLog('info');
  const child = await startChild(plan, { log, sleep: (delayMs) => Promise.resolve(void delays.push(delayMs)) }, never);
  for (let round = 1; round <= 3; round++) {
    const before = child.pid() ?? 0;
    t.match(JSON.parse(readFileSync(plan.record, 'utf8')), { pid: before, cwd: plan.dataDir });
    process.kill(before, 'SIGKILL');
    await until(() => child.pid() !== undefined && child.pid() !== before && lines.length === 2 * round);
  }
  t.same(delays, [250, 500, 1_000]);
  t.equal(child.restarts(), 3);
  t.match(lines[0], { child: 'script', exit: 'SIGKILL' });
  const last = child.pid() ?? 0;
  await child.stop();
  t.equal(identityOf(last), undefined);
  t.notOk(existsSync(plan.record));
});

t.test('a first start that fails rejects and is not tried again; a later one is tried until it works', async (t) => {
  await t.rejects(startChild(planOf(t, 'process.exit(4)'), { log: quietLog }, never), { message: /ended with code 4/ });
  let starts = 0;
  const plan = planOf(t, () => {
    starts++;
    return starts === 2 || starts === 3 ? 'process.exit(5)' : stays;
  });
  const { log, lines } = keptLog('info');
  const child = await startChild(plan, { log, sleep: () => Promise.resolve() }, never);
  process.kill(child.pid() ?? 0, 'SIGKILL');
  await until(() => starts === 4 && lines.some(({ msg }) => msg === 'a process runs again'));
  t.equal(lines.filter(({ msg }) => msg === 'a process could not be started').length, 2);
  await child.stop();
});

t.test('a stop during the delay or during a start leaves nothing running', async (t) => {
  const delayed = await startChild(
    planOf(t, stays),
    { log: quietLog, sleep: (_delayMs, signal) => sleep(60_000, undefined, { signal }).catch(() => {}) },
    never,
  );
  process.kill(delayed.pid() ?? 0, 'SIGKILL');
  await until(() => delayed.pid() === undefined);
  await delayed.stop();

  let starts = 0;
  const plan = planOf(t, () => (starts++ === 0 ? stays : 'setInterval(() => {}, 1000)'));
  const starting = await startChild(plan, { log: quietLog, sleep: () => Promise.resolve() }, never);
  const first = starting.pid() ?? 0;
  process.kill(first, 'SIGKILL');
  await until(() => starting.pid() !== undefined && starting.pid() !== first);
  const second = starting.pid() ?? 0;
  await starting.stop();
  t.equal(identityOf(second), undefined);
});

t.test('what a killed run left is ended by its record, another process with the same number is not', async (t) => {
  const plan = planOf(t, stays);
  const child = await startChild(
    plan,
    { log: quietLog, sleep: (_delayMs, signal) => sleep(60_000, undefined, { signal }).catch(() => {}) },
    never,
  );
  const pid = child.pid() ?? 0;
  const { log, lines } = keptLog('info');
  await endLeftovers(plan.dataDir, log);
  t.equal(identityOf(pid), undefined);
  t.match(lines, [{ pid, child: 'script', msg: 'ended a process of an earlier run' }]);
  t.notOk(existsSync(plan.record));
  await child.stop();
  await endLeftovers(plan.dataDir, log);
  t.equal(lines.length, 1);
});
