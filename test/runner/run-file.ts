import { spawn } from 'node:child_process';
import { Parser } from 'tap-parser';
import type { Result } from 'tap-parser';
import { failures } from './failures.ts';

/** What came of one run of a test file. */
export type FileResult = {
  readonly file: string;
  readonly stage: string;
  readonly isGood: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** Processor time of the file and of all that it waited for; undefined where the system does not tell. */
  readonly cpuSeconds: number | undefined;
  /** All that it printed. */
  readonly text: string;
  /** What a person needs to see of a failure. */
  readonly complaints: readonly string[];
  /** Names of what it has proven to be caught, see `caught.ts`. */
  readonly caught: readonly string[];
};

export type FileRun = {
  readonly file: string;
  readonly stage: string;
  readonly timeoutS: number;
  readonly cwd: string;
  readonly node: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Processor time of all processes that have ended, in seconds. */
  readonly endedCpuSeconds: () => number | undefined;
};

/** A file reports its own timeout with what is still open; one that cannot is killed so much later. */
const graceMs = 15_000;

/** Runs a test file in a process of its own and reads the TAP that it prints. */
export async function runFile(run: FileRun): Promise<FileResult> {
  const startedMs = performance.now();
  const child = spawn(run.node, [run.file], {
    cwd: run.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...run.env, TAP: '1', TAP_TIMEOUT: String(run.timeoutS) },
  });
  const stop = () => child.kill('SIGTERM');
  run.signal.addEventListener('abort', stop, { once: true });
  const overdue = setTimeout(() => child.kill('SIGKILL'), run.timeoutS * 1_000 + graceMs);
  const reader = createReader();
  child.stdout.setEncoding('utf8').on('data', reader.add);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-20_000);
  });
  let cpuSeconds: number | undefined;
  const ended = await new Promise<{ readonly code: number | null; readonly why: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, why: error.message }));
    child.once('exit', () => {
      cpuSeconds = run.endedCpuSeconds();
    });
    child.once('close', (code, signal) => resolve({ code, why: signal ?? `exit code ${code}` }));
  });
  clearTimeout(overdue);
  run.signal.removeEventListener('abort', stop);
  const { text, isComplete, passed, failed, skipped } = await reader.end();
  const isGood = ended.code === 0 && isComplete && failed === 0;
  return {
    file: run.file,
    stage: run.stage,
    isGood,
    passed,
    // A file that ended badly has failed, whatever it had said before.
    failed: isGood ? 0 : Math.max(1, failed),
    skipped,
    seconds: (performance.now() - startedMs) / 1_000,
    cpuSeconds,
    text,
    complaints: isGood
      ? []
      : [...failures(text.split('\n')), ...errors.split('\n').slice(-60), `ended with ${ended.why}`],
    caught: [...text.matchAll(/^\s*# caught: (.+)$/gm)].map(([, name = '']) => name),
  };
}

function createReader() {
  let text = '';
  let [passed, failed, skipped] = [0, 0, 0];
  const completed = Promise.withResolvers<boolean>();
  const parser = new Parser((results) => completed.resolve(results.ok && results.count > 0));
  parser.on('pass', () => (passed += 1));
  parser.on('fail', () => (failed += 1));
  // A test that is not ready to pass counts as one that is passed over.
  parser.on('skip', () => (skipped += 1));
  parser.on('todo', (_result: Result) => (skipped += 1));
  return {
    add: (chunk: string) => {
      text += chunk;
      parser.write(chunk);
    },
    end: async () => {
      parser.end();
      return { text, isComplete: await completed.promise, passed, failed, skipped };
    },
  };
}
