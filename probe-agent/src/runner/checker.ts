import { createAddressPolicy, createResolver, runCheck, withThreshold } from '@parallax/checks';
import type { AddressPolicy, CheckContext, Listener, Target } from '@parallax/checks';
import type { Assignment } from '@parallax/wire';
import type { MachineOptions } from '../machine/options.ts';
import { agentVersion } from '../version.ts';
import { policyFor } from './private-targets.ts';
import type { CheckRunner } from './runner.ts';
import { SharedSettings } from './shared-settings.ts';

/** Sent to targets; says what this is. */
export const userAgent = `Parallax/${agentVersion} (availability monitor)`;

export type CheckerOptions = {
  /** CIDRs that the operator of this probe allows although they are not public. */
  readonly allowedPrivate: readonly string[];
  readonly sourceAddress: string | undefined;
  /** What of this machine its operator lets checks use; nothing when absent. */
  readonly machine?: MachineOptions;
};

export type Checker = { readonly check: CheckRunner; readonly denyListeners: (listeners: readonly Listener[]) => void };

const clock = (): number => performance.now();

/** Runs checks of the check types under this probe's address policy. */
export function createChecker(options: CheckerOptions): Checker {
  const addresses = createAddressPolicy({ allowedPrivate: options.allowedPrivate });
  const resolver = createResolver({ clock });
  const { browser, browserAccount, dockerSockets } = options.machine ?? {};
  const shared = new SharedSettings();
  /** The check types keep what they have made of a target and of settings with these objects. */
  const readOf = new WeakMap<
    Assignment,
    { readonly target: Target; readonly settings: unknown; readonly addresses: AddressPolicy }
  >();
  return {
    denyListeners: addresses.setDeniedListeners,
    check: async (assignment, { signal, trace }) => {
      let read = readOf.get(assignment);
      if (read === undefined) {
        read = {
          target: { url: assignment.url },
          settings: shared.read(assignment),
          addresses: policyFor(addresses, assignment),
        };
        readOf.set(assignment, read);
      }
      const context: CheckContext = {
        signal,
        timeoutMs: Math.max(1, assignment.timeoutSeconds) * 1_000,
        clock,
        addresses: read.addresses,
        resolver,
        userAgent,
        sourceAddress: options.sourceAddress,
        browser,
        browserAccount,
        dockerSockets,
        trace,
      };
      const outcome = await runCheck(assignment.protocol, read.target, read.settings, context);
      return withThreshold(outcome, assignment.degradedThresholdMs === 0 ? undefined : assignment.degradedThresholdMs);
    },
  };
}
