import type { RunningService } from './running-service.ts';

/** Work that is done again and again, one run at a time. */
export type Repeated = RunningService & {
  /** Runs now, or joins the run that is under way; nothing after the stop. Never rejects. */
  readonly soon: () => Promise<void>;
};

export type RepeatOptions = {
  readonly everyMs: number;
  /** One run. Long ones ask `isStopped` between their steps and end early. */
  readonly work: (isStopped: () => boolean) => Promise<unknown>;
  /** A run that failed; the next one comes at its time. */
  readonly onError: (error: unknown) => void;
};

/** Repeats work until it is stopped, the first time one period from now. A run that takes longer than the period holds up the next. */
export function repeat({ everyMs, work, onError }: RepeatOptions): Repeated {
  let running: Promise<void> | undefined;
  let isStopped = false;
  const run = async (): Promise<void> => {
    try {
      await work(() => isStopped);
    } catch (error) {
      onError(error);
    }
  };
  const soon = async (): Promise<void> => {
    if (!isStopped) {
      running ??= run().finally(() => {
        running = undefined;
      });
    }
    await running;
  };
  const timer = setInterval(() => void soon(), everyMs);
  return {
    soon,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
