import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import { countMissing } from '@parallax/testkit/needs';
import type { Test } from 'tap';

export { freePort } from '@parallax/testkit/free-port';

export type RealServerOptions = {
  /** Name of the program, looked for in `programFolders()`, or its full path. */
  readonly program: string;
  readonly args: readonly string[];
  /** When it takes questions: a pattern of what it prints, or a question that is asked again until it holds. */
  readonly ready: RegExp | (() => Promise<boolean>);
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** How long it may take to get ready, in milliseconds; absent: 20 s. */
  readonly readyWithinMs?: number;
};

/** A server of the kind that a check is for, run as a child of the test. */
export type RealServer = {
  readonly pid: number;
  /** What it printed so far, both streams. */
  readonly output: () => string;
  /** Ends it and waits until it is gone; the end of the test does the same. */
  readonly stop: () => Promise<void>;
};

const stopWithinMs = 3000;

/**
 * Starts a server in the foreground and waits until it is ready. Undefined where the program is not installed, which is counted
 * (`countMissing`). Throws with what the server printed when it does not get ready.
 */
export async function startReal(t: Test, options: RealServerOptions): Promise<RealServer | undefined> {
  const path = isAbsolute(options.program) ? options.program : findProgram(options.program);
  if (path === undefined) {
    countMissing(t, options.program);
    return undefined;
  }
  const { NODE_OPTIONS: _ours, ...inherited } = process.env;
  const child = spawn(path, options.args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: { ...inherited, LC_ALL: 'C', ...options.env },
  });
  let said = '';
  let gone = false;
  const take = (piece: Buffer) => {
    said = `${said}${piece.toString('utf8')}`.slice(-64 * 1024);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      said += error.message;
      gone = true;
      resolve();
    });
    child.once('close', () => {
      gone = true;
      resolve();
    });
  });
  const stop = async () => {
    if (gone) return;
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended;
    clearTimeout(hard);
  };
  t.teardown(stop);
  const end = performance.now() + (options.readyWithinMs ?? 20_000);
  const { ready } = options;
  const isReady = ready instanceof RegExp ? () => Promise.resolve(ready.test(said)) : ready;
  while (!(await isReady().catch(() => false))) {
    if (gone || performance.now() > end) {
      await stop();
      throw new Error(`${options.program} ${gone ? 'ended at once' : 'did not get ready'}: ${said.slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { pid: child.pid ?? 0, output: () => said, stop };
}

/** A folder of the test's own that any account of the machine may read; it goes with the test, after what uses it has ended. */
export async function ownFolder(t: Test, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `parallax-${name}-`));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(folder, 0o755);
  return folder;
}

/** Whether something on loopback takes a connection at a port: a `ready` for servers of TCP. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
