// The rules of the linter and the types: one program does both, since rules that ask for types need the compiler's work anyhow.
// `oxlint --type-check` reports what `tsc` does, at the same places, also for errors of tsconfig.json.
import { forAll, parsed, run } from './run.mjs';
import { sourceFiles } from './source-files.mjs';

const folders = ['packages', 'control-plane', 'probe-agent', 'scripts', 'test'];
const ofCompiler = /^typescript\((TS\d+|tsconfig-error)\)$/;

export async function lintAndTypes() {
  const { ok, stdout, output } = await run('oxlint', [
    '--type-aware',
    '--type-check',
    '--deny-warnings',
    '--format',
    'json',
  ]);
  const report = parsed(stdout);
  if (report === undefined || (!ok && report.diagnostics.length === 0))
    return forAll(['lint', 'types'], { ok: false, output });
  const expected = sourceFiles(folders).length;
  const isType = ({ code }) => ofCompiler.test(code ?? '');
  return {
    lint: found(report, (each) => !isType(each), expected),
    types: found(report, isType, expected),
  };
}

function found({ diagnostics, number_of_files: read }, belongs, expected) {
  const lines = diagnostics.filter(belongs).map(lineOf);
  if (read < expected) lines.push(`only ${read} files were read, there are ${expected}`);
  return { ok: lines.length === 0, output: lines.join('\n') || `${read} files read, nothing found` };
}

function lineOf({ filename, labels, message, help, code }) {
  const { line = 0, column = 0 } = labels?.[0]?.span ?? {};
  return `${filename}:${line}:${column}: ${message}${help ? ` (${help})` : ''} [${code ?? 'syntax'}]`;
}
