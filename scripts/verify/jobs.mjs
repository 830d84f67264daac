// What the gate runs. A job is one program and serves one step or several; the longest come first, so that none is left over at the end.
import { documents } from '../documents/list.mjs';
import { areas } from './areas.mjs';
import { lintAndTypes } from './lint-and-types.mjs';
import { pathsInDocuments } from './paths-in-documents.mjs';
import { forAll, parsed, run } from './run.mjs';

/** Needs a database, and waits for it more than it works: it runs by itself. */
const needsDatabase = ['schema'];
const fromCode = Object.keys(documents).filter((name) => !needsDatabase.includes(name));

/** `run` is given the steps that are wanted and answers `{ ok, output }` for each, and perhaps for others. */
export const jobs = [
  { steps: ['lint', 'types'], run: lintAndTypes },
  single('areas', areas),
  single('format', () => run('biome', ['format', '.'])),
  single('dead', () => run('knip', ['--no-progress', '--no-config-hints'])),
  { steps: fromCode, run: compareDocuments },
  { steps: needsDatabase, run: compareDocuments },
  single('generated', () => run('node', ['scripts/generate.mjs', '--check'])),
  single('docs', pathsInDocuments),
];

function single(step, check) {
  return { steps: [step], run: async () => ({ [step]: await check() }) };
}

async function compareDocuments(names) {
  const { stdout, output } = await run('node', ['scripts/documents.mjs', '--check', '--json', ...names]);
  return parsed(stdout) ?? forAll(names, { ok: false, output });
}
