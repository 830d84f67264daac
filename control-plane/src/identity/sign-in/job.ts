import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { sweepSignIns } from './queries.ts';

const sweepEveryMs = 600_000;

/** Removes sign-ins, challenges and proofs whose time is over, every ten minutes. */
export const signInSweep: Service<Context> = {
  name: 'sign-in-sweep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs: sweepEveryMs,
      work: async () => sweepSignIns(context.database.worker),
      onError: (error) => log.warn({ err: error }, 'sweeping sign-ins failed; tried again in ten minutes'),
    }),
};
