import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileResult } from './file-result.ts';
import type { FileResult } from './file-result.ts';

export type FilesRun = {
  readonly files: readonly string[];
  readonly stage: string;
  /** The files are subtests of one process, be it one file. */
  readonly isShared: boolean;
  /** For each of the files. */
  readonly timeoutS: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Processor time of the process that has just ended, in seconds. */
  readonly endedCpuSeconds: () => number | undefined;
};

/** A file reports its own timeout with what is still open; one that cannot is killed so much later. */
const graceMs = 15_000;
const maxErrorLines = 60;

/** Runs test files in one process, one after another, and reads the TAP that it prints. */
export async function runFiles(run: FilesRun): Promise<FileResult[]> {
  const { files, stage, timeoutS } = run;
  const startedMs = performance.now();
  const isShared = run.isShared;
  const args = isShared ? [path.join(import.meta.dirname, 'together.ts')] : files;
  const child = spawn(process.execPath, args, {
    cwd: run.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The process of several files has no limit of its own; each of them has.
    env: {
      ...run.env,
      TAP: '1',
      TAP_TIMEOUT: isShared ? '0' : String(timeoutS),
      PARALLAX_TEST_FILE_TIMEOUT: String(timeoutS),
      PARALLAX_TEST_FILES: JSON.stringify(files),
    },
  });
  const stop = () => child.kill('SIGTERM');
  run.signal.addEventListener('abort', stop, { once: true });
  const overdue = setTimeout(() => child.kill('SIGKILL'), timeoutS * files.length * 1_000 + graceMs);
  let [text, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-20_000)));
  let cpuSeconds: number | undefined;
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => (cpuSeconds = run.endedCpuSeconds()));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`),
    );
  });
  clearTimeout(overdue);
  run.signal.removeEventListener('abort', stop);
  const seconds = (performance.now() - startedMs) / 1_000;
  const told = problem === undefined ? undefined : [...errors.split('\n').slice(-maxErrorLines), problem].join('\n');
  return isShared
    ? divided(files, text, told).map(({ file, share, text: own, problem: its }) =>
        fileResult(
          {
            file,
            stage,
            seconds: seconds * share,
            cpuSeconds: cpuSeconds === undefined ? undefined : cpuSeconds * share,
          },
          own,
          its,
        ),
      )
    : files.map((file) => fileResult({ file, stage, seconds, cpuSeconds }, text, told));
}

type Part = {
  readonly file: string;
  readonly text: string;
  readonly share: number;
  readonly problem: string | undefined;
};

/** The output of several files, each of which is a subtest of its name: the part of each, without its indentation, and its share of the time. */
function divided(files: readonly string[], text: string, problem: string | undefined): Part[] {
  const parts = new Map<string, { lines: string[]; ms: number; isGood: boolean | undefined }>();
  const outside: string[] = [];
  let current: string | undefined;
  for (const line of text.split('\n')) {
    const [, begun] = /^# Subtest: (.+)$/.exec(line) ?? [];
    const [, isBad, ended, ms] = /^(not )?ok \d+ - (.+?)(?: # time=([\d.]+)ms)?$/.exec(line) ?? [];
    if (begun !== undefined && files.includes(begun)) {
      current = begun;
      parts.set(begun, { lines: [], ms: 0, isGood: undefined });
    } else if (ended !== undefined && ended === current) {
      const part = parts.get(current);
      if (part !== undefined) Object.assign(part, { ms: Number(ms ?? 0), isGood: isBad === undefined });
      current = undefined;
    } else if (current !== undefined) parts.get(current)?.lines.push(line.replace(/^ {4}/, ''));
    else outside.push(line);
  }
  const allMs = [...parts.values()].reduce((sum, { ms }) => sum + ms, 0);
  const isAnyBad = [...parts.values()].some(({ isGood }) => isGood === false);
  // What went wrong outside of all files is told with the first that did not end, or with the last.
  const blamed = files.find((file) => parts.get(file)?.isGood === undefined) ?? files.at(-1);
  return files.map((file) => {
    const part = parts.get(file);
    const problems = [
      ...(part === undefined ? ['it was not run: the process that it shares with others ended before'] : []),
      ...(part !== undefined && part.isGood !== true ? ['it failed beside others in one process'] : []),
      ...(file === blamed && problem !== undefined && (!isAnyBad || part?.isGood === undefined)
        ? [...outside.filter((line) => !/^(TAP version|1\.\.|#|\s*$)/.test(line)), problem]
        : []),
    ];
    const share = allMs === 0 ? 1 / files.length : (part?.ms ?? 0) / allMs;
    return {
      file,
      text: `TAP version 14\n${part?.lines.join('\n') ?? ''}\n`,
      share,
      problem: problems.length === 0 ? undefined : problems.join('\n'),
    };
  });
}
