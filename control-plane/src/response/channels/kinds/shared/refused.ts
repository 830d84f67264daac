import { answerFault } from '../../answer-fault.ts';
import type { ChannelIo, IncomingResponse } from '../../channel.ts';
import type { DeliveryError, DeliveryErrorCode, DeliveryFault } from '../../delivery-error.ts';

/** What an answer means, and for what. */
export type Meaning = readonly [DeliveryErrorCode, DeliveryFault];

export const refusedCredentials: Meaning = ['refused_credentials', 'configuration'];
/** The credential is that of one destination: the others of its configuration are as they were. */
export const refusedDestination: Meaning = ['refused_credentials', 'target'];
export const unknownTarget: Meaning = ['unknown_target', 'target'];
export const refusedMessage: Meaning = ['refused_message', 'message'];
export const rateLimited: Meaning = ['rate_limited', 'passing'];
export const unavailable: Meaning = ['service_unavailable', 'passing'];

/** What a service says itself of what was not taken. */
export type Said = {
  /** Undefined: its status says it all. */
  readonly meaning?: Meaning | undefined;
  readonly reason?: unknown;
  /** What it asks to wait, in seconds, where it says so in its body. */
  readonly retryAfterSeconds?: unknown;
};

/** Longer waits are not believed. */
const dayMs = 86_400_000;

/** The error for an answer that is no success: by what the service says of it, else by its status. */
export function refused(
  service: string,
  answer: IncomingResponse,
  io: Pick<ChannelIo, 'now'>,
  said: Said = {},
): DeliveryError {
  const { meaning, reason, retryAfterSeconds } = said;
  return answerFault(answer, {
    service,
    nowMs: io.now(),
    meanings: meaning === undefined ? undefined : { [answer.status]: meaning },
    reason: typeof reason === 'string' && reason.trim() !== '' ? `status ${answer.status}: ${reason}` : undefined,
    retryAfterMs: secondsToMs(retryAfterSeconds),
  });
}

/** The same where the address is the credential: what would refuse all of a configuration refuses one destination. */
export function refusedAtDestination(
  service: string,
  answer: IncomingResponse,
  io: Pick<ChannelIo, 'now'>,
  said: Said = {},
): DeliveryError {
  const isRefusal = answer.status === 401 || answer.status === 403;
  return refused(service, answer, io, {
    ...said,
    meaning: said.meaning ?? (isRefusal ? refusedDestination : undefined),
  });
}

function secondsToMs(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.min(Math.ceil(seconds * 1000), dayMs);
}
