import { Problem } from '@parallax/api-contract';

/**
 * Lets a fixed number of jobs run at once, keeps a bounded number waiting in order, and refuses the rest.
 * @throws Problem `busy` when the queue is full
 */
export function createHashingQueue(limits: {
  readonly atOnce: number;
  readonly waiting: number;
}): <Result>(job: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (job) => {
    if (running >= limits.atOnce) {
      if (waiting.length >= limits.waiting) {
        throw new Problem('busy', 'too many passwords are being checked; try again', { retryAfterSeconds: 2 });
      }
      // Whoever finishes hands its place over, so the count does not change.
      await new Promise<void>((go) => waiting.push(go));
    } else {
      running += 1;
    }
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
