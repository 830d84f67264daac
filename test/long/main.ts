import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { properties } from '../../control-plane/src/monitoring/consensus/testing/properties.ts';
import { figuresOf } from './figures.ts';
import { performAll } from './pool.ts';
import { createProgress } from './progress.ts';
import { keyOf, parts, tasksOf } from './tasks.ts';
import type { Outcome, Part } from './tasks.ts';

const usage = `usage: npm run test:long -- [--part properties,worlds,days] [--from N] [--to N] [--workers N] [--state FILE]

Every property of consensus, worlds of the simulation and monitor-days, each from 1 to 100,000.
  --part     only these
  --from/to  only these runs of each property, seeds and days
  --workers  processes; 2 when absent
  --state    a file that keeps what is done: the same command goes on from there`;

const given = readArguments();
if (given === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  process.exitCode = await runAll(given);
}

async function runAll({ wanted, workers, state }: NonNullable<typeof given>): Promise<number> {
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
  const figures = figuresOf(outcomes);
  console.log(JSON.stringify(figures));
  return figures.broken === 0 ? 0 : 1;
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
    const chosen = values.part?.split(',') ?? [...parts];
    if (!chosen.every((part): part is Part => parts.some((each) => each === part))) return undefined;
    const from = numberOf(values.from ?? '1');
    const to = numberOf(values.to ?? '100000');
    return {
      wanted: chosen.map((part) => ({ part, from, to })),
      workers: numberOf(values.workers ?? '2'),
      state: values.state,
    };
  } catch {
    return undefined;
  }
}

function numberOf(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${text} is no number`);
  return number;
}
