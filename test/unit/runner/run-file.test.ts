import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { runFile } from '../../runner/run-file.ts';
import type { FileResult } from '../../runner/run-file.ts';

const tap = import.meta.resolve('tap');

async function ran(t: { testdir(): string }, source: string, timeoutS = 30): Promise<FileResult> {
  const file = path.join(t.testdir(), 'made.test.ts');
  writeFileSync(file, source.replace("'tap'", `'${tap}'`));
  let cpu = 0;
  return runFile({
    file,
    stage: 'unit',
    timeoutS,
    cwd: path.dirname(file),
    node: process.execPath,
    env: process.env,
    signal: new AbortController().signal,
    endedCpuSeconds: () => (cpu += 1),
  });
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
