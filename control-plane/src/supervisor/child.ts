import { setTimeout as sleep } from 'node:timers/promises';
import {
  exitText,
  forgetProcess,
  recordProcess,
  runProcess,
  within,
  type ProcessSpec,
  type RunningProcess,
} from '@parallax/embedded';
import type { Logger } from '@parallax/telemetry';
import { afterEnd, noFailures } from './back-off.ts';

/** One process that is kept running. */
export type ChildPlan = {
  readonly name: string;
  /** Makes everything ready and says how to start it; called anew before every start. */
  readonly prepare: () => Promise<ProcessSpec>;
  /** Where its identity is written down while it runs, so that the next run can end it. */
  readonly record: string;
  /** How long its stop may take. */
  readonly stopWithinMs: number;
};

export type Child = {
  readonly name: string;
  /** Number of the running process, or undefined between two. */
  pid(): number | undefined;
  /** Starts after the first. */
  restarts(): number;
  stop(): Promise<void>;
};

export type ChildOptions = {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Told of every start, before the process is ready, and with undefined of every end. */
  readonly onProcess?: (
    running: { readonly pid: number; readonly steps: ProcessSpec['stopSteps'] } | undefined,
  ) => void;
  readonly sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Starts a child and resolves when it is ready; from then on it is started again, with a growing delay, whenever it ends. The first
 * start is not tried twice: its failure rejects, since a wrong setting does not mend itself. An abort of `signal` before it is ready
 * ends it and rejects.
 */
export async function startChild(plan: ChildPlan, options: ChildOptions, signal: AbortSignal): Promise<Child> {
  const stopping = new AbortController();
  let current: RunningProcess | undefined;
  let restarts = 0;

  const start = async (): Promise<RunningProcess> => {
    const spec = await plan.prepare();
    try {
      return await runProcess(spec, {
        signal: AbortSignal.any([stopping.signal, signal]),
        onSpawn: (running) => {
          current = running;
          recordProcess(plan.record, running.identity);
          options.onProcess?.({ pid: running.pid, steps: within(spec.stopSteps, plan.stopWithinMs) });
        },
      });
    } catch (error) {
      forgetProcess(plan.record);
      options.onProcess?.(undefined);
      throw error;
    }
  };

  const keepRunning = async (first: RunningProcess): Promise<void> => {
    let running: RunningProcess | undefined = first;
    let startedMs = performance.now();
    let backOff = noFailures;
    while (!stopping.signal.aborted) {
      if (running !== undefined) {
        const exit = await running.exited;
        current = undefined;
        forgetProcess(plan.record);
        options.onProcess?.(undefined);
        if (stopping.signal.aborted) return;
        options.log.warn(
          { child: plan.name, pid: running.pid, exit: exitText(exit) },
          'a process ended and is started again',
        );
      }
      backOff = afterEnd(backOff, performance.now() - startedMs);
      await (options.sleep ?? sleepUnlessAborted)(backOff.delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      restarts++;
      startedMs = performance.now();
      running = await start().catch((error: unknown) => {
        if (!stopping.signal.aborted)
          options.log.error(
            { err: error, child: plan.name, failures: backOff.failures },
            'a process could not be started',
          );
        return undefined;
      });
      if (running !== undefined) options.log.info({ child: plan.name, pid: running.pid }, 'a process runs again');
    }
  };

  const kept = keepRunning(await start());
  return {
    name: plan.name,
    pid: () => current?.pid,
    restarts: () => restarts,
    stop: async () => {
      stopping.abort(new Error('stopping'));
      await current?.stop(plan.stopWithinMs);
      await kept;
      forgetProcess(plan.record);
    },
  };
}

async function sleepUnlessAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal }).catch(() => {});
}
