import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runFiles } from '../../runner/run-files.ts';
import type { FileResult } from '../../runner/file-result.ts';

const usual = {
  isShared: false,
  stage: 'unit',
  timeoutS: 30,
  cwd: process.cwd(),
  env: process.env,
  signal: new AbortController().signal,
  endedCpuSeconds: () => 1,
};

async function ran(t: { testdir(): string }, source: string, timeoutS = 30): Promise<FileResult> {
  const file = path.join(t.testdir(), 'made.test.ts');
  writeFileSync(file, source);
  const [result] = await runFiles({ ...usual, files: [file], timeoutS, cwd: path.dirname(file) });
  if (result === undefined) throw new Error('no result');
  return result;
}

t.test('a file that passes is counted by its assertions, at whatever depth', async (t) => {
  const result = await ran(
    t,
    `import t from 'tap';
     t.test('a', async (t) => { t.ok(1); await t.test('b', async (t) => { t.ok(1); t.comment('caught: the fault'); }); });
     t.test('c', { skip: true }, () => {});`,
  );
  t.match(result, {
    isGood: true,
    passed: 2,
    failed: 0,
    skipped: 1,
    complaints: [],
    caught: ['the fault'],
    cpuSeconds: 1,
  });
});

t.test(
  'of a file that fails the failing assertions are shown with their diagnostics, and nothing of what passed',
  async (t) => {
    const result = await ran(
      t,
      `import t from 'tap';
     console.error('said beside it');
     t.test('a', async (t) => { t.ok(1, 'fine'); t.equal(1, 2, 'broken'); });`,
    );
    t.match(result, { isGood: false, passed: 1, failed: 1 });
    const shown = result.complaints.join('\n');
    t.match(shown, /not ok 2 - broken/);
    t.match(shown, /-2\n\s+\+1/);
    t.match(shown, /said beside it/);
    t.notMatch(shown, /^\s*ok \d/m);
  },
);

t.test('a file that ends without a test, or by a crash, or says less than it planned, has failed', async (t) => {
  t.match(await ran(t, 'console.log("no test at all");'), { isGood: false, failed: 1 });
  const crashed = await ran(t, `import t from 'tap'; t.test('a', async (t) => { t.ok(1); process.exit(0); });`);
  t.match(crashed, { isGood: false, failed: 1 });
  const thrown = await ran(t, `throw new Error('it cannot start');`);
  t.match(thrown, { isGood: false, failed: 1 });
  t.match(thrown.complaints.join('\n'), /it cannot start/);
  const planned = await ran(t, `console.log('TAP version 14\\n1..2\\nok 1 - one');`);
  t.match(planned, { isGood: false });
});

t.test('a file that does not end says what it waits for, when its time is over', async (t) => {
  const result = await ran(
    t,
    `import t from 'tap'; t.test('waits', () => { setTimeout(() => {}, 60_000); return new Promise(() => {}); });`,
    1,
  );
  t.match(result, { isGood: false });
  t.match(result.complaints.join('\n'), /timeout/);
  t.ok(result.seconds < 20, `${result.seconds} s`);
});

t.test('files that share a process are judged each by itself, with a root of their own', async (t) => {
  const folder = t.testdir({
    'good.test.ts': `import t from 'tap';
      t.teardown(() => console.error('torn down'));
      t.beforeEach(() => { globalThis.before = (globalThis.before ?? 0) + 1; });
      t.test('a', async (t) => t.equal(globalThis.before, 1));`,
    'bad.test.ts': `import t from 'tap'; t.test('b', async (t) => { t.equal(globalThis.before, 1, 'hooks of another file'); t.ok(0, 'broken'); });`,
    'late.test.ts': `import t from 'tap'; t.test('c', async (t) => { await null; t.comment('caught: late'); t.ok(1); });`,
  });
  const files = ['good.test.ts', 'bad.test.ts', 'late.test.ts'].map((name) => path.join(folder, name));
  const results = await runFiles({ ...usual, isShared: true, files });
  t.match(results, [
    { isGood: true, passed: 1, complaints: [] },
    { isGood: false, passed: 1, failed: 1 },
    { isGood: true, passed: 1, caught: ['late'] },
  ]);
  t.match(results[1]?.complaints.join('\n'), /not ok 2 - broken/);
});

