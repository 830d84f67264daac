import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { sweepInvites } from './invites/queries.ts';

const sweepEveryMs = 3_600_000;

/** Removes invitations that ended long ago, every hour. */
export const inviteSweep: Service<Context> = {
  name: 'invite-sweep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs: sweepEveryMs,
      work: () => sweepInvites(context.database.worker),
      onError: (error) => log.warn({ err: error }, 'sweeping old invitations failed; tried again in an hour'),
    }),
};
