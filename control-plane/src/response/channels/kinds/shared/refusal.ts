import { answerFault, isSuccess } from '../../answer-fault.ts';
import type { IncomingResponse } from '../../channel.ts';
import { DeliveryError, type DeliveryErrorCode, type DeliveryFault } from '../../delivery-error.ts';
import { maskSecrets } from '../../mask-secrets.ts';

/** What an answer means for the next attempt. */
export type Meaning = {
  readonly code: DeliveryErrorCode;
  readonly fault: DeliveryFault;
  /** What the service asked to wait, milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

export const refusedCredentials = { code: 'refused_credentials', fault: 'configuration' } as const satisfies Meaning;
/** The credential is that of one destination: the others of its configuration are as they were. */
export const refusedDestination = { code: 'refused_credentials', fault: 'target' } as const satisfies Meaning;
export const unknownTarget = { code: 'unknown_target', fault: 'target' } as const satisfies Meaning;
export const refusedMessage = { code: 'refused_message', fault: 'message' } as const satisfies Meaning;
export const rateLimited = { code: 'rate_limited', fault: 'passing' } as const satisfies Meaning;
export const unavailable = { code: 'service_unavailable', fault: 'passing' } as const satisfies Meaning;

/** How a service is read that did not take a message. */
type Reading = {
  /** The service's name for people. */
  readonly title: string;
  /** What the service says in its own way; undefined: its status says it all. */
  readonly meaning?: Meaning | undefined;
  /** The service's own words, where its body has some. */
  readonly detail?: unknown;
  /** Never repeated, though the service does. */
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch: `Retry-After` may be a date. */
  readonly now: number;
};

/** Whether the service took it, by status. */
export function isAccepted(answer: IncomingResponse): boolean {
  return isSuccess(answer.status);
}

/** The error that stands for an answer which was no acceptance. */
export function refusal(answer: IncomingResponse, { title, meaning, detail, secrets, now }: Reading): DeliveryError {
  const words = typeof detail === 'string' ? maskSecrets(detail, secrets).trim() : '';
  return answerFault(answer, {
    service: title,
    nowMs: now,
    meanings: meaning === undefined ? undefined : { [answer.status]: [meaning.code, meaning.fault] },
    reason: words === '' ? undefined : `status ${answer.status}: ${words}`,
    retryAfterMs: meaning?.retryAfterMs,
  });
}

/** What a status means where the service says nothing more exact. */
export function meaningOfStatus(status: number): Meaning {
  const { code, fault } = answerFault({ status, headers: {} }, { service: '', nowMs: 0 });
  return { code, fault };
}

/** Where the address is the credential, what would refuse the configuration refuses this one destination; 402 is an account that does not pay for it. */
export function meaningForDestination(status: number): Meaning {
  if (status === 402) return refusedDestination;
  const meaning = meaningOfStatus(status);
  return meaning.code === 'refused_credentials' ? refusedDestination : meaning;
}

/** An answer that says success in its status and something else in its body: whether it was delivered is not known, so it is tried again. */
export function unexpectedAnswer(title: string): DeliveryError {
  return new DeliveryError(
    'unexpected_answer',
    'passing',
    `${title} answered something other than documented: check that the address is that of ${title}.`,
  );
}

/** Longer waits are not believed. */
const dayMs = 86_400_000;

/** A wait in seconds, from wherever a service writes it, in milliseconds; undefined: it is none. At most a day. */
export function secondsToMs(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.min(Math.ceil(seconds * 1000), dayMs);
}

/**
 * For services that people run themselves: a 404 or 410 that is not in the service's own form comes from a proxy before it, which answers so
 * while the service restarts. It passes; undefined: the answer is something else.
 */
export function notFoundByProxy(answer: IncomingResponse, isOwnForm: boolean): Meaning | undefined {
  const isNotFound = answer.status === 404 || answer.status === 410;
  return isNotFound && !isOwnForm ? { code: 'unexpected_status', fault: 'passing' } : undefined;
}
