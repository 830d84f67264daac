import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { sweepRequests } from './queries.ts';

const sweepEveryMs = 600_000;

/** Removes requests whose time is over, every ten minutes. */
export const teamChatSweep: Service<Context> = {
  name: 'team-chat-sweep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs: sweepEveryMs,
      work: async () => sweepRequests(context.database.worker),
      onError: (error) =>
        log.warn({ err: error }, 'sweeping requests to the team chat failed; tried again in ten minutes'),
    }),
};
