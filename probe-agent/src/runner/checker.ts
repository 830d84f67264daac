import { createAddressPolicy, createResolver, runCheck, withThreshold } from '@parallax/checks';
import type { CheckContext, Listener } from '@parallax/checks';
import type { Assignment } from '@parallax/wire';
import { agentVersion } from '../version.ts';
import type { CheckRunner } from './runner.ts';

/** Sent to targets; says what this is. */
export const userAgent = `Parallax/${agentVersion} (availability monitor)`;

export type CheckerOptions = {
  /** CIDRs that the operator of this probe allows although they are not public. */
  readonly allowedPrivate: readonly string[];
  readonly sourceAddress: string | undefined;
};

export type Checker = { readonly check: CheckRunner; readonly denyListeners: (listeners: readonly Listener[]) => void };

const clock = (): number => performance.now();

/** Runs checks of the check types under this probe's address policy. */
export function createChecker(options: CheckerOptions): Checker {
  const addresses = createAddressPolicy({ allowedPrivate: options.allowedPrivate });
  const resolver = createResolver({ clock });
  const settingsOf = new WeakMap<Assignment, unknown>();
  return {
    denyListeners: addresses.setDeniedListeners,
    check: async (assignment, { signal, trace }) => {
      let settings = settingsOf.get(assignment);
      if (settings === undefined) {
        settings = parseSettings(assignment.settingsJson);
        settingsOf.set(assignment, settings);
      }
      const context: CheckContext = {
        signal,
        timeoutMs: Math.max(1, assignment.timeoutSeconds) * 1_000,
        clock,
        addresses,
        resolver,
        userAgent,
        sourceAddress: options.sourceAddress,
        trace,
      };
      const outcome = await runCheck(assignment.protocol, { url: assignment.url }, settings, context);
      return withThreshold(outcome, assignment.degradedThresholdMs === 0 ? undefined : assignment.degradedThresholdMs);
    },
  };
}

/** What cannot be read is given on as it is: the check type says what is wrong with it. */
function parseSettings(json: Buffer): unknown {
  if (json.length === 0) return {};
  try {
    return JSON.parse(json.toString('utf8')) as unknown;
  } catch {
    return 'unreadable';
  }
}
