// `npm start`: installs what is missing and hands over to `control-plane up` under the pinned Node. Runs on Node 20 without dependencies.
import { spawn } from 'node:child_process';
import { compileCacheFolder } from '../packages/embedded/src/compile-cache.mjs';
import { ensureNatsServer } from './fetch-nats-server.mjs';
import { ensureInstalled, productNode, root } from './install.mjs';
import { programs } from './programs/bundle.mjs';

const print = (line) => console.log(line);
/** What runs now on behalf of this script; signals are handed to it. */
let current;
let stoppedBy;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // Ctrl-C reaches the child as well, and npm sends it once more: only the first one is handed on.
  process.on(signal, () => {
    if (stoppedBy !== undefined) return;
    stoppedBy = signal;
    current?.kill(signal);
  });
}
process.stdout.on('error', () => {});
endWithNpm();

try {
  await ensureInstalled({ print, onSpawn: (child) => (current = child) });
  endIfStopped();
  await ensureNatsServer({ print, onSpawn: (child) => (current = child) });
  endIfStopped();
  await handOver();
} catch (error) {
  endIfStopped();
  console.error(`Parallax cannot start: ${error.message}`);
  process.exit(1);
}

/** The channel lets the supervisor notice when this process is killed. */
async function handOver() {
  const { 'control-plane': entry } = await programs();
  // Compiled code is kept, which halves the time that a start takes. Named here, it also serves the first file and all children.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? compileCacheFolder(root);
  current = spawn(productNode(), [entry, 'up', ...process.argv.slice(2)], {
    env: { ...process.env, NODE_COMPILE_CACHE },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  current.once('error', (error) => {
    console.error(`Parallax cannot start: ${error.message}`);
    process.exit(1);
  });
  current.once('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
}

function endIfStopped() {
  if (stoppedBy !== undefined) process.exit(130);
}

/** A killed npm leaves this process to init; whoever killed it wanted an end. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.emit('SIGTERM', 'SIGTERM');
  }, 500).unref();
}
