// The area rules of ARCHITECTURE.md, which stand in .dependency-cruiser.cjs.
import { parsed, run } from './run.mjs';
import { sourceFiles } from './source-files.mjs';

const folders = ['packages', 'control-plane', 'probe-agent'];
/** Not read: generated code, and declarations of what is read as JavaScript. */
const passedOver = /^packages\/wire\/src\/generated\/|\.d\.mts$/;

export async function areas() {
  const { stdout, output } = await run('depcruise', [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    ...folders,
  ]);
  const report = parsed(stdout);
  if (report === undefined) return { ok: false, output };
  const read = new Set(report.modules.map((module) => module.source));
  const expected = sourceFiles(folders).filter((file) => !passedOver.test(file));
  const lines = [
    ...report.summary.violations.map((found) => `${found.rule.name}: ${found.from} -> ${found.to}`),
    ...expected.filter((file) => !read.has(file)).map((file) => `not read: ${file}`),
  ];
  return { ok: lines.length === 0, output: lines.join('\n') || `${expected.length} modules read, no rule broken` };
}
