// Writes documents that are made from the code, all or those named; with --check compares them and exits 1 when one differs.
// --json answers for programs: { [name]: { ok, output } }.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { documents } from './documents/list.mjs';

const root = path.resolve(import.meta.dirname, '..');
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, json: { type: 'boolean' } },
});
const unknown = names.filter((name) => !(name in documents));
if (unknown.length > 0) {
  console.error(`no such document: ${unknown.join(', ')}; there are: ${Object.keys(documents).join(', ')}`);
  process.exit(2);
}

const results = {};
for (const name of names.length > 0 ? names : Object.keys(documents)) {
  try {
    results[name] = await (options.check ? compare(documents[name]) : write(documents[name]));
  } catch (error) {
    results[name] = { ok: false, output: error.stack };
  }
  const { ok, output } = results[name];
  if (!options.json) (ok ? console.log : console.error)(output);
}
if (options.json) console.log(JSON.stringify(results));
if (Object.values(results).some(({ ok }) => !ok)) process.exitCode = 1;

async function write({ file, module }) {
  const { text } = await import(`./${module}`);
  writeFileSync(path.join(root, file), text);
  return { ok: true, output: `${file}: ${text.split('\n').length} lines` };
}

async function compare({ file, madeFrom, script, module }) {
  const at = path.join(root, file);
  const { text } = await import(`./${module}`);
  if (existsSync(at) && readFileSync(at, 'utf8') === text)
    return { ok: true, output: `${file} agrees with ${madeFrom}` };
  return { ok: false, output: `${file} differs from ${madeFrom}\nrun: npm run ${script}` };
}
