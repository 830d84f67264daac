import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';

/** `endless`: stopped after many times the usual steps. `lost`: its process ended or said nothing for long. `not run`: no test passes it. */
export type Fate = 'killed' | 'endless' | 'lost' | 'survived' | 'not run';

export type Verdict = { readonly id: number; readonly fate: Fate; readonly by?: string; readonly ms: number };

export type Ask = { readonly ids: readonly number[] };
export type Tell =
  | { readonly type: 'at'; readonly id: number; readonly test: string; readonly ms: number }
  | { readonly type: 'broken'; readonly test: string; readonly complaint: string }
  | { readonly type: 'ready'; readonly tests: readonly KnownTest[] }
  | ({ readonly type: 'judged' } & Verdict)
  | { readonly type: 'done'; readonly isClean: boolean };

export type KnownTest = { readonly file: string; readonly name: string; readonly ms: number; readonly steps: number };

export type Task = {
  readonly group: string;
  /** Part of the paths of the modules that are changed; empty: all. */
  readonly only: string;
  readonly ids: readonly number[];
  readonly jobs: number;
  /** How often properties are tried that can be tried more often. */
  readonly propertyRuns: number;
};

const workerFile = path.join(import.meta.dirname, 'worker.ts');
/** Mutants that are judged between two looks at whether the tests still pass without any. */
const batchSize = 32;
/** A test that says nothing for so long, and so many times its usual time, hangs. Steps end nearly all of them long before. */
const silenceMs = 60_000;
const silenceFactor = 40;

/**
 * Has processes judge mutants of a group.
 * @throws Error when a test fails without any mutant
 */
export async function judgeAll(
  task: Task,
  onVerdict: (verdict: Verdict) => void,
  onReady: (tests: readonly KnownTest[]) => void = () => {},
): Promise<void> {
  const { ids, jobs } = task;
  const waiting: number[][] = [];
  for (let first = 0; first < ids.length; first += batchSize) waiting.push(ids.slice(first, first + batchSize));
  const count = Math.min(jobs, waiting.length);
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const worker = new Worker(task, index === 0 ? onReady : () => {});
      try {
        for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
          for (const verdict of await judged(worker, batch)) onVerdict(verdict);
        }
      } finally {
        worker.end();
      }
    }),
  );
}

/** Judges a batch; again by halves, each in a new process, when the tests no longer pass by themselves after it. */
async function judged(worker: Worker, batch: readonly number[]): Promise<Verdict[]> {
  const { verdicts, isClean } = await worker.judge(batch);
  const rest = batch.filter((id) => !verdicts.some((verdict) => verdict.id === id));
  if (isClean) return rest.length === 0 ? verdicts : [...verdicts, ...(await judged(worker, rest))];
  worker.end();
  if (batch.length === 1) return verdicts;
  const half = batch.length >>> 1;
  return [...(await judged(worker, batch.slice(0, half))), ...(await judged(worker, batch.slice(half)))];
}

type Batch = { readonly verdicts: Verdict[]; readonly isClean: boolean };

/** A process that is started when there is something to judge, and again after it was lost. */
class Worker {
  readonly #task: Task;
  readonly #onReady: (tests: readonly KnownTest[]) => void;
  #child: ChildProcess | undefined;
  #isReady = false;

  constructor(task: Task, onReady: (tests: readonly KnownTest[]) => void) {
    this.#task = task;
    this.#onReady = onReady;
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
    this.#isReady = false;
  }

  /** The verdicts on a batch, or on the first of it up to one whose process was lost. */
  judge(ids: readonly number[]): Promise<Batch> {
    const { promise, resolve, reject } = Promise.withResolvers<Batch>();
    const verdicts: Verdict[] = [];
    let current = -1;
    let watch: NodeJS.Timeout | undefined;
    const { group, only, propertyRuns } = this.#task;
    const child = (this.#child ??= fork(workerFile, [group, only], {
      execArgv: ['--max-old-space-size=1536'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, PARALLAX_PROPERTY_RUNS: String(propertyRuns) },
    }));
    const finish = (isClean: boolean): void => {
      clearTimeout(watch);
      child.removeAllListeners();
      resolve({ verdicts, isClean });
    };
    const lose = (): void => {
      clearTimeout(watch);
      child.removeAllListeners();
      this.end();
      if (current === -1) reject(new Error('the process of the tests ended, or hangs, without any mutant'));
      else {
        verdicts.push({ id: current, fate: 'lost', ms: 0 });
        resolve({ verdicts, isClean: true });
      }
    };
    child.on('message', (message) => {
      const told = message as Tell;
      if (told.type === 'at') {
        current = told.id;
        clearTimeout(watch);
        watch = setTimeout(lose, Math.max(silenceMs, silenceFactor * told.ms));
      } else if (told.type === 'judged') {
        const { type: _, ...verdict } = told;
        verdicts.push(verdict);
      } else if (told.type === 'ready') {
        this.#isReady = true;
        this.#onReady(told.tests);
        child.send({ ids } satisfies Ask);
      } else if (told.type === 'done') {
        finish(told.isClean);
      } else {
        child.removeAllListeners();
        clearTimeout(watch);
        this.end();
        reject(new Error(`a test fails without any mutant: ${told.test}\n${told.complaint}`));
      }
    });
    child.once('exit', lose);
    if (this.#isReady) child.send({ ids } satisfies Ask);
    return promise;
  }
}
