import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { affectedBy, changedSince } from '../../runner/changed.ts';

function project(t: { testdir(): string }, files: Readonly<Record<string, string>>): string {
  const root = t.testdir();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

t.test('a test is affected by what it imports at whatever distance, by package, and by what it names', async (t) => {
  const root = project(t, {
    'packages/wire/src/index.ts': "export * from './codec.ts';",
    'packages/wire/src/codec.ts': '',
    'packages/wire/src/codec.test.ts': "import './codec.ts';",
    'control-plane/src/area/thing.ts': "import '@parallax/wire';",
    'control-plane/src/area/thing.test.ts': "import { a } from './thing.ts';",
    'control-plane/src/other/other.test.ts': "const migrations = 'control-plane/src/area/migrations';",
    'control-plane/src/area/migrations/readme.ts': '',
    'test/e2e/start.test.ts': "spawn('node', ['control-plane/src/area/thing.ts']);",
    'test/e2e/lone.test.ts': "import t from 'tap';",
  });
  const tests = [
    'packages/wire/src/codec.test.ts',
    'control-plane/src/area/thing.test.ts',
    'control-plane/src/other/other.test.ts',
    'test/e2e/start.test.ts',
    'test/e2e/lone.test.ts',
  ];
  t.same(affectedBy(root, ['packages/wire/src/codec.ts'], tests), [
    'packages/wire/src/codec.test.ts',
    'control-plane/src/area/thing.test.ts',
    'test/e2e/start.test.ts',
  ]);
  t.same(affectedBy(root, ['test/e2e/lone.test.ts'], tests), ['test/e2e/lone.test.ts']);
  t.same(affectedBy(root, ['control-plane/src/area/migrations/0001_a.sql'], tests), [
    'control-plane/src/other/other.test.ts',
  ]);
  t.same(affectedBy(root, ['README.md'], tests), []);
});

t.test('what changed is what differs from a commit, and what is new', async (t) => {
  const root = project(t, { a: '1', b: '1' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: root });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
  writeFileSync(path.join(root, 'b'), '2');
  writeFileSync(path.join(root, 'c'), '1');
  t.same(changedSince(root, 'HEAD').toSorted(), ['b', 'c']);
  t.throws(() => changedSince(root, 'nowhere'));
});
