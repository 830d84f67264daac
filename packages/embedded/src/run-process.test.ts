import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { lateness, leakGuard } from '@parallax/testkit';
import t from 'tap';
import { endProcess, endRecordedProcess, identityOf, isRunning, recordProcess } from './process-identity.ts';
import { runProcess, type ProcessSpec } from './run-process.ts';

leakGuard(t);

function script(code: string, changes: Partial<ProcessSpec> = {}): ProcessSpec {
  return {
    name: 'script',
    command: process.execPath,
    args: ['-e', code],
    env: {},
    cwd: '/tmp',
    readiness: { line: /ready/, timeoutMs: 5_000 },
    stopSteps: [{ signal: 'SIGTERM', waitMs: 2_000 }],
    onLine: () => {},
    ...changes,
  };
}
const stays = "console.log('ready'); setInterval(() => {}, 1000);";

t.test(
  'it is ready when it says so, has a group of its own, gets no environment but its own, and stops by signal',
  async (t) => {
    const lines: string[] = [];
    const running = await runProcess(
      script(
        `console.log(['HOME', 'ONLY', 'PATH', 'PARALLAX_CANARY'].filter((name) => name in process.env).join()); ${stays}`,
        {
          env: { ONLY: '1' },
          onLine: (line) => lines.push(line),
        },
      ),
    );
    t.same(lines, ['ONLY', 'ready']);
    process.kill(-running.pid, 0);
    t.same(await running.stop(), { code: null, signal: 'SIGTERM' });
    t.same(await running.stop(), { code: null, signal: 'SIGTERM' });
  },
);

t.test('one that ignores its signal is killed when its time is over', async (t) => {
  const running = await runProcess(script(`process.on('SIGTERM', () => {}); ${stays}`));
  const { result, late } = await lateness(100, () => running.stop(100));
  t.same(result, { code: null, signal: 'SIGKILL' });
  t.ok(late < 1_400);
});

t.test(
  'one that ends before it is ready rejects with its last words, and so does one that is not ready in time',
  async (t) => {
    await t.rejects(runProcess(script("console.error('no such table'); process.exit(3)")), {
      message: /script ended with code 3; its last lines:\nno such table/,
    });
    let pid = 0;
    await t.rejects(
      runProcess(script('setInterval(() => {}, 1000)', { readiness: { line: /ready/, timeoutMs: 60 } }), {
        onSpawn: (running) => {
          pid = running.pid;
        },
      }),
      { message: 'script was not ready within 60 ms' },
    );
    t.equal(identityOf(pid), undefined);
    await t.rejects(runProcess(script('', { command: '/does/not/exist' })), {
      message: /script cannot be started \(\/does\/not\/exist\)/,
    });
  },
);

t.test('a start that is no longer wanted ends the process', async (t) => {
  const controller = new AbortController();
  let pid = 0;
  const starting = runProcess(script('setInterval(() => {}, 1000)'), {
    signal: controller.signal,
    onSpawn: (running) => {
      pid = running.pid;
    },
  });
  controller.abort();
  await t.rejects(starting, { message: 'script is no longer wanted' });
  t.equal(identityOf(pid), undefined);
});

t.test('a process is ended only when number, start time and working directory are the recorded ones', async (t) => {
  const folder = mkdtempSync('/tmp/parallax-records-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  const record = path.join(folder, 'one.json');
  const running = await runProcess(script(stays));
  t.teardown(() => running.stop());
  t.equal(running.identity.cwd, '/tmp');
  for (const wrong of [
    { ...running.identity, startedAt: 'other' },
    { ...running.identity, cwd: '/' },
  ]) {
    recordProcess(record, wrong);
    t.equal(await endRecordedProcess(record, [{ signal: 'SIGKILL', waitMs: 500 }]), undefined);
    t.equal(await endProcess(wrong, [{ signal: 'SIGKILL', waitMs: 500 }]), true);
    t.ok(isRunning(running.identity));
  }
  recordProcess(record, running.identity);
  t.same(await endRecordedProcess(record, [{ signal: 'SIGKILL', waitMs: 2_000 }]), running.identity);
  t.same(await running.exited, { code: null, signal: 'SIGKILL' });
  t.equal(await endRecordedProcess(path.join(folder, 'none.json'), []), undefined);
});

t.test('a process counts as running until it is gone, not only until it loses its working directory', async (t) => {
  const holdsMuch = `for (let i = 0; i < 100; i++) net.createServer().listen(0); setTimeout(() => console.log('ready'), 20); ${stays}`;
  for (let round = 0; round < 15; round++) {
    const running = await runProcess(script(holdsMuch));
    process.kill(running.pid, 'SIGKILL');
    while (isRunning(running.identity));
    t.equal(identityOf(running.pid), undefined);
    await running.exited;
  }
});
