import { properties } from '../../control-plane/src/monitoring/consensus/testing/properties.ts';
import { liveDay } from '../simulation/days/day.ts';
import { loadWithStandIns } from '../simulation/hooks.ts';
import type { Outcome, Task } from './tasks.ts';

/* A process that does tasks of the long run, one after another, as its parent hands them out. */

loadWithStandIns({ mutants: [], isSigned: false });
const { run } = await import('../simulation/run.ts');

type Found = Pick<Outcome, 'counts' | 'beyondMs' | 'broken'>;

async function perform(task: Task): Promise<Found> {
  switch (task.part) {
    case 'properties':
      return tryProperty(task.property, task.from, task.to);
    case 'worlds':
      return liveWorlds(task.from, task.to);
    case 'days':
      return liveDays(task.from, task.to);
  }
}

function tryProperty(index: number, from: number, to: number): Found {
  const property = properties[index];
  if (property === undefined) throw new Error(`there is no property ${index}`);
  const numRuns = to - from + 1;
  try {
    property.check({ numRuns, seed: from });
    return { counts: { runs: numRuns }, beyondMs: [], broken: [] };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { counts: { runs: numRuns }, beyondMs: [], broken: [`${property.name}: ${text.slice(0, 3_000)}`] };
  }
}

async function liveWorlds(from: number, to: number): Promise<Found> {
  const counts = { worlds: 0, steps: 0, simulated_s: 0, results: 0, downs: 0, compared: 0 };
  const broken: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    const result = await run({ seed });
    counts.worlds += 1;
    if (!result.isKept) {
      broken.push(`seed ${seed}: ${result.message} (npm run simulate -- --seed ${seed})`);
      continue;
    }
    counts.steps += result.figures.steps;
    counts.simulated_s += Math.round(result.figures.simulatedUs / 1_000_000);
    counts.results += result.figures.results;
    counts.downs += result.figures.downs;
    counts.compared += result.figures.compared;
  }
  return { counts, beyondMs: [], broken };
}

function liveDays(from: number, to: number): Found {
  const counts = { days: 0, checks: 0, false_downs: 0, outages: 0, undetected: 0 };
  const beyondMs: number[] = [];
  const broken: string[] = [];
  for (let seed = from; seed <= to; seed += 1) {
    const day = liveDay(seed);
    counts.days += 1;
    counts.checks += day.checks;
    counts.false_downs += day.falseDowns;
    if (day.falseDowns > 0)
      broken.push(`day ${seed}: ${day.falseDowns} outages were announced while the target answered`);
    for (const detectedMs of day.detectedMs) {
      counts.outages += 1;
      if (detectedMs === Number.POSITIVE_INFINITY) counts.undetected += 1;
      else beyondMs.push(Math.round(detectedMs - (2 * day.intervalS + 15) * 1_000));
    }
  }
  return { counts, beyondMs, broken };
}

async function answer(task: Task): Promise<void> {
  const started = performance.now();
  const found = await perform(task);
  const outcome: Outcome = { task, milliseconds: Math.round(performance.now() - started), ...found };
  process.send?.(outcome);
}

process.on('message', (message) => void answer(message as Task));
// Nobody waits for it any more.
process.on('disconnect', () => process.exit(1));
