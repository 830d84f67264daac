// The Node that the agent is put into: the installed one, or that of another architecture from the npm registry.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { root } from '../install.mjs';

/** What the lock file says of the Node of an architecture: name, version and the hash of its package. */
export function pinnedNode(arch, lockFile = path.join(root, 'package-lock.json')) {
  const name = `node-linux-${arch}`;
  const entry = JSON.parse(readFileSync(lockFile, 'utf8')).packages[`node_modules/${name}`];
  if (entry?.version === undefined || entry.integrity === undefined)
    throw new Error(`package-lock.json has no ${name} with a version and an integrity`);
  return { name, version: entry.version, integrity: entry.integrity };
}

/** Gives a folder with bin/node and LICENSE for an architecture of Linux; fetches its package when it is neither installed nor kept from before. */
export function nodePackage({ arch, work, cache, print }) {
  const pinned = pinnedNode(arch);
  const installed = path.join(root, 'node_modules', pinned.name);
  if (existsSync(path.join(installed, 'bin/node')) && versionOf(installed) === pinned.version) return installed;
  const archive = path.join(cache, `${pinned.name}-${pinned.version}.tgz`);
  if (!existsSync(archive)) fetchPackage({ ...pinned, archive, print });
  try {
    assertIntegrity(readFileSync(archive), pinned.integrity, `${pinned.name}@${pinned.version}`);
  } catch (error) {
    // Kept, it would be refused again at every build.
    rmSync(archive, { force: true });
    throw error;
  }
  const folder = path.join(work, pinned.name);
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', archive, '-C', folder, 'package/bin/node', 'package/LICENSE'], { stdio: 'pipe' });
  return path.join(folder, 'package');
}

/** @throws when the bytes do not have the SHA-512 that the lock file gives */
export function assertIntegrity(bytes, integrity, name) {
  const wanted = integrity.split(/\s+/).find((one) => one.startsWith('sha512-'));
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== wanted)
    throw new Error(
      `${name} is not the package that package-lock.json names: it has ${found}, and ${wanted} was expected`,
    );
}

function fetchPackage({ name, version, archive, print }) {
  const folder = path.dirname(archive);
  const fresh = path.join(folder, `new-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  print(`fetching ${name}@${version} from the npm registry …`);
  try {
    const [command, before] = npm();
    execFileSync(
      command,
      [...before, 'pack', `${name}@${version}`, '--pack-destination', fresh, '--loglevel=error', '--ignore-scripts'],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 300_000,
      },
    );
    renameSync(path.join(fresh, `${name}-${version}.tgz`), archive);
  } catch (error) {
    throw new Error(`the registry did not give ${name}@${version}: ${reasonOf(error)}`, { cause: error });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What npm says of an error, without its marks and without where its log is. */
function reasonOf(error) {
  const lines = String(error.stderr ?? '').matchAll(/^npm error (?!A complete log| {4})(.+)$/gm);
  const said = [...lines].map(([, line]) => line.trim()).join('; ');
  return said === '' ? error.message : said.slice(0, 500);
}

/** npm as it was started, or the one on the PATH. */
function npm() {
  const { npm_execpath: script } = process.env;
  return script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
}

function versionOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).version;
}
