// Runs a TypeScript file under the pinned Node, whichever Node the shell has: node scripts/run.mjs <file.ts> [arguments].
// Installs the dependencies first when they are missing.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ensureInstalled, productNode, root } from './install.mjs';
import { programs, programSources } from './programs/bundle.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/run.mjs <file.ts> [arguments]');
  process.exit(2);
}
try {
  await ensureInstalled({ print: (line) => console.error(line) });
  const child = spawn(productNode(), [...nodeOptions(), await entry(), ...args], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

/** The file, or the bundle of a program. */
async function entry() {
  const source = path.resolve(root, file);
  const name = Object.keys(programSources).find((each) => programSources[each] === source);
  return name === undefined ? source : (await programs())[name];
}

/** What Node is told for an agent; nothing for other programs. */
function nodeOptions() {
  const agent = path.join(root, 'probe-agent');
  const isAgent = path.resolve(root, file) === path.join(agent, 'src/main.ts');
  return isAgent ? JSON.parse(readFileSync(path.join(agent, 'node-options.json'), 'utf8')) : [];
}
