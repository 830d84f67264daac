import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { properties } from '../../control-plane/src/monitoring/consensus/testing/properties.ts';
import { figuresOf } from './figures.ts';
import { performAll } from './pool.ts';
import { createProgress } from './progress.ts';
import { runSuite, suites } from './suites.ts';
import type { Suite } from './suites.ts';
import { keyOf, parts, tasksOf } from './tasks.ts';
import type { Outcome, Part } from './tasks.ts';

const usage = `usage: npm run test:long -- [--part NAME,…] [--from N] [--to N] [--workers N] [--state FILE]

What the gate takes a sample of, at full length, for before a release. It takes hours.
  --part     only these of ${[...parts, ...Object.keys(suites)].join(', ')}
  --from/to  only these runs of each property, seeds of worlds, and days; 1 to 100000 when absent
  --workers  processes for properties, worlds and days; 2 when absent
  --state    a file that keeps what of these is done: the same command goes on from there`;

const given = readArguments();
if (given === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  process.exitCode = await runAll(given);
}

async function runAll({ wanted, wantedSuites, workers, state }: NonNullable<typeof given>): Promise<number> {
  const tasks = tasksOf(wanted, properties);
  const known = new Set(tasks.map(keyOf));
  const done = state === undefined ? [] : readState(state).filter(({ task }) => known.has(keyOf(task)));
  const isDone = new Set(done.map(({ task }) => keyOf(task)));
  const left = tasks.filter((task) => !isDone.has(keyOf(task)));
  const progress = createProgress(left, workers, (line) => console.error(line));
  const outcomes: Outcome[] = [...done];
  await performAll(left, workers, (outcome) => {
    outcomes.push(outcome);
    if (state !== undefined) appendFileSync(state, `${JSON.stringify(outcome)}\n`);
    for (const text of outcome.broken) console.error(text);
    progress(outcome);
  });
  let failedPrograms = 0;
  for (const suite of wantedSuites) failedPrograms += await runSuite(suite);
  const figures = figuresOf(outcomes);
  console.log(JSON.stringify({ ...figures, suites: wantedSuites, failed_programs: failedPrograms }));
  return figures.broken + failedPrograms === 0 ? 0 : 1;
}

/** What an earlier run has done; a line that was cut off is done again. */
function readState(file: string): Outcome[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Outcome];
      } catch {
        return [];
      }
    });
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        workers: { type: 'string' },
        state: { type: 'string' },
      },
    });
    const chosen = values.part?.split(',') ?? [...parts, ...Object.keys(suites)];
    if (!chosen.every((name) => isPart(name) || isSuite(name))) return undefined;
    const from = numberOf(values.from ?? '1');
    const to = numberOf(values.to ?? '100000');
    return {
      wanted: chosen.filter(isPart).map((part) => ({ part, from, to })),
      wantedSuites: chosen.filter(isSuite),
      workers: numberOf(values.workers ?? '2'),
      state: values.state,
    };
  } catch {
    return undefined;
  }
}

function isPart(name: string): name is Part {
  return parts.some((part) => part === name);
}

function isSuite(name: string): name is Suite {
  return name in suites;
}

function numberOf(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${text} is no number`);
  return number;
}
