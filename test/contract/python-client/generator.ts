import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { countMissing } from '@parallax/testkit/needs';
import { findProgram, isProgram, programFolders } from '@parallax/settings/programs';
import { root, runToEnd, startCommand } from '../../harness/processes.ts';
import { toOpenApi30 } from './openapi-3-0.ts';

/** What the generated client imports, by the names of the modules; each comes with a package of Debian. */
const modules: Readonly<Record<string, string>> = {
  certifi: 'python3-certifi',
  dateutil: 'python3-dateutil',
  six: 'python3-six',
  urllib3: 'python3-urllib3',
};

const jar = path.join(root, 'node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');
// One short run: the second compiler of the machine and a collector with threads would cost more than they give.
const machine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'];
/** All of the client and nothing beside it: without its documentation and the tests that it would bring. */
const parts = 'apis,models,supportingFiles,apiDocs=false,modelDocs=false,apiTests=false,modelTests=false';

/** The programs that a generated client needs, or undefined where one is missing, which is counted. */
export async function pythonAndJava(
  t: Parameters<typeof countMissing>[0],
): Promise<{ readonly python: string; readonly java: string } | undefined> {
  const java = findProgram('java');
  if (java === undefined) countMissing(t, 'java');
  // Another Python than Debian's may be found first, without Debian's modules.
  const pythons = programFolders()
    .map((folder) => path.join(folder, 'python3'))
    .filter(isProgram);
  if (pythons.length === 0) countMissing(t, 'python3');
  for (const python of pythons) {
    const lacking = await lackingModules(python);
    if (lacking.length === 0) return java === undefined ? undefined : { python, java };
    if (python === pythons.at(-1)) for (const name of lacking) countMissing(t, name);
  }
  return undefined;
}

async function lackingModules(python: string): Promise<readonly string[]> {
  const question = `import importlib.util as u; print(*[n for n in ${JSON.stringify(Object.keys(modules))} if u.find_spec(n) is None])`;
  const answer = await runToEnd(startCommand(python, ['-c', question], {}), 'python3');
  return answer
    .trim()
    .split(/\s+/)
    .flatMap((name) => modules[name] ?? []);
}

/** Generates the package `parallax_client` into a folder, from the text of an OpenAPI 3.1 document. */
export async function generatePythonClient(java: string, document: string, folder: string): Promise<void> {
  const read = path.join(folder, 'openapi-3-0.json');
  writeFileSync(read, JSON.stringify(toOpenApi30(JSON.parse(document))));
  const generate = ['generate', '-g', 'python', '-i', read, '-o', folder, '--package-name', 'parallax_client'];
  const args = [...machine, '-jar', jar, ...generate, '--global-property', parts];
  await runToEnd(startCommand(java, args, {}), 'the generator', 200_000);
}
