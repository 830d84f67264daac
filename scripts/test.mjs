// The tests, in stages: `node scripts/test.mjs` all of `npm test`, `--faults` the longer run, or names of stages.
// Everything after `--` goes to tap. Ends with tap's totals of each stage and with 1 when one failed.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { productNode, root } from './install.mjs';

/** Unit, property and integration tests share the machine; what starts the whole product or measures runs alone. */
const stages = {
  unit: { args: ['--jobs=2', '--timeout=120'], folder: undefined },
  contract: { args: ['--jobs=1', '--timeout=180'], folder: 'test/contract' },
  'end-to-end': { args: ['--jobs=1', '--timeout=300'], folder: 'test/e2e' },
  gate: { args: ['--jobs=1', '--timeout=600'], folder: 'test/gate' },
  faults: { args: ['--jobs=1', '--timeout=1200'], folder: 'test/faults' },
};
const usual = ['unit', 'contract', 'end-to-end'];
const longer = ['gate', 'faults'];

const split = process.argv.indexOf('--', 2);
const given = process.argv.slice(2, split === -1 ? undefined : split);
const forTap = split === -1 ? [] : process.argv.slice(split + 1);
const names = given.includes('--faults') ? longer : given.length > 0 ? given : usual;
const unknown = names.filter((name) => !(name in stages));
if (unknown.length > 0) {
  console.error(`no such stage: ${unknown.join(', ')}; there are: ${Object.keys(stages).join(', ')}`);
  process.exit(2);
}

let failed = false;
for (const name of names) {
  const { args, folder } = stages[name];
  const files = folder === undefined ? [] : testsIn(folder);
  console.log(`== ${name}`);
  const started = performance.now();
  const { status, error } = spawnSync(
    productNode(),
    [path.join(root, 'node_modules/tap/dist/esm/run.mjs'), 'run', ...args, ...forTap, ...files],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}` },
    },
  );
  if (error) console.error(error.message);
  if (status !== 0) failed = true;
  console.log(
    `== ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
}
process.exit(failed ? 1 : 0);

/** tap does not look into folders that its configuration leaves out. */
function testsIn(folder) {
  return readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`);
}
