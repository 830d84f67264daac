import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outcome, Task } from './tasks.ts';

const worker = path.join(path.dirname(fileURLToPath(import.meta.url)), 'worker.ts');

/** Has processes do tasks, each one at a time. Rejects when one of them ends before its work does. */
export async function performAll(
  tasks: readonly Task[],
  workers: number,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = [...tasks];
  await Promise.all(
    Array.from({ length: Math.min(workers, tasks.length) }, () => {
      // Most of what a world makes is garbage soon.
      const child = fork(worker, { execArgv: ['--max-semi-space-size=64'] });
      return work(child, waiting, onOutcome).finally(() => child.kill());
    }),
  );
}

function work(child: ChildProcess, waiting: Task[], onOutcome: (outcome: Outcome) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let task: Task | undefined;
    const next = (): void => {
      task = waiting.shift();
      if (task === undefined) resolve();
      else child.send(task);
    };
    child.on('message', (message) => {
      onOutcome(message as Outcome);
      next();
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`a worker ended with ${signal ?? code ?? 'nothing'} at ${JSON.stringify(task)}`));
    });
    next();
  });
}
