import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { heartbeatsApi } from '../testing.ts';

const run = promisify(execFile);

/*
 * borgmatic (Debian package of that name) has a client of Healthchecks built in: it says when a backup starts, how it ended, and sends its log along. It is
 * run as it is; only the program that it backs up with is a stand-in, since no backup is wanted here.
 */
void t.test('the client of Healthchecks in borgmatic tells of its runs, unchanged', async (t) => {
  if (!needs(t, 'borgmatic')) return;
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const folder = mkdtempSync(path.join(tmpdir(), 'borgmatic-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const borg = path.join(folder, 'borg');
  const config = path.join(folder, 'config.yaml');
  writeFileSync(
    config,
    [
      'location:',
      `  source_directories: [${folder}]`,
      `  repositories: [${folder}/repository]`,
      `  local_path: ${borg}`,
      'hooks:',
      `  healthchecks: { ping_url: "${api.url}/ping/${String(made['uuid'])}" }`,
    ].join('\n'),
  );
  const backUp = async (code: number): Promise<void> => {
    writeFileSync(
      borg,
      `#!/bin/sh\ncase "$1" in --version) echo borg 1.2.3; exit 0;; esac\necho copied\nexit ${code}\n`,
      {
        mode: 0o755,
      },
    );
    const environment = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder };
    await run('borgmatic', ['--config', config, 'create', '--verbosity', '-1'], {
      env: environment,
      timeout: 60_000,
    }).catch((error: unknown) => {
      if (code === 0) throw error;
    });
  };
  const read = async () => (await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}`)).body;
  await backUp(0);
  t.match(await read(), { status: 'up' });
  await backUp(2);
  t.match(await read(), { status: 'down', down_reason: 'failed' });
  await backUp(0);
  t.match(await read(), { status: 'up' });
  const signals = (await api.pings(made['id'])).toReversed();
  const kinds = signals.map(({ kind }) => kind).filter((kind) => kind !== 'log');
  t.same(kinds, ['start', 'ping', 'start', 'fail', 'start', 'ping']);
  t.same(
    (await api.told(made['id'])).map(({ kind }) => kind),
    ['heartbeat.failed', 'heartbeat.recovered'],
  );
});
