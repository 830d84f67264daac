import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import type { StoredTarget } from '../rules/targets.ts';
import type { TargetVerdict } from './verdict.ts';

/** What alerts ask of channels when somebody names targets, reads them, or tries them. */
export type AlertChannels = {
  /**
   * Judges targets against the configurations of the scope's user; one that belongs to somebody else is judged like one that is not there.
   * @returns a verdict for each, in their order
   */
  readonly judge: (
    scope: Scope,
    tx: Transaction,
    targets: readonly StoredTarget[],
  ) => Promise<readonly TargetVerdict[]>;
  /** A target as others may see it. */
  readonly mask: (target: StoredTarget) => string;
};

const mail = 'email';
const looksLikeMail = /^[^\s@]+@[^\s@]+$/;

/** Channels as far as they need no configuration. */
export const plainChannels: AlertChannels = {
  judge: async (_scope, _tx, targets) =>
    targets.map((target): TargetVerdict => {
      if (target.channel !== mail) {
        return {
          ok: false,
          field: 'channel',
          code: 'unknown_channel',
          message: `there is no channel ${target.channel}`,
        };
      }
      if (target.config_id !== null) {
        const message = `you have no configuration ${target.config_id} of the channel ${target.channel}`;
        return { ok: false, field: 'config_id', code: 'not_found', message };
      }
      if (!looksLikeMail.test(target.target)) {
        return { ok: false, field: 'target', code: 'invalid_target', message: 'must be a mail address' };
      }
      return { ok: true, target };
    }),
  mask: ({ target }) => target.replace(/^(.)[^@]*(?=@)/, '$1…'),
};
