import { statusPageLimits } from '@parallax/api-contract';
import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import { repeat } from '../../../platform/repeat.ts';
import { sweepSubscribers } from './sending/claim.queries.ts';

const everyMs = 3_600_000;

/** Forgets subscribers who did not confirm or have left, and what was told long ago. */
export const subscriberUpkeep: Service<Context> = {
  name: 'upkeep of subscribers of status pages',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs,
      work: () => sweepSubscribers(context.database.worker, statusPageLimits),
      onError: (error) =>
        log.warn({ err: error }, 'subscribers of status pages could not be swept; tried again in an hour'),
    }),
};
