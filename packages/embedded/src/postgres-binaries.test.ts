import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { TestContext } from '@parallax/testkit';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { postgresBinaries } from './postgres-binaries.ts';

const nobody = { name: 'nobody', uid: 65_534, gid: 65_534 };

/** A package as an installation without scripts leaves it: no links. `mode` is that of its folders. */
function packageIn(t: TestContext, mode: number) {
  const root = mkdtempSync('/tmp/parallax-binaries-');
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folder = path.join(root, 'package', 'native');
  for (const name of ['bin', 'lib']) mkdirSync(path.join(folder, name), { recursive: true });
  for (const name of ['postgres', 'initdb']) {
    writeFileSync(path.join(folder, 'bin', name), '#!/bin/sh\ncat "$(dirname "$0")/../lib/libpq.so.5"\n', {
      mode: 0o700 | mode,
    });
  }
  writeFileSync(path.join(folder, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 | (mode & 0o044) });
  writeFileSync(
    path.join(folder, 'pg-symlinks.json'),
    '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]',
  );
  for (const at of ['bin', 'lib', '.', '..']) chmodSync(path.join(folder, at), mode);
  const dataDir = path.join(root, 'data');
  mkdirSync(dataDir);
  chmodSync(root, 0o755);
  return { folder, dataDir, packaged: { folder, version: '18.4.0' } };
}

t.test('binaries that the account can reach are used where they are, with their links made', (t) => {
  const { folder, dataDir, packaged } = packageIn(t, 0o755);
  t.same(postgresBinaries(dataDir, process.getuid?.() === 0 ? nobody : undefined, packaged), { folder, major: 18 });
  t.equal(readlinkSync(path.join(folder, 'lib/libpq.so.5')), 'libpq.so.5.18');
  t.end();
});

t.test('others are copied so that the account can run them', (t) => {
  if (!needs(t, 'root')) return t.end();
  const { dataDir, packaged } = packageIn(t, 0o700);
  const { folder } = postgresBinaries(dataDir, nobody, packaged);
  t.equal(folder, path.join(dataDir, 'postgres-binaries-18.4.0'));
  const run = spawnSync(path.join(folder, 'bin/postgres'), {
    uid: nobody.uid,
    gid: nobody.gid,
    encoding: 'utf8',
    cwd: '/',
  });
  t.equal(run.stdout, 'library', run.stderr);
  rmSync(packaged.folder, { recursive: true });
  symlinkSync('/nowhere', packaged.folder);
  t.equal(postgresBinaries(dataDir, nobody, packaged).folder, folder);
  t.end();
});

t.test('a copy that others could have changed is refused', (t) => {
  if (!needs(t, 'root')) return t.end();
  const { dataDir, packaged } = packageIn(t, 0o700);
  const { folder } = postgresBinaries(dataDir, nobody, packaged);
  chmodSync(path.join(folder, 'bin/initdb'), 0o777);
  t.throws(() => postgresBinaries(dataDir, nobody, packaged), {
    message: /initdb belongs to somebody else or can be changed by others: remove/,
  });
  t.ok(existsSync(folder));
  t.end();
});
