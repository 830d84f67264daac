import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@parallax/testkit/free-port';
import { program } from '@parallax/testkit/program';
import { chooseDataFolder } from '../../packages/embedded/src/data-folder.mjs';
import { downloadedNatsServer } from '../../packages/embedded/src/nats-binary.mjs';

export const root = path.resolve(import.meta.dirname, '../..');

/** Where all programs keep compiled code: a start that finds it there takes half the time. */
export const compileCache = path.join(root, 'node_modules', '.cache', 'parallax-compile');

/** A process that a test started; ended only by the pid recorded here. */
export type Started = {
  readonly pid: number;
  readonly output: () => string;
  /** What it wrote to standard error alone. */
  readonly errors: () => string;
  /** Resolves with the exit code, or 128 for an end by signal. */
  readonly ended: Promise<number>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** SIGTERM, then SIGKILL after `graceMs`. */
  readonly stop: (graceMs?: number) => Promise<number>;
};

/** Starts one of the project's programs under the Node that runs this test. Output is kept (last 1 MiB) and, with a file, appended to it. */
export function startNode(args: readonly string[], env: Readonly<Record<string, string>>, logFile?: string): Started {
  const [file = '', ...more] = args;
  return startCommand(
    process.execPath,
    [program(file), ...more],
    { NODE_COMPILE_CACHE: compileCache, ...env },
    logFile,
  );
}

/** The PATH of this process, and the folder of the nats-server that was fetched for the tests. */
function searchPath(): string {
  const { folder } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout: root });
  return [process.env['PATH'] ?? '', path.dirname(downloadedNatsServer(folder))].join(path.delimiter);
}

/** Starts any program in the folder of the project, with the given variables beside PATH and HOME and no others. */
export function startCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile?: string,
): Started {
  // The test runner puts its own loaders into NODE_OPTIONS of whatever is spawned; the product must run without them.
  const child: ChildProcess = spawn('/usr/bin/env', ['-u', 'NODE_OPTIONS', command, ...args], {
    cwd: root,
    env: { PATH: searchPath(), HOME: process.env['HOME'] ?? '/', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error(`could not start ${args.join(' ')}`);
  let output = '';
  let errors = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-1_048_576);
    if (logFile !== undefined) appendFileSync(logFile, chunk);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-1_048_576);
    keep(chunk);
  });
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => resolve(signal === null ? (code ?? 1) : 128));
  });
  let over = false;
  void ended.then(() => (over = true));
  return {
    pid: child.pid,
    output: () => output,
    errors: () => errors,
    ended,
    kill: (signal) => {
      if (!over) child.kill(signal);
    },
    stop: async (graceMs = 10_000) => {
      if (!over) child.kill('SIGTERM');
      const late = delay(graceMs, 'late' as const, { ref: false });
      if ((await Promise.race([ended, late])) === 'late' && !over) child.kill('SIGKILL');
      return ended;
    },
  };
}

/** Runs a program to its end and gives its output; throws with the output when it fails. */
export async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs = 30_000,
): Promise<string> {
  return runToEnd(startNode(args, env), args.join(' '), timeoutMs);
}

/** Waits for the end of what was started and gives its output; throws with the output when it fails, and kills it when it is late. */
export async function runToEnd(started: Started, name: string, timeoutMs = 30_000): Promise<string> {
  const late = delay(timeoutMs, 'late' as const, { ref: false });
  const code = await Promise.race([started.ended, late]);
  if (code === 'late') started.kill('SIGKILL');
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${started.output()}`);
  return started.output();
}

/** Ports of loopback that this process alone is given, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** How often `eventually` looks by itself: a look at a monitor costs product and test 10 ms of a core, which is a tenth of it at ten times a second. */
const looksEveryMs = { first: 100, last: 500 };

/**
 * Polls until the condition gives something, or throws naming what was waited for and what was seen last. Without `everyMs` it looks after each tenth of
 * the time that it has waited, so that what is soon there is soon seen.
 */
export async function eventually<Result>(
  what: string,
  condition: () => Promise<Result | undefined | false>,
  { timeoutMs = 20_000, everyMs }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<Result> {
  const since = Date.now();
  let last: unknown;
  for (;;) {
    try {
      const result = await condition();
      if (result !== undefined && result !== false) return result;
      last = result;
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - since;
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms for: ${what}; last: ${String(last)}`);
    await delay(everyMs ?? Math.min(Math.max(waitedMs / 10, looksEveryMs.first), looksEveryMs.last));
  }
}
