import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { sweepTokens } from '../account-tokens/index.ts';

const everyMs = 3_600_000;

/** Removes mailed tokens that ended long ago, every hour. */
export const tokenSweep: Service<Context> = {
  name: 'account-token-sweep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs,
      work: () => sweepTokens(context.database.worker),
      onError: (error) => log.warn({ err: error }, 'sweeping account tokens failed; tried again in an hour'),
    }),
};
