import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Load, LoadPlan } from './load.ts';

/** Somebody who asks, and whom. */
export type Asking = { readonly readers: ChildProcess; readonly port: number };

/** Lets readers ask. */
export async function ask({ readers, port }: Asking, plan: Omit<LoadPlan, 'port'>): Promise<Load> {
  const answer = once(readers, 'message');
  readers.send({ ...plan, port });
  const stop = new AbortController();
  const ended = once(readers, 'exit', { signal: stop.signal }).then(() =>
    Promise.reject(new Error('the readers have ended')),
  );
  try {
    return ((await Promise.race([answer, ended])) as [Load])[0];
  } finally {
    stop.abort();
  }
}

/** Starts a file of this folder, which says its port, if it has one, as soon as it is ready. */
export async function startProcess(
  file: string,
  env: Readonly<Record<string, string>>,
  execArgv: readonly string[],
  teardown: (step: () => unknown) => void,
) {
  const child = fork(path.join(import.meta.dirname, file), {
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...execArgv],
  });
  teardown(() => end(child));
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} did not start`))),
  ])) as [{ port?: number }];
  return { child, port: message.port ?? 0 };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}
