import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { sweepRateLimits } from '../../platform/http/rate-limits.ts';
import { repeat } from '../../platform/repeat.ts';
import { hasAccounts, sweepSessions } from './queries.ts';
import { setupToken } from './setup-token.ts';

const sweepEveryMs = 600_000;

/** Writes the set-up token to the log while the first account is still to come. */
export const setupTokenNotice: Service<Context> = {
  name: 'setup-token-notice',
  role: 'api',
  start: async (context, log) => {
    if (!(await hasAccounts(context.database.api))) {
      const elsewhere = context.isPublished ? '' : ', unless it comes from this machine without a proxy,';
      // In the text, since fields that look like secrets are not written.
      log.info(
        `no account exists yet: the first registration${elsewhere} needs the set-up token ${setupToken(context.sealer)}`,
      );
    }
    return { stop: async () => undefined };
  },
};

/** Removes sessions that ended long ago and counters of closed windows, every ten minutes. */
export const identitySweep: Service<Context> = {
  name: 'identity-sweep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs: sweepEveryMs,
      work: async () => {
        await sweepSessions(context.database.worker);
        await sweepRateLimits(context.database.worker);
      },
      onError: (error) =>
        log.warn({ err: error }, 'sweeping sessions and rate limits failed; tried again in ten minutes'),
    }),
};
