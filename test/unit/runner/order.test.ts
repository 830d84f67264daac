import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { compareCaught, noteCaught } from '../../runner/caught.ts';
import { noteTimes, ordered } from '../../runner/order.ts';
import { runPool } from '../../runner/pool.ts';
import type { FileResult } from '../../runner/file-result.ts';
import { plannedFiles, stages } from '../../runner/stages.ts';
import type { Stage } from '../../runner/stages.ts';

const quick: Stage = { name: 'quick', tier: 'usual', files: [], cores: 1, timeoutS: 1 };
const half: Stage = { ...quick, name: 'half', cores: 0.5 };
const together: Stage = { ...quick, name: 'together', isShared: true };
const alone: Stage = { ...quick, name: 'alone', isAlone: true };

/** A project with lists of what is noted. */
function project(t: { testdir(): string }, files: Readonly<Record<string, string>>): string {
  const root = t.testdir();
  for (const [file, text] of Object.entries({
    'test/runner/slow-files.json': '{}',
    'test/runner/caught.json': '{}',
    ...files,
  })) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

const result = (file: string, more: Partial<FileResult> = {}): FileResult => ({
  file,
  stage: 'gate',
  isGood: true,
  passed: 1,
  failed: 0,
  skipped: 0,
  seconds: 1,
  cpuSeconds: 1,
  text: '',
  complaints: [],
  caught: [],
  ...more,
});

t.test('each test file of the project belongs to one stage, but for those that run in another way too', async (t) => {
  const root = path.resolve(import.meta.dirname, '../../..');
  const planned = plannedFiles(root, stages).filter(({ stage }) => stage.isBare !== true);
  t.equal(new Set(planned.map(({ file }) => file)).size, planned.length);
  t.ok(planned.length > 500, `${planned.length} files`);
  for (const stage of stages) {
    t.ok(plannedFiles(root, [stage]).length > 0, `${stage.name} has files`);
    for (const pattern of stage.files.filter((name) => !/[*{]/.test(name))) {
      t.ok(
        planned.some(({ file }) => file === pattern),
        `${pattern} is there`,
      );
    }
  }
});

t.test('the slowest files come first, or all in an order that a seed draws', async (t) => {
  const root = project(t, { 'test/runner/slow-files.json': '{"b":10,"c":20}' });
  const planned = ['a', 'b', 'c', 'd', 'e', 'f'].map((file) => ({ file, stage: quick }));
  const files = (seed?: number) => ordered(root, planned, seed, false).flatMap((run) => run.files);
  t.same(files(), ['c', 'b', 'a', 'd', 'e', 'f']);
  t.same(files(5), files(5));
  t.same(files(5).toSorted(), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.ok(new Set(Array.from({ length: 20 }, (_, seed) => files(seed).join())).size > 10);
});

t.test('files of one area share processes, none of which has much to do; alone each has its own', async (t) => {
  const root = project(t, { 'test/runner/slow-files.json': '{"a/b/c/2.ts":60,"a/b/c/3.ts":60}' });
  const planned = ['a/b/c/1.ts', 'a/b/c/2.ts', 'a/b/c/3.ts', 'a/b/c/4.ts', 'a/x/y/5.ts'].map((file) => ({
    file,
    stage: together,
  }));
  const files = (isAlone: boolean) => ordered(root, planned, undefined, isAlone).map((run) => run.files);
  t.same(files(false), [['a/b/c/1.ts', 'a/b/c/2.ts'], ['a/b/c/3.ts', 'a/b/c/4.ts'], ['a/x/y/5.ts']]);
  t.same(files(true).length, 5);
  const many = Array.from({ length: 100 }, (_, index) => ({ file: `a/b/c/${index}.ts`, stage: together }));
  t.ok(ordered(root, many, 7, false).every((run) => run.files.length <= 60));
});

t.test('what slow files took is noted, and quick ones are forgotten', async (t) => {
  const root = project(t, { 'test/runner/slow-files.json': '{"b":10,"c":20}' });
  noteTimes(root, [result('b', { seconds: 2 }), result('a', { seconds: 33.4 })]);
  t.same(JSON.parse(readFileSync(path.join(root, 'test/runner/slow-files.json'), 'utf8')), { a: 33, c: 20 });
});

t.test('files run side by side as far as their parts of cores go, and what has to be alone comes last', async (t) => {
  const waiting = [alone, quick, half, half, quick, half].map((stage, index) => ({
    files: [`${stage.name} ${index}`],
    stage,
    isShared: false,
    seconds: 0,
  }));
  const running = new Set<string>();
  const seen: string[] = [];
  await runPool(waiting, {
    cores: 2,
    signal: new AbortController().signal,
    begin: async ({ files: [file = ''], stage }) => {
      running.add(file);
      seen.push(file);
      const used = [...running].reduce((sum, name) => sum + (name.startsWith('half') ? 0.5 : 1), 0);
      t.ok(used <= 2, `${used} cores`);
      if (stage.isAlone === true) t.equal(running.size, 1);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running.delete(file);
    },
  });
  t.equal(seen.at(-1), 'alone 0');
  t.equal(seen.length, 6);
});

t.test(
  'while the machine idles one more is begun each time that it is looked at, up to a bound, and none while it is busy',
  async (t) => {
    const runs = Array.from({ length: 10 }, (_, n) => ({
      files: [`${n}`],
      stage: quick,
      isShared: false,
      seconds: 0,
    }));
    const most = async (idle: number): Promise<number> => {
      const ends: (() => void)[] = [];
      let asked = 0;
      let mostAtOnce = 0;
      const done = runPool(runs, {
        cores: 1,
        lookMs: 1,
        signal: new AbortController().signal,
        idleCores: () => {
          asked += 1;
          if (asked > 40) for (const end of ends.splice(0)) end();
          return idle;
        },
        begin: () =>
          new Promise((resolve) => {
            ends.push(resolve);
            mostAtOnce = Math.max(mostAtOnce, ends.length);
            if (ends.length === 5) for (const end of ends.splice(0)) end();
          }),
      });
      await done;
      return mostAtOnce;
    };
    t.equal(await most(0.9), 5);
    t.equal(await most(0.1), 1);
  },
);

t.test('after an abort nothing more is begun', async (t) => {
  const abort = new AbortController();
  const seen: string[] = [];
  const runs = ['a', 'b', 'c'].map((file) => ({
    files: [file],
    stage: quick,
    isShared: false,
    seconds: 0,
  }));
  const begin = async ({ files }: { files: readonly string[] }) => {
    seen.push(...files);
    abort.abort();
  };
  await runPool(runs, { cores: 1, signal: abort.signal, begin });
  t.same(seen, ['a']);
});

t.test(
  'a planted fault that is not noticed any more is told, and a new one is listed only when that is asked for',
  async (t) => {
    const root = project(t, { 'test/runner/caught.json': '{"gate":["one","two"],"faults":["three"]}' });
    const results = [result('a', { caught: ['one'] }), result('b', { caught: ['new'] })];
    t.same(compareCaught(root, results, ['gate']), { lost: ['gate: two'], unlisted: ['gate: new'] });
    t.same(compareCaught(root, results, []).lost, [], 'of a stage of which not all was run');
    noteCaught(root, results, ['gate']);
    t.same(JSON.parse(readFileSync(path.join(root, 'test/runner/caught.json'), 'utf8')), {
      faults: ['three'],
      gate: ['new', 'one'],
    });
  },
);