t.test('when the process of several files ends, the one that ran and those behind it have failed', async (t) => {
  const folder = t.testdir({
    'good.test.ts': `import t from 'tap'; t.test('a', async (t) => t.ok(1));`,
    'crash.test.ts': `import t from 'tap'; t.test('b', async (t) => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => setTimeout(() => {}, 1e4)); });`,
    'after.test.ts': `import t from 'tap'; t.test('c', async (t) => t.ok(1));`,
  });
  const files = ['good.test.ts', 'crash.test.ts', 'after.test.ts'].map((name) => path.join(folder, name));
  const results = await runFiles({ ...usual, isShared: true, files });
  t.match(
    results.map(({ isGood }) => isGood),
    [true, false, false],
  );
  t.match(results[1]?.complaints.join('\n'), /ended with SIGKILL/);
  t.match(results[2]?.complaints.join('\n'), /it was not run/);
});

t.test(
  'what is thrown beside a test that shares its process fails that test, and the files behind it are run',
  async (t) => {
    const waits = 'await new Promise((resolve) => setTimeout(resolve, 50));';
    const folder = t.testdir({
      'thrown.test.ts': `import t from 'tap'; t.test('a', async (t) => { setTimeout(() => { throw new Error('from a timer'); }); ${waits} t.ok(1); });`,
      'rejected.test.ts': `import t from 'tap'; t.test('b', async (t) => { void Promise.reject(new Error('by nobody awaited')); ${waits} t.ok(1); });`,
      'inner.test.ts': `import t from 'tap'; t.test('c', async (t) => { await t.test('d', async (t) => { void Promise.reject(new Error('deep inside')); ${waits} }); });`,
      'after.test.ts': `import t from 'tap'; t.test('e', async (t) => t.ok(1));`,
    });
    const files = ['thrown', 'rejected', 'inner', 'after'].map((name) => path.join(folder, `${name}.test.ts`));
    const results = await runFiles({ ...usual, isShared: true, files });
    t.same(
      results.map(({ isGood }) => isGood),
      [false, false, false, true],
    );
    for (const [index, says] of [/from a timer/, /by nobody awaited/, /deep inside/].entries())
      t.match(results[index]?.complaints.join('\n'), says);
  },
);

t.test('what listens itself for what nobody catches is not disturbed in a process of several files', async (t) => {
  const folder = t.testdir({
    'listens.test.ts': `import t from 'tap'; t.test('a', async (t) => {
      const heard = new Promise((resolve) => process.once('uncaughtException', resolve));
      setTimeout(() => { throw new Error('expected'); });
      t.match(await heard, { message: 'expected' });
    });`,
  });
  const results = await runFiles({ ...usual, isShared: true, files: [path.join(folder, 'listens.test.ts')] });
  t.match(results, [{ isGood: true, passed: 1 }]);
});

t.test('a process of several files that does not end by itself is ended, and says what keeps it alive', async (t) => {
  const file = path.join(t.testdir(), 'made.test.ts');
  const source = `import { createSocket } from 'node:dgram';
    import t from 'tap';
    t.test('a', async (t) => { createSocket('udp4').bind(0, '127.0.0.1'); t.ok(1); });`;
  writeFileSync(file, source);
  const env = { ...process.env, PARALLAX_TEST_LEFT_OPEN_MS: '50' };
  const [result] = await runFiles({ ...usual, isShared: true, files: [file], env });
  t.match(result, { isGood: false, passed: 1, failed: 1 });
  t.match(result?.complaints.join('\n'), 'something keeps the process alive: ');
  t.match(result?.complaints.join('\n'), 'UDPWrap');
});
