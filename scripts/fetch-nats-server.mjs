// Fetches nats-server into the data folder, without root. Runs on Node 20 without dependencies.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { chooseDataFolder } from '../packages/embedded/src/data-folder.mjs';
import {
  downloadedNatsServer,
  findNatsServer,
  isMaintained,
  isRecentEnough,
  maintainedNatsServer,
  natsServerVersion,
  oldestNatsServer,
} from '../packages/embedded/src/nats-binary.mjs';
import { root } from './install.mjs';

// A release of a line that its makers maintain, the one of docker-compose.yml. The checksums are those that the official images check.
export const release = {
  version: '2.14.3',
  from: 'https://github.com/nats-io/nats-server/releases/download',
  sha256: {
    'linux-amd64': 'f3d0c820c749f81d717310fb00d4903919e70e3e66b268bd352a088b9788eb93',
    'linux-arm64': '1759b6a0ddebade9471b7c02891dfaa8c73b526c6f3ce391d4e21ec3eceffab8',
    'darwin-arm64': 'e086395457a7a93a440433a446c9f161f917d35c0374640555123e8d8d4b7fe9',
  },
};
const oldest = oldestNatsServer.join('.');
const maintained = maintainedNatsServer.join('.');
const advice = `install nats-server ${maintained} or newer (macOS: brew install nats-server; ${oldest} of Debian works too: apt-get install nats-server) or set PARALLAX_NATS_SERVER to its path`;

/** Fetches a nats-server into the data folder unless one is found, or an external server is named. */
export async function ensureNatsServer({ print, onSpawn }) {
  if ((setting('PARALLAX_NATS_URL') ?? '') !== '') return;
  const { folder: dataDir } = chooseDataFolder({ named: setting('PARALLAX_DATA_DIR'), checkout: root });
  const env = { ...process.env, PARALLAX_NATS_SERVER: setting('PARALLAX_NATS_SERVER') };
  const found = findNatsServer(env, { dataDir });
  if (found !== undefined) return warnOfOld(found, print);
  mkdirSync(dataDir, { recursive: true, mode: process.getuid() === 0 ? 0o711 : 0o700 });
  warnOfOld(await fetchNatsServer({ dataDir, print, onSpawn }), print);
}

/** An old broker works, and gets no corrections any more: whoever runs it is to know. */
function warnOfOld({ path: file, version }, print) {
  if (isMaintained(version.split('.').map(Number))) return;
  print(
    `Warning: ${file} is nats-server ${version}, which its makers do not maintain any more. Install ${maintained} or newer, name it in PARALLAX_NATS_SERVER, or delete a fetched one and start again where github.com can be reached.`,
  );
}

function setting(name) {
  const file = process.env[`${name}_FILE`];
  return file === undefined || file === '' ? process.env[name] : readFileSync(file, 'utf8').replace(/\r?\n$/, '');
}

/**
 * Fetches the pinned release or, where it cannot be had, Debian's package, which is older. Returns path and version of what it
 * installed; throws with what went wrong and what to do.
 */
export async function fetchNatsServer({ dataDir, print, onSpawn, pinned = release }) {
  const problems = [];
  const ways = [
    { name: `Release ${pinned.version}`, fetchInto: (scratch) => fromRelease(pinned, scratch, onSpawn) },
    { name: "Debian's package", fetchInto: (scratch) => fromDebian(scratch, onSpawn) },
  ];
  for (const { name, fetchInto } of ways) {
    const parent = path.join(dataDir, 'nats-server');
    mkdirSync(parent, { recursive: true });
    const scratch = mkdtempSync(path.join(parent, 'fetch-'));
    try {
      print(`nats-server is not installed; fetching it into ${parent}: ${name} …`);
      return install(await fetchInto(scratch), downloadedNatsServer(dataDir));
    } catch (error) {
      problems.push(`${name}: ${error.message}`);
      print(`${name} cannot be had: ${error.message}`);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  throw new Error(
    `nats-server is missing and could not be fetched.\n${problems.map((problem) => `  ${problem}`).join('\n')}\n${advice}`,
  );
}

/** With lists and cache of its own: `apt-get download` fails while the system's lists are empty, and they belong to root. */
async function fromDebian(scratch, onSpawn) {
  for (const tool of ['apt-get', 'dpkg-deb']) {
    if (spawnSync(tool, ['--version'], { stdio: 'ignore' }).status !== 0) throw new Error(`this system has no ${tool}`);
  }
  for (const folder of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(path.join(scratch, folder), { recursive: true });
  const options = [
    `Dir::State::lists=${path.join(scratch, 'lists')}`,
    `Dir::Cache=${path.join(scratch, 'cache')}`,
    'Debug::NoLocking=true',
    'Acquire::Languages=none',
    'Acquire::http::Timeout=20',
    'Acquire::https::Timeout=20',
    'Acquire::Retries=1',
    // As root apt would fetch as the account _apt, which cannot write here.
    `APT::Sandbox::User=${process.getuid() === 0 ? 'root' : ''}`,
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, '--quiet', 'update'], scratch, onSpawn);
  await run('apt-get', [...options, '--quiet', 'download', 'nats-server'], scratch, onSpawn);
  const archive = readdirSync(scratch).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get fetched nothing');
  await run('dpkg-deb', ['--extract', archive, 'unpacked'], scratch, onSpawn);
  const binary = ['usr/sbin', 'usr/bin']
    .map((folder) => path.join(scratch, 'unpacked', folder, 'nats-server'))
    .find((file) => existsSync(file));
  if (binary === undefined) throw new Error(`${archive} has no nats-server in it`);
  return binary;
}

async function fromRelease({ version, from, sha256 }, scratch, onSpawn) {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const expected = sha256[platform];
  if (expected === undefined) throw new Error(`no release is pinned for ${platform}`);
  const name = `nats-server-v${version}-${platform}`;
  const url = `${from}/v${version}/${name}.tar.gz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(120_000) }).catch((error) => {
    throw new Error(`${url}: ${error.cause?.message ?? error.message}`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const content = Buffer.from(await response.arrayBuffer());
  const found = createHash('sha256').update(content).digest('hex');
  if (found !== expected) throw new Error(`${url} has the SHA-256 ${found} and not ${expected}`);
  const archive = path.join(scratch, 'release.tar.gz');
  writeFileSync(archive, content);
  await run('tar', ['-xzf', archive, '-C', scratch], scratch, onSpawn);
  return path.join(scratch, name, 'nats-server');
}

function install(binary, target) {
  const version = natsServerVersion(binary);
  if (version === undefined) throw new Error('what was fetched does not run here');
  if (!isRecentEnough(version)) throw new Error(`version ${version.join('.')} is too old`);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(binary, `${target}.new`);
  chmodSync(`${target}.new`, 0o755);
  renameSync(`${target}.new`, target);
  return { path: target, version: version.join('.') };
}

function run(command, args, cwd, onSpawn) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C' } });
  onSpawn?.(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-2_000)));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${command} cannot be started: ${error.message}`)));
    child.once('close', (code, signal) => {
      const lastLine = output
        .trim()
        .split('\n')
        .findLast((line) => /^(E:|W:|.*error)/i.test(line));
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `${command} ${args.at(-1)} ended with ${signal ?? `code ${code}`}${lastLine === undefined ? '' : `: ${lastLine}`}`,
          ),
        );
    });
  });
}
