// Plain JavaScript without dependencies: the start script needs it before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { programFolders } from '../../settings/src/programs.mjs';

export const oldestNatsServer = [2, 9, 10];
/** The oldest line that its makers still correct: they maintain the present minor version and the one before. */
export const maintainedNatsServer = [2, 12, 0];

export function downloadedNatsServer(dataDir) {
  return path.join(dataDir, 'nats-server', 'bin', 'nats-server');
}

export function natsServerVersion(file) {
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 5_000, env: {}, cwd: '/' });
  const match = /v?(\d+)\.(\d+)\.(\d+)/.exec(run.status === 0 ? run.stdout : '');
  return match === null ? undefined : match.slice(1, 4).map(Number);
}

export const isRecentEnough = (version) => isAtLeast(version, oldestNatsServer);

export const isMaintained = (version) => isAtLeast(version, maintainedNatsServer);

function isAtLeast(version, oldest) {
  for (const [index, least] of oldest.entries()) {
    if (version[index] !== least) return version[index] > least;
  }
  return true;
}

export function findNatsServer(env, options = {}) {
  const named = env['PARALLAX_NATS_SERVER'];
  if (named !== undefined && named !== '') return namedServer(named);
  const candidates = programFolders(env).map((folder) => path.join(folder, 'nats-server'));
  if (options.dataDir !== undefined) candidates.push(downloadedNatsServer(options.dataDir));
  for (const file of candidates) {
    if (!existsSync(file)) continue;
    const version = natsServerVersion(file);
    if (version !== undefined && isRecentEnough(version)) return { path: file, version: version.join('.') };
  }
  return undefined;
}

function namedServer(named) {
  const version = natsServerVersion(named);
  if (version === undefined)
    throw new Error(`PARALLAX_NATS_SERVER names ${named}, which does not answer to --version as nats-server does`);
  if (!isRecentEnough(version)) {
    throw new Error(
      `PARALLAX_NATS_SERVER names ${named}, version ${version.join('.')}: ${oldestNatsServer.join('.')} or newer is needed`,
    );
  }
  return { path: named, version: version.join('.') };
}
