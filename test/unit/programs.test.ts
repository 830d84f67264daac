import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';

const root = path.resolve(import.meta.dirname, '../..');
const script = 'scripts/programs/bundle.mjs';

type Programs = Readonly<Record<'control-plane' | 'probe-agent', string>>;

/** A project of three sources with the script that bundles; without esbuild unless it is asked for. */
function project(t: { teardown(undo: () => void): void }, { hasEsbuild }: { hasEsbuild: boolean }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-programs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  };
  write('package-lock.json', '{}');
  write('packages/word/src/word.ts', "export const word: string = 'first';\n");
  write(
    'control-plane/src/main.ts',
    `import { readFileSync } from 'node:fs';
import path from 'node:path';
import { word } from '../../packages/word/src/word.ts';
const more = await import('./more.ts');
console.log(word, more.more, readFileSync(path.join(import.meta.dirname, 'beside.txt'), 'utf8'));
`,
  );
  write('control-plane/src/more.ts', 'export const more: number = 1;\n');
  write('control-plane/src/beside.txt', 'beside');
  write(
    'probe-agent/src/main.ts',
    "import { early } from 'early';\nconsole.log('agent', early, (await import('late')).late);\n",
  );
  write('node_modules/early/index.js', "exports.early = require('node:path').basename('/a/early');\n");
  write('node_modules/late/index.js', "exports.late = 'late';\n");
  mkdirSync(path.join(folder, 'node_modules/@esbuild'), { recursive: true });
  mkdirSync(path.join(folder, 'scripts/programs'), { recursive: true });
  cpSync(path.join(root, script), path.join(folder, script));
  if (hasEsbuild) symlinkSync(path.join(root, 'node_modules/esbuild'), path.join(folder, 'node_modules/esbuild'));
  const run = (file: string) => execFileSync(process.execPath, [file], { encoding: 'utf8' }).trim();
  const programs = (): Programs => {
    const url = pathToFileURL(path.join(folder, script)).href;
    const text = `console.log(JSON.stringify(await (await import('${url}')).programs()))`;
    return JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8', stdio: 'pipe' }),
    ) as Programs;
  };
  return { folder, write, run, programs };
}

t.test('programs are bundled once for each state of the sources, and find what lies beside a source', async (t) => {
  const { write, run, programs } = project(t, { hasEsbuild: true });
  const first = programs();
  t.match(first['control-plane'], /\/parallax-programs\/[0-9a-f]{24}\/control-plane\.mjs$/);
  t.equal(run(first['control-plane']), 'first 1 beside');
  t.equal(run(first['probe-agent']), 'agent early late', 'packages in CommonJS keep their names');
  t.same(programs(), first, 'and not again');
  write('packages/word/src/word.ts', "export const word: string = 'other';\n");
  const second = programs();
  t.not(second['control-plane'], first['control-plane']);
  t.equal(run(second['control-plane']), 'other 1 beside');
  t.equal(run(first['control-plane']), 'first 1 beside', 'what runs already goes on as it was');
  write('packages/word/src/word.test.ts', 'no test changes a program');
  t.same(programs(), second);
  write('control-plane/src/more.ts', 'export const more = ;\n');
  t.throws(programs, /control-plane\/src\/more\.ts:1/, 'a mistake is told with its place');
});

t.test('without esbuild the sources run as they are', async (t) => {
  const { folder, run, programs } = project(t, { hasEsbuild: false });
  const { 'control-plane': file } = programs();
  t.equal(file, path.join(folder, 'control-plane/src/main.ts'));
  t.equal(run(file), 'first 1 beside');
});

t.test('the bundle of this project is the program', async (t) => {
  const { programs } = (await import(pathToFileURL(path.join(root, script)).href)) as {
    programs: () => Promise<Programs>;
  };
  const { version } = JSON.parse(readFileSync(path.join(root, 'control-plane/package.json'), 'utf8')) as {
    version: string;
  };
  for (const file of Object.values(await programs())) {
    t.match(execFileSync(process.execPath, [file, '--version'], { encoding: 'utf8' }), version);
  }
});
