// The gate: every step that needs no running product. `npm run verify` runs all; `node scripts/verify.mjs types areas` only those named.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const root = process.cwd();
const bin = (name) => path.join(root, 'node_modules/.bin', name);
const node = bin('node');

/** Fewer modules than this and the tool has not read the project. Raise it as the project grows. */
const leastModules = 400;

const steps = {
  format: () => run(bin('biome'), ['format', '.']),
  lint: () => run(bin('oxlint'), ['--type-aware', '--deny-warnings']),
  types: () => run(bin('tsc'), ['-p', '.']),
  areas: checkAreas,
  dead: () => run(bin('knip'), ['--no-progress', '--no-config-hints']),
  generated: () => run(node, ['scripts/generate.mjs', '--check']),
  schema: () => run(node, ['scripts/documents.mjs', '--check', 'schema']),
  openapi: () => run(node, ['scripts/documents.mjs', '--check', 'openapi']),
  settings: () => run(node, ['scripts/documents.mjs', '--check', 'settings']),
  checks: () => run(node, ['scripts/documents.mjs', '--check', 'checks']),
  channels: () => run(node, ['scripts/documents.mjs', '--check', 'channels']),
  messages: () => run(node, ['scripts/documents.mjs', '--check', 'messages']),
  docs: checkPathsInDocs,
};

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}` },
  });
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`.trim();
  return { ok: result.status === 0, output: result.error ? result.error.message : output };
}

function checkAreas() {
  const { output } = run(bin('depcruise'), [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    'packages',
    'control-plane',
    'probe-agent',
  ]);
  let report;
  try {
    report = JSON.parse(output);
  } catch {
    return { ok: false, output: output.slice(0, 2000) };
  }
  const read = report.modules.filter((module) => /^(packages|control-plane|probe-agent)\//.test(module.source)).length;
  const lines = report.summary.violations.map((found) => `${found.rule.name}: ${found.from} -> ${found.to}`);
  if (read < leastModules)
    lines.push(`only ${read} modules of the project were read, at least ${leastModules} were expected`);
  return { ok: lines.length === 0, output: lines.join('\n') || `${read} modules read, no rule broken` };
}

/** Every path in backticks in the documents that looks like one of the project's must exist. */
function checkPathsInDocs() {
  const documents = [
    ...readdirSync(root),
    ...(existsSync(path.join(root, 'docs')) ? readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`) : []),
  ].filter((name) => name.endsWith('.md'));
  const missing = [];
  let checked = 0;
  for (const document of documents) {
    for (const [, cited] of readFileSync(path.join(root, document), 'utf8').matchAll(
      /`((?:packages|control-plane|probe-agent|proto|scripts|test|docs|deploy)\/[A-Za-z0-9_./-]+)`/g,
    )) {
      checked += 1;
      if (!existsSync(path.join(root, cited))) missing.push(`${document}: ${cited}`);
    }
  }
  if (documents.length < 4 || checked < 10)
    missing.push(`only ${documents.length} documents with ${checked} paths were found`);
  return {
    ok: missing.length === 0,
    output: missing.join('\n') || `${checked} paths in ${documents.length} documents exist`,
  };
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(', ')}; there are: ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}
const failed = [];
for (const name of wanted.length > 0 ? wanted : Object.keys(steps)) {
  const started = performance.now();
  const { ok, output } = steps[name]();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const lines = output.split('\n');
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds.padStart(5)} s  ${ok ? (lines.at(-1) ?? '') : ''}`);
  if (!ok) {
    failed.push(name);
    console.log(
      lines
        .slice(-60)
        .map((line) => `     ${line}`)
        .join('\n'),
    );
  }
}
if (failed.length > 0) {
  console.error(`verify failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
