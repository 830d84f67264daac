// The tests, in stages: `node scripts/test.mjs` all of `npm test`, `--faults` the longer run, or names of stages.
// `--long` is the run of hours: properties, simulated worlds and monitor-days; what follows it goes to test/long/main.ts.
// Everything after `--` goes to tap. Ends with tap's totals of each stage, and with 1 when one failed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chooseDataFolder } from '../packages/embedded/src/data-folder.mjs';
import { findNatsServer } from '../packages/embedded/src/nats-binary.mjs';
import { productNode, root } from './install.mjs';
import { createSummary, missingServersLine } from './tap-summary.mjs';

/** How many files run at the same time: tests wait more than they compute; what kills processes or judges the gate runs alone. */
const stages = {
  unit: { args: ['--jobs=2', '--timeout=120'] },
  contract: { args: ['--jobs=2', '--timeout=180'], folder: 'test/contract' },
  'end-to-end': { args: ['--jobs=2', '--timeout=300'], folder: 'test/e2e' },
  simulation: { args: ['--jobs=1', '--timeout=900'], folder: 'test/simulation' },
  gate: { args: ['--jobs=1', '--timeout=600'], folder: 'test/gate' },
  faults: { args: ['--jobs=1', '--timeout=1200'], folder: 'test/faults' },
};
const usual = ['unit', 'contract', 'end-to-end', 'simulation'];
const longer = ['gate', 'faults'];

if (process.argv[2] === '--long') {
  const long = [path.join(root, 'test/long/main.ts'), ...process.argv.slice(3)];
  const child = spawn(productNode(), long, { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.exit(await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1))));
}

const split = process.argv.indexOf('--', 2);
const given = process.argv.slice(2, split === -1 ? undefined : split);
const forTap = split === -1 ? [] : process.argv.slice(split + 1);
const names = given.includes('--faults') ? longer : given.length > 0 ? given : usual;
const unknown = names.filter((name) => !(name in stages));
if (unknown.length > 0) {
  console.error(`no such stage: ${unknown.join(', ')}; there are: ${Object.keys(stages).join(', ')}`);
  process.exit(2);
}

/** What runs now; a signal is handed to it once and ends the run. */
let current;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (!isStopped) current?.kill(signal);
    isStopped = true;
  });
}

/** Tests put a file here for each program that they did not find, called like it. */
const missingServers = mkdtempSync(path.join(tmpdir(), 'parallax-missing-servers-'));

let isFailed = false;
for (const name of names) {
  if (isStopped) break;
  console.log(`== ${name}`);
  const started = performance.now();
  const code = await runStage(stages[name]);
  if (code !== 0) isFailed = true;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`== ${name}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
}
sayMissingServers();
process.exit(isFailed || isStopped ? 1 : 0);

function runStage({ args, folder }) {
  const files = folder === undefined ? [] : testsIn(folder);
  const tap = path.join(root, 'node_modules/tap/dist/esm/run.mjs');
  // With a reporter of the caller's choice tap speaks for itself.
  const seed = `--node-arg=--import=${pathToFileURL(path.join(root, 'scripts/property-seed.mjs'))}`;
  const isPlain = forTap.some((argument) => /^(-R|--reporter)/.test(argument));
  current = spawn(
    productNode(),
    [tap, 'run', ...(isPlain ? [] : ['--reporter=tap']), seed, ...args, ...forTap, ...files],
    {
      cwd: root,
      stdio: ['inherit', isPlain ? 'inherit' : 'pipe', 'inherit'],
      env: { ...process.env, PATH: searchPath(), PARALLAX_TEST_MISSING_SERVERS: missingServers },
    },
  );
  const summary = createSummary((line) => console.log(line));
  current.stdout?.setEncoding('utf8').on('data', summary.add);
  return new Promise((resolve) => {
    current.once('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    current.once('close', (code) => {
      summary.end();
      resolve(code ?? 1);
    });
  });
}

/** A nats-server that was fetched into the data folder is found like an installed one. */
function searchPath() {
  const { folder: dataDir } = chooseDataFolder({ named: process.env.PARALLAX_DATA_DIR, checkout: root });
  const nats = findNatsServer(process.env, { dataDir });
  const folders = [path.join(root, 'node_modules/.bin'), ...(nats === undefined ? [] : [path.dirname(nats.path)])];
  return [...folders, process.env.PATH ?? ''].join(path.delimiter);
}

function sayMissingServers() {
  console.log(`== ${missingServersLine(readdirSync(missingServers))}`);
  rmSync(missingServers, { recursive: true });
}

/** tap does not look into folders that its configuration leaves out. */
function testsIn(folder) {
  return readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`);
}
