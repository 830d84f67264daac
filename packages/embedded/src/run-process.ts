import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@parallax/telemetry';
import { identityOf, type ProcessIdentity, type SignalStep } from './process-identity.ts';

export type ProcessLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** When a process counts as ready: a line it writes, or a question that is asked again and again until it is answered with true. */
export type Readiness = { readonly timeoutMs: number } & (
  | { readonly line: RegExp }
  | { readonly check: () => Promise<boolean>; readonly everyMs: number }
);

/** Everything that is needed to run one process. Plain data, made anew for every start. */
export type ProcessSpec = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly readiness: Readiness;
  /** What is sent to end it, in turn; SIGKILL follows by itself. */
  readonly stopSteps: readonly SignalStep[];
  /** Called with every line that it writes. */
  readonly onLine: (line: string) => void;
};

export type ProcessExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type RunningProcess = {
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<ProcessExit>;
  /** Ends it and resolves when it is gone, `withinMs` at most (default: as its steps say); calls after the first join that one. */
  stop(withinMs?: number): Promise<ProcessExit>;
};

const keptLines = 20;
const maxLineLength = 8_192;

/**
 * Starts a process in a group of its own (so that Ctrl-C does not reach it) and resolves when it is ready. Rejects, with its last
 * lines, when it ends before, is not ready in time or is no longer wanted; it is ended then. `onSpawn` gets it at once.
 */
export async function runProcess(
  spec: ProcessSpec,
  options: { readonly onSpawn?: (running: RunningProcess) => void; readonly signal?: AbortSignal } = {},
): Promise<RunningProcess> {
  options.signal?.throwIfAborted();
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: { ...spec.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  const exited = exitOf(child);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const pid = child.pid;
  if (pid === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new Error(`${spec.name} cannot be started (${spec.command}): ${error.message}`, { cause: error });
  }
  const lastLines: string[] = [];
  const seen = new Promise<void>((resolve) => {
    readLines(child.stdout, child.stderr, (line) => {
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
      spec.onLine(line);
      if ('line' in spec.readiness && spec.readiness.line.test(line)) resolve();
    });
  });
  const identity = identityOf(pid) ?? { pid, startedAt: 'ended', cwd: null };
  let stopping: Promise<ProcessExit> | undefined;
  const running: RunningProcess = {
    pid,
    identity,
    exited,
    stop: (withinMs) => (stopping ??= stopChild(child, exited, within(spec.stopSteps, withinMs))),
  };
  options.onSpawn?.(running);

  const outcome = await untilReady(spec.readiness, seen, exited, options.signal);
  if (outcome === 'ready') return running;
  await running.stop();
  if (outcome === 'unwanted') throw new Error(`${spec.name} is no longer wanted`);
  // Its last words may come after its end; whoever inherited its output may hold it open for longer.
  await Promise.race([closed, sleep(200)]);
  const why =
    outcome === 'late' ? `was not ready within ${spec.readiness.timeoutMs} ms` : `ended with ${exitText(outcome)}`;
  throw new Error(`${spec.name} ${why}${lastLines.length > 0 ? `; its last lines:\n${lastLines.join('\n')}` : ''}`);
}

/** `code 1` or `SIGKILL`. */
export function exitText(exit: ProcessExit): string {
  return exit.signal ?? `code ${exit.code}`;
}

function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      // What it started itself and left in its group goes with it; usually there is nothing.
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      resolve({ code, signal });
    });
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

async function untilReady(
  readiness: Readiness,
  seen: Promise<void>,
  exited: Promise<ProcessExit>,
  unwanted: AbortSignal | undefined,
): Promise<'ready' | 'late' | 'unwanted' | ProcessExit> {
  const controller = new AbortController();
  const late = sleep(readiness.timeoutMs, 'late' as const, { signal: controller.signal });
  const ready = 'check' in readiness ? asked(readiness, controller.signal) : seen.then(() => 'ready' as const);
  const cancelled = new Promise<'unwanted'>((resolve) => {
    unwanted?.addEventListener('abort', () => resolve('unwanted'), { once: true, signal: controller.signal });
  });
  try {
    return await Promise.race([ready, late, exited, cancelled]);
  } finally {
    controller.abort();
    late.catch(() => {});
    ready.catch(() => {});
  }
}

/** The same steps with their waits shortened in proportion when they take longer than that together. */
export function within(steps: readonly SignalStep[], limitMs: number | undefined): readonly SignalStep[] {
  const totalMs = steps.reduce((sum, step) => sum + step.waitMs, 0);
  if (limitMs === undefined || totalMs <= limitMs) return steps;
  return steps.map((step) => ({ signal: step.signal, waitMs: Math.floor((step.waitMs * limitMs) / totalMs) }));
}

async function asked(
  readiness: { readonly check: () => Promise<boolean>; readonly everyMs: number },
  signal: AbortSignal,
): Promise<'ready'> {
  while (!(await readiness.check().catch(() => false))) await sleep(readiness.everyMs, undefined, { signal });
  return 'ready';
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<ProcessExit>,
  steps: readonly SignalStep[],
): Promise<ProcessExit> {
  let exit: ProcessExit | undefined;
  for (const { signal, waitMs } of steps) {
    if (child.exitCode !== null || child.signalCode !== null) return exited;
    child.kill(signal);
    const controller = new AbortController();
    const waited = sleep(waitMs, undefined, { signal: controller.signal }).catch(() => undefined);
    exit = (await Promise.race([exited, waited])) ?? undefined;
    controller.abort();
    if (exit !== undefined) return exit;
  }
  child.kill('SIGKILL');
  return exited;
}

function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone already, which is what was wanted.
  }
}

function readLines(stdout: Readable, stderr: Readable, onLine: (line: string) => void): void {
  for (const stream of [stdout, stderr]) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) =>
      onLine(line.slice(0, maxLineLength)),
    );
  }
}
