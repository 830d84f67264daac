import { fork } from 'node:child_process';
import path from 'node:path';
import { startedTimeUs } from '../processor-time.ts';
import type { Teardown } from '../agent/teardown.ts';
import type { LoopAnswer, LoopOrder } from './check-loop.ts';

export type Checker = {
  /** µs of processor time per check, of what the process started too. Fails when a check was not good. */
  readonly measure: (order: LoopOrder) => Promise<number>;
  /** Makes such checks until they have become no cheaper for a while: until the code is compiled. */
  readonly warm: (order: LoopOrder, most: number) => Promise<void>;
};

export type CheckerOptions = {
  /** Writes what its processor time went into to this file, when it ends. That costs time too. */
  readonly profile?: string | undefined;
};

/** Two turns of a warm-up that save less than this share are the end of it. */
const noGain = 0.02;

/** Our checks in a process of its own, without an agent around them. */
export function startChecker(teardown: Teardown, { profile }: CheckerOptions = {}): Checker {
  const child = fork(path.join(import.meta.dirname, 'check-loop.ts'), {
    execArgv: profile === undefined ? [] : profiling(profile),
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  teardown(async () => {
    // It ends by itself then, and writes its profile.
    if (child.connected) child.disconnect();
    await ended;
  });
  const ask = (order: LoopOrder): Promise<LoopAnswer> =>
    new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error('the process that checks has ended'));
      child.once('exit', gone);
      child.once('message', (answer: LoopAnswer) => {
        child.off('exit', gone);
        resolve(answer);
      });
      child.send(order);
    });
  const measure = async (order: LoopOrder): Promise<number> => {
    const pid = child.pid ?? 0;
    const before = startedTimeUs(pid);
    const answer = await ask(order);
    if (answer.bad > 0 || answer.good === 0)
      throw new Error(`${answer.bad} of the ${order.protocol} checks failed: ${answer.problem}`);
    return (answer.us + startedTimeUs(pid) - before) / answer.good;
  };
  const warm = async (order: LoopOrder, most: number): Promise<void> => {
    let least = Infinity;
    for (let turn = 0, idle = 0; turn < most && idle < 2; turn += 1) {
      const us = await measure(order);
      idle = us > least * (1 - noGain) ? idle + 1 : 0;
      least = Math.min(least, us);
    }
  };
  return { measure, warm };
}

function profiling(file: string): string[] {
  const where = [`--cpu-prof-dir=${path.dirname(file)}`, `--cpu-prof-name=${path.basename(file)}`];
  return ['--cpu-prof', '--cpu-prof-interval=200', ...where];
}
