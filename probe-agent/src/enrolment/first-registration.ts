import { SettingsError } from '@parallax/settings';
import { BackOff } from '../back-off.ts';
import { messageOf, sleep } from '../ports.ts';
import type { Logger } from '../ports.ts';
import { EnrolmentError } from './enrolment-error.ts';

export type FirstRegistrationOptions<Identity> = {
  /** Reads the join token; throws a SettingsError while its file is not there or empty. */
  readonly readJoinToken: () => string | undefined;
  /** One try with what was read. An EnrolmentError that is temporary is tried again, everything else is passed on. */
  readonly register: (joinToken: string | undefined) => Promise<Identity>;
  readonly logger: Logger;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  readonly random?: () => number;
  /** Longest wait between two tries, milliseconds. */
  readonly mostMs?: number;
};

/**
 * Registers as soon as the join token and the control plane are there, however long that takes: under a service manager all of them start
 * at once. Gives undefined when it was told to stop before. Rejects with what a person has to mend: a token that is refused, another authority.
 */
export async function firstRegistration<Identity>(
  options: FirstRegistrationOptions<Identity>,
): Promise<Identity | undefined> {
  const { readJoinToken, register, logger, signal, random = Math.random, mostMs = 15_000 } = options;
  const backOff = new BackOff({ firstMs: 500, mostMs, random });
  while (!signal.aborted) {
    try {
      return await register(readJoinToken());
    } catch (error) {
      if (!isWorthWaiting(error)) throw error;
      const waitMs = Math.round(backOff.next());
      logger.warn({ reason: messageOf(error), retry_in_ms: waitMs }, 'not registered yet');
      await sleep(waitMs, signal);
    }
  }
  return undefined;
}

/** The settings were read once before without the token, so what a SettingsError complains of here is the token's file. */
const isWorthWaiting = (error: unknown): boolean =>
  error instanceof SettingsError || (error instanceof EnrolmentError && error.isTemporary);
