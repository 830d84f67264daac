// The runner of the tests: `npm test -- --help` says how. It starts each file as a process of its own, as `node FILE` does, and reads the TAP
// that tap prints there. tap's own runner is not used: it loads two modules into each process that nothing here needs, for 0.4 s of a core,
// and runs files in the order of their names.
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { compareCaught, noteCaught } from './caught.ts';
import { openEnvironments } from './environment.ts';
import { affectedBy, changedSince } from './changed.ts';
import { startLoad } from './load.ts';
import { readOptions, usage } from './options.ts';
import type { Options } from './options.ts';
import { noteTimes, ordered } from './order.ts';
import { runPool } from './pool.ts';
import { createIdleMeter, endedChildrenSeconds, machineSeconds } from './processor-time.ts';
import { notePrograms, readPrograms } from './programs-record.ts';
import type { ProgramsRecord } from './programs-record.ts';
import { linesOf, missingProgramsLine, summaryOf, totalsOf } from './report.ts';
import { runFiles } from './run-files.ts';
import type { FileResult } from './file-result.ts';
import { plannedFiles } from './stages.ts';
import type { Planned, Stage } from './stages.ts';

/** Stages whose processes note which programs they use, and whose files are tried without those as well. */
const recordedStages = new Set(['slow', 'unit']);

const root = path.resolve(import.meta.dirname, '../..');

if (process.argv.includes('--help')) console.log(usage);
else process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  let planned: Planned[];
  try {
    options = readOptions(args, () => randomInt(1_000_000));
    planned = chosenFiles(options);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options.isListOnly) {
    for (const { file, stage } of planned) console.log(`${stage.name.padEnd(10)}  ${file}`);
    return 0;
  }
  if (planned.length === 0) {
    console.error(
      options.since === undefined
        ? 'no test file fits'
        : `nothing that tests import has changed since ${options.since}`,
    );
    return options.since === undefined ? 2 : 0;
  }
  return runAll(options, planned);
}

/** Files of the stages that fit the patterns and import what changed. */
function chosenFiles({ stages: chosen, patterns, since }: Options): Planned[] {
  const record = readPrograms(root);
  const planned = plannedFiles(root, chosen).filter(
    ({ file, stage }) =>
      (patterns.length === 0 || patterns.some((pattern) => file.includes(pattern))) &&
      isWorthwhile(record, file, stage),
  );
  if (since === undefined) return planned;
  const affected = new Set(
    affectedBy(
      root,
      changedSince(root, since),
      planned.map(({ file }) => file),
    ),
  );
  return planned.filter(({ file }) => affected.has(file));
}

/** What neither starts an optional program nor looks for one does the same where they are hidden. */
function isWorthwhile(record: ProgramsRecord, file: string, stage: Stage): boolean {
  return stage.isBare !== true || record[file] !== false;
}

async function runAll(options: Options, planned: readonly Planned[]): Promise<number> {
  const repeated = Array.from({ length: options.repeat }, () => planned).flat();
  if (options.seed !== undefined) console.log(`== order drawn by --seed ${options.seed}`);
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort());
  const endLoad = startLoad(options.load);
  const environments = await openEnvironments(root, planned);
  const results: FileResult[] = [];
  const started = { ms: performance.now(), cpu: machineSeconds() };
  const endedCpuSeconds = createCpuMeter();
  const runEach = (files: readonly Planned[]): Promise<void> =>
    runPool(ordered(root, files, options.seed, options.isAlone), {
      cores: options.jobs ?? availableParallelism(),
      signal: abort.signal,
      // Whoever says how many cores are to be filled has others in mind.
      ...(options.jobs === undefined ? { idleCores: createIdleMeter() } : {}),
      begin: async ({ files, isShared, stage }) => {
        const env = environments.of(stage);
        const { name, timeoutS } = stage;
        const { signal } = abort;
        const run = { files, isShared, stage: name, timeoutS, cwd: root, env, signal, endedCpuSeconds };
        for (const result of await runFiles(run)) {
          results.push(result);
          for (const line of options.isRaw ? result.text.split('\n') : linesOf(result)) console.log(line);
        }
      },
    });
  await runEach(repeated.filter(({ stage }) => stage.isBare !== true));
  const ran = results.filter(({ stage }) => recordedStages.has(stage)).map(({ file }) => file);
  const record = options.isAlone
    ? readPrograms(root)
    : notePrograms(root, ran, readdirSync(environments.programsUsed).map(decodeURIComponent));
  await runEach(repeated.filter(({ file, stage }) => stage.isBare === true && isWorthwhile(record, file, stage)));
  endLoad();
  const wallSeconds = (performance.now() - started.ms) / 1_000;
  for (const line of summaryOf(results, wallSeconds, machineSeconds() - started.cpu)) console.log(line);
  const notTried = readdirSync(environments.missing);
  environments.remove();
  console.log(`== ${missingProgramsLine(notTried)}`);
  const whole = wholeStages(options, results);
  if (options.isNoting) noteTimes(root, results);
  const lost = checkCaught(options, results, whole);
  const [passed, broken, skipped] = totalsOf(results);
  const failed = broken + lost;
  if (abort.signal.aborted) console.log(`== stopped: ${results.length} of ${repeated.length} files were run`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 || abort.signal.aborted ? 1 : 0;
}

/** Processor time since the last answer of all processes that have ended, which is that of the one that has just ended. */
function createCpuMeter(): () => number | undefined {
  let last = endedChildrenSeconds() ?? 0;
  return () => {
    const now = endedChildrenSeconds();
    if (now === undefined) return undefined;
    const own = now - last;
    last = now;
    return own;
  };
}

/** Names of stages of which every file was run. */
function wholeStages({ stages: chosen }: Options, results: readonly FileResult[]): string[] {
  const ran = new Set(results.map(({ stage, file }) => `${stage} ${file}`));
  return chosen
    .filter((stage) => plannedFiles(root, [stage]).every(({ file }) => ran.has(`${stage.name} ${file}`)))
    .map(({ name }) => name);
}

/** Tells which planted faults are not noticed any more. @returns how many */
function checkCaught({ isNoting }: Options, results: readonly FileResult[], whole: readonly string[]): number {
  if (isNoting) noteCaught(root, results, whole);
  const { lost, unlisted } = compareCaught(root, results, whole);
  const caught = new Set(results.flatMap((result) => result.caught)).size;
  if (caught + lost.length > 0)
    console.log(`== planted faults that were noticed: ${caught}; not any more: ${lost.length}`);
  for (const name of lost) console.log(`   NOT NOTICED  ${name}`);
  if (unlisted.length > 0)
    console.log(`   ${unlisted.length} of them are not listed yet: \`--note\` lists them in test/runner/caught.json`);
  return lost.length;
}
