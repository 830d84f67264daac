import type { IncomingResponse } from '../../channel.ts';
import { DeliveryError, type DeliveryErrorCode, type DeliveryFault } from '../../delivery-error.ts';

/** What an answer means for the next attempt. */
export type Meaning = {
  readonly code: DeliveryErrorCode;
  readonly fault: DeliveryFault;
  /** What the service asked to wait, milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/** How a service is read that did not take a message. */
export type Reading = {
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
  return answer.status >= 200 && answer.status <= 299;
}

/** The error that stands for an answer which was no acceptance. */
export function refusal(answer: IncomingResponse, reading: Reading): DeliveryError {
  const meaning = reading.meaning ?? meaningOfStatus(answer.status);
  const words = detailOf(reading.detail, reading.secrets);
  const said = words === '' ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${words}`;
  const wait = meaning.retryAfterMs ?? retryAfterMs(answer, reading.now);
  return new DeliveryError(meaning.code, meaning.fault, `${sentences[meaning.code](reading.title)} (${said})`, wait);
}

/** What a status means where the service says nothing more exact (RFC 9110). */
export function meaningOfStatus(status: number): Meaning {
  if (status === 401 || status === 403 || status === 402) return refusedCredentials;
  if (status === 404 || status === 410) return unknownTarget;
  if (status === 429) return rateLimited;
  if (status === 408 || status === 425 || status >= 500) return unavailable;
  // A page for visitors ("maintenance") stands in the way more often than a service moves, so this passes.
  if (status >= 300 && status < 400) return { code: 'redirected', fault: 'passing' };
  if (status === 400 || status === 413 || status === 422) return refusedMessage;
  if (status > 400) return { code: 'unexpected_status', fault: 'message' };
  return { code: 'unexpected_status', fault: 'passing' };
}

export const refusedCredentials = { code: 'refused_credentials', fault: 'configuration' } as const satisfies Meaning;
/** The credential is that of one destination: the others of its configuration are as they were. */
export const refusedDestination = { code: 'refused_credentials', fault: 'target' } as const satisfies Meaning;
export const unknownTarget = { code: 'unknown_target', fault: 'target' } as const satisfies Meaning;
export const refusedMessage = { code: 'refused_message', fault: 'message' } as const satisfies Meaning;
export const rateLimited = { code: 'rate_limited', fault: 'passing' } as const satisfies Meaning;
export const unavailable = { code: 'service_unavailable', fault: 'passing' } as const satisfies Meaning;

/** Where the address is the credential, what would refuse the configuration refuses this one destination. */
export function meaningForDestination(status: number): Meaning {
  const meaning = meaningOfStatus(status);
  return meaning.code === 'refused_credentials' ? refusedDestination : meaning;
}

/** An answer that says success in its status and something else in its body: whether it was delivered is not known, so it is tried again. */
export function unexpectedAnswer(title: string): DeliveryError {
  return new DeliveryError(
    'unexpected_answer',
    'passing',
    `${title} answered something other than documented. Check that the address is that of ${title}.`,
  );
}

const longestWaitMs = 86_400_000;

/** `Retry-After` as seconds or as a date (RFC 9110, 10.2.3), in milliseconds from now; undefined: none, or none that is meant. At most a day. */
export function retryAfterMs(answer: IncomingResponse, now: number): number | undefined {
  const value = answer.headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  return secondsToMs(/^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000);
}

/** A wait in seconds, from wherever a service writes it, in milliseconds; at most a day. */
export function secondsToMs(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.min(Math.ceil(seconds * 1000), longestWaitMs);
}

const longestDetail = 200;

/** A service's words for the owner: one line, without what was secret. */
export function detailOf(detail: unknown, secrets: readonly string[]): string {
  if (typeof detail !== 'string') return '';
  const open = secrets.filter((secret) => secret !== '').reduce((text, secret) => text.replaceAll(secret, '…'), detail);
  const line = open.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const points = Array.from(line);
  return points.length <= longestDetail ? line : `${points.slice(0, longestDetail - 1).join('')}…`;
}

type Sentence = (title: string) => string;

const sentences: Readonly<Record<DeliveryErrorCode, Sentence>> = {
  address_denied: (title) => `The address of ${title} is not allowed`,
  dns_failed: (title) => `The name of ${title} could not be resolved`,
  connect_failed: (title) => `${title} could not be reached`,
  tls_failed: (title) => `${title} showed no certificate that is trusted`,
  timeout: (title) => `${title} did not answer in time`,
  answer_too_slow: (title) => `${title} did not finish its answer in time`,
  rate_limited: (title) => `${title} takes no more messages for now`,
  unexpected_status: (title) => `${title} answered with an unexpected status`,
  unexpected_answer: (title) => `${title} answered something other than documented`,
  redirected: (title) => `${title} sent the message elsewhere, which is not followed; check the address`,
  refused_credentials: (title) => `${title} refused the credentials; make new ones and save them`,
  unknown_target: (title) => `${title} does not know this recipient; check it and activate it again`,
  refused_message: (title) => `${title} refused the message`,
  service_unavailable: (title) => `${title} is not available at present`,
  not_configured: (title) => `${title} is not set up completely`,
  target_not_confirmed: () => 'The recipient has not confirmed',
  internal: () => 'The message could not be made',
};
