import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { isMaintained } from '../../packages/embedded/src/nats-binary.mjs';
import { ensureNatsServer, fetchNatsServer, release } from '../../scripts/fetch-nats-server.mjs';
import type { TestContext } from '@parallax/testkit';

const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const version = '2.14.9';

/** An archive as the project publishes it, whose program only says its version. */
function archiveOf(folder: string): Buffer {
  const name = `nats-server-v${version}-${platform}`;
  mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, name, 'nats-server'), `#!/bin/sh\necho nats-server: v${version}\n`, { mode: 0o755 });
  execFileSync('tar', ['-czf', 'release.tar.gz', name], { cwd: folder });
  return readFileSync(path.join(folder, 'release.tar.gz'));
}

async function world(t: TestContext) {
  const folder = mkdtempSync('/tmp/parallax-fetch-');
  const archive = archiveOf(folder);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/download`;
  t.teardown(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const dataDir = path.join(folder, 'data');
  mkdirSync(dataDir);
  const lines: string[] = [];
  return { archive, asked, from, dataDir, lines, print: (line: string) => void lines.push(line) };
}

t.test('the pinned release is taken before the package of the system, and checked', async (t) => {
  const { archive, asked, from, dataDir, lines, print } = await world(t);
  const sha256 = { [platform]: createHash('sha256').update(archive).digest('hex') };
  const found = await fetchNatsServer({ dataDir, print, pinned: { version, from, sha256 } });
  t.same(asked, [`/download/v${version}/nats-server-v${version}-${platform}.tar.gz`]);
  t.equal(found.version, version);
  t.match(execFileSync(found.path, { encoding: 'utf8' }), version, 'it stands in the data folder and runs');
  t.ok(found.path.startsWith(dataDir));
  t.equal(lines.length, 1, 'one line says what is fetched');
});

t.test('an archive with another checksum is refused, and the error says what was tried and what to do', async (t) => {
  const { from, dataDir, print } = await world(t);
  const searchPath = process.env['PATH'];
  // Without the programs of Debian, so that nothing beyond this machine is asked.
  process.env['PATH'] = path.join(dataDir, 'nothing');
  t.teardown(() => (process.env['PATH'] = searchPath));
  const error = await fetchNatsServer({
    dataDir,
    print,
    pinned: { version, from, sha256: { [platform]: '0'.repeat(64) } },
  }).then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  t.match(error?.message, /has the SHA-256 [0-9a-f]{64} and not 0{64}/);
  t.match(error?.message, /Debian's package: this system has no apt-get/);
  t.match(error?.message, /PARALLAX_NATS_SERVER/);
  t.notOk(existsSync(path.join(dataDir, 'nats-server/bin')), 'nothing was installed');
});

t.test('a nats-server that its makers do not maintain is used, with a warning', async (t) => {
  const { dataDir } = await world(t);
  for (const [found, isWarned] of [
    ['2.9.10', true],
    ['2.11.30', true],
    ['2.12.0', false],
    ['3.0.0', false],
  ] as const) {
    const program = path.join(dataDir, `nats-server-${found}`);
    writeFileSync(program, `#!/bin/sh\necho nats-server: v${found}\n`, { mode: 0o755 });
    t.teardown(setVariable('PARALLAX_NATS_SERVER', program));
    const lines: string[] = [];
    await ensureNatsServer({ print: (line) => void lines.push(line) });
    t.equal(lines.length, isWarned ? 1 : 0, found);
    if (isWarned) t.match(lines[0], `${found}, which its makers do not maintain any more`);
  }
});

t.test('what is pinned is maintained, and the image has the same version', (t) => {
  t.ok(isMaintained(release.version.split('.').map(Number)));
  for (const sum of Object.values(release.sha256)) t.match(sum, /^[0-9a-f]{64}$/);
  const compose = z
    .object({ services: z.object({ nats: z.object({ image: z.string() }) }) })
    .parse(parse(readFileSync(path.resolve(import.meta.dirname, '../../docker-compose.yml'), 'utf8')));
  t.match(compose.services.nats.image, new RegExp(`^nats:${release.version.replaceAll('.', '\\.')}-alpine`));
  t.end();
});

/** Sets a variable of this process; returns what puts it back. */
function setVariable(name: string, value: string): () => void {
  const former = process.env[name];
  process.env[name] = value;
  return () => {
    if (former === undefined) delete process.env[name];
    else process.env[name] = former;
  };
}
