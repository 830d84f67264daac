import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { compileCacheFolder } from './compile-cache.mjs';

/** Puts a program and an empty folder of dependencies into a folder. */
function checkoutIn(checkout: string): string {
  for (const folder of ['node_modules', 'program/src']) mkdirSync(path.join(checkout, folder), { recursive: true });
  chmodSync(path.join(checkout, 'node_modules'), 0o755);
  return checkout;
}

t.test('the folder is made below the dependencies, for this user alone', (t) => {
  const checkout = checkoutIn(t.testdir());
  const folder = compileCacheFolder(checkout);
  t.equal(folder, path.join(checkout, 'node_modules/.cache/parallax-compile'));
  t.equal(lstatSync(folder ?? '').mode & 0o777, 0o700);
  t.equal(compileCacheFolder(checkout), folder, 'and found again');
  t.end();
});

t.test('there is none where somebody else could put code', (t) => {
  const modules = (checkout: string) => path.join(checkout, 'node_modules');
  const cases: Readonly<Record<string, (checkout: string) => void>> = {
    'everybody may write into the dependencies': (checkout) => chmodSync(modules(checkout), 0o777),
    'everybody may write into the folder of all caches': (checkout) => {
      mkdirSync(path.join(modules(checkout), '.cache'));
      chmodSync(path.join(modules(checkout), '.cache'), 0o1777);
    },
    'a group may write into the folder': (checkout) => chmodSync(compileCacheFolder(checkout) ?? '', 0o770),
    'a link stands in its place': (checkout) => {
      mkdirSync(path.join(modules(checkout), '.cache'), { mode: 0o755 });
      mkdirSync(path.join(checkout, 'elsewhere'), { mode: 0o700 });
      symlinkSync(path.join(checkout, 'elsewhere'), path.join(modules(checkout), '.cache/parallax-compile'));
    },
  };
  for (const [name, arrange] of Object.entries(cases)) {
    t.test(name, (t) => {
      const checkout = checkoutIn(t.testdir());
      arrange(checkout);
      t.equal(compileCacheFolder(checkout), undefined);
      t.end();
    });
  }
  t.test('the dependencies or the folder belong to another user', (t) => {
    // Only root can give folders away.
    if (!needs(t, 'root')) return void t.end();
    const checkout = checkoutIn(t.testdir());
    chownSync(compileCacheFolder(checkout) ?? '', 65_534, 65_534);
    t.equal(compileCacheFolder(checkout), undefined);
    const other = checkoutIn(t.testdir());
    chownSync(modules(other), 65_534, 65_534);
    t.equal(compileCacheFolder(other), undefined);
    t.notOk(existsSync(path.join(modules(other), '.cache')), 'and nothing is left there');
    t.end();
  });
  t.end();
});

t.test('a program keeps what it compiles, and runs where it cannot', (t) => {
  const helper = path.join(import.meta.dirname, 'compile-cache.mjs');
  const text = `import { getCompileCacheDir } from 'node:module';
    import { keepCompiledCode } from ${JSON.stringify(helper)};
    keepCompiledCode();
    const folder: string | undefined = getCompileCacheDir();
    console.log(folder ?? 'none');`;
  const run = (checkout: string, env: Record<string, string> = {}, name = 'main.ts') => {
    const file = path.join(checkout, 'program/src', name);
    writeFileSync(file, text);
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { env, encoding: 'utf8' });
    t.match({ stderr, status }, { stderr: '', status: 0 });
    return stdout.trim();
  };
  const checkout = checkoutIn(t.testdir());
  const folder = path.join(checkout, 'node_modules/.cache/parallax-compile');
  t.ok(run(checkout).startsWith(`${folder}/`));
  t.not(readdirSync(folder).length, 0);
  const named = path.join(checkout, 'named');
  t.ok(run(checkout, { NODE_COMPILE_CACHE: named }).startsWith(`${named}/`), 'the variable stands');
  t.equal(run(checkout, {}, 'other.ts'), 'none', 'only the programs of a checkout');
  const full = checkoutIn(t.testdir());
  writeFileSync(path.join(full, 'node_modules/.cache'), 'a file where the folder would be');
  t.equal(run(full), 'none');
  t.equal(run(t.testdir({ program: { src: {} } })), 'none', 'without dependencies');
  t.end();
});
