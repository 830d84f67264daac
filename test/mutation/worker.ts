import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { mutantsOfGroup, root } from './group-mutants.ts';
import { loadInstrumented } from './hooks.ts';
import { become, covered, taken } from './switch.ts';
import { takeDeclared, Test } from './tap-stand-in.ts';
import { chosen, groups } from './targets.ts';
import type { Group } from './targets.ts';
import type { Ask, Fate, Tell } from './pool.ts';

/*
 * A process that is one mutant after another and tells its parent which of them the tests notice. The tests are imported once; a mutant of what runs
 * when a module is loaded has them imported anew.
 */

type Declared = ReturnType<typeof takeDeclared>[number] & { readonly file: string };

type Known = Declared & {
  /** What a run of it takes when nothing is changed. */
  readonly steps: number;
  readonly ms: number;
  /** Places that it passes. */
  readonly places: ReadonlySet<number>;
  /** Mutants that it noticed, and what it took for all that it was run with. */
  noticed: number;
  spentMs: number;
};

/** A mutant may take so many times the steps of the code as it is written: what takes more will hardly end. */
const stepsFactor = 10;
const stepsMore = 100_000;

const [, , groupName = '', only] = process.argv;
const whole = groups.find(({ name }) => name === groupName);
if (whole === undefined) throw new Error(`there is no group ${groupName}`);
const group: Group = whole;
const modules = chosen(only === '' ? undefined : only).find(({ name }) => name === groupName)?.modules ?? [];
const all = mutantsOfGroup({ modules });
loadInstrumented(all);

const tell = (message: Tell): void => void process.send?.(message);

/** What went wrong outside of what a test awaits. */
let strayed: ((error: unknown) => void) | undefined;
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    if (strayed === undefined) console.error(error);
    strayed?.(error);
  });
}

const declared = await importAll('');
const atLoad = passed();
const known: Known[] = [];
for (const test of declared) {
  covered.fill(0);
  tell({ type: 'at', id: -1, test: test.name, ms: 60_000 });
  const startedMs = performance.now();
  const { complaint, steps } = await run(test, -1, Number.POSITIVE_INFINITY);
  if (complaint !== undefined) {
    tell({ type: 'broken', test: `${test.file}: ${test.name}`, complaint });
    process.exit(2);
  }
  known.push({ ...test, steps, ms: performance.now() - startedMs, places: passed(), noticed: 0, spentMs: 0 });
}

process.on('disconnect', () => process.exit());
process.on('message', (ask) => void judgeAll((ask as Ask).ids));
tell({ type: 'ready', tests: known.map(({ file, name, ms, steps }) => ({ file, name, ms, steps })) });

async function importAll(query: string): Promise<Declared[]> {
  const tests: Declared[] = [];
  for (const file of group.tests) {
    await import(`${pathToFileURL(path.join(root, file)).href}${query}`);
    tests.push(...takeDeclared().map((test) => ({ ...test, file })));
  }
  return tests;
}

function passed(): Set<number> {
  const places = new Set<number>();
  for (let place = covered.indexOf(1); place !== -1; place = covered.indexOf(1, place + 1)) places.add(place);
  return places;
}

type Run = {
  /** Undefined when the test passed. */
  readonly complaint: string | undefined;
  readonly steps: number;
  readonly isEndless: boolean;
};

async function run(test: Declared, mutant: number, mostSteps: number): Promise<Run> {
  const stray = new Promise<never>((_, reject) => {
    strayed = reject;
  });
  become(mutant, mostSteps);
  let complaint: string | undefined;
  try {
    await Promise.race([new Test(test.name).run(test.body), stray]);
  } catch (error) {
    complaint = String(error instanceof Error ? error.message : error).slice(0, 600);
  }
  strayed = undefined;
  const steps = taken;
  become(-1, Number.POSITIVE_INFINITY);
  return { complaint, steps, isEndless: steps > mostSteps };
}

/** Judges mutants, then has the tests that noticed them run on the code as it is written: a mutant may have left something behind. */
async function judgeAll(ids: readonly number[]): Promise<void> {
  const noticing = new Map<string, Known>();
  for (const id of ids) {
    const startedMs = performance.now();
    const place = all.placeOf[id] ?? -1;
    const { fate, by } = await (atLoad.has(place) ? judgeAnew(id) : judge(id, place));
    if (by !== undefined) noticing.set(`${by.file} ${by.name}`, by);
    tell({
      type: 'judged',
      id,
      fate,
      ...(by === undefined ? {} : { by: `${by.file}: ${by.name}` }),
      ms: performance.now() - startedMs,
    });
  }
  let isClean = true;
  for (const test of noticing.values()) {
    tell({ type: 'at', id: -1, test: test.name, ms: test.ms });
    if ((await run(test, -1, Number.POSITIVE_INFINITY)).complaint !== undefined) isClean = false;
  }
  tell({ type: 'done', isClean });
}

type Judgement = { readonly fate: Fate; readonly by?: Known };

async function judge(id: number, place: number): Promise<Judgement> {
  const covering = promisingFirst().filter(({ places }) => places.has(place));
  for (const test of covering) {
    const fate = await tried(id, test, test);
    if (fate !== undefined) return { fate, by: test };
  }
  return { fate: covering.length === 0 ? 'not run' : 'survived' };
}

/** By what they have noticed so far for the time that they took. */
function promisingFirst(): Known[] {
  const worth = ({ noticed, spentMs, ms }: Known): number => (noticed + 1) / (spentMs + ms);
  return known.toSorted((a, b) => worth(b) - worth(a));
}

async function judgeAnew(id: number): Promise<Judgement> {
  become(id, Number.POSITIVE_INFINITY);
  let tests: Declared[];
  tell({ type: 'at', id, test: 'load', ms: 1_000 });
  try {
    tests = await importAll(`?mutant=${id}`);
  } catch {
    takeDeclared();
    return { fate: 'killed' };
  } finally {
    become(-1, Number.POSITIVE_INFINITY);
  }
  for (const test of promisingFirst()) {
    const anew = tests.find(({ file, name }) => file === test.file && name === test.name);
    if (anew === undefined) return { fate: 'killed' };
    const fate = await tried(id, test, anew);
    if (fate !== undefined) return { fate, by: test };
  }
  return { fate: 'survived' };
}

async function tried(id: number, known: Known, test: Declared): Promise<Fate | undefined> {
  tell({ type: 'at', id, test: test.name, ms: known.ms });
  const startedMs = performance.now();
  const { complaint, isEndless } = await run(test, id, stepsFactor * known.steps + stepsMore);
  known.spentMs += performance.now() - startedMs;
  if (complaint === undefined && !isEndless) return undefined;
  known.noticed += 1;
  return isEndless ? 'endless' : 'killed';
}
