import type { IncomingResponse } from './channel.ts';
import { DeliveryError } from './delivery-error.ts';
import type { DeliveryErrorCode, DeliveryFault } from './delivery-error.ts';
import { retryAfterMs } from './retry-after.ts';

type Meaning = readonly [DeliveryErrorCode, DeliveryFault];

/** What a status means where the service says nothing else. */
function meaningOf(status: number): Meaning {
  if (status === 401 || status === 403) return ['refused_credentials', 'configuration'];
  if (status === 404 || status === 410) return ['unknown_target', 'target'];
  if (status === 429) return ['rate_limited', 'passing'];
  if (status === 408 || status === 425) return ['service_unavailable', 'passing'];
  if (status >= 500) return ['service_unavailable', 'passing'];
  if (status >= 400) return ['refused_message', 'message'];
  return ['unexpected_status', 'passing'];
}

const sentences: Readonly<Partial<Record<DeliveryErrorCode, string>>> = {
  refused_credentials: 'refused the credentials: check them and set them again',
  unknown_target: 'does not know the target any more: check it',
  rate_limited: 'takes no more messages for the moment',
  service_unavailable: 'is not available for the moment',
  refused_message: 'did not take the message',
  unexpected_status: 'answered in an unexpected way',
};

export type FaultOptions = {
  /** What people call the service. */
  readonly service: string;
  readonly nowMs: number;
  /** Statuses that mean something else with this service than with most. */
  readonly meanings?: Readonly<Record<number, Meaning>> | undefined;
  /** What the service itself says is wrong; the beginning is shown. */
  readonly reason?: string | undefined;
  /** What the service asks to wait, where it says so elsewhere than in `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
};

/**
 * Why an answer is no success: 401 and 403 refused credentials, 404 and 410 an unknown target, 429 a rate (with `Retry-After`), 5xx a
 * service that is away, any other 4xx a message that was not taken.
 */
export function answerFault(
  response: Pick<IncomingResponse, 'status' | 'headers'>,
  options: FaultOptions,
): DeliveryError {
  const [code, fault] = options.meanings?.[response.status] ?? meaningOf(response.status);
  return serviceFault(code, fault, {
    service: options.service,
    reason: options.reason === undefined || options.reason === '' ? `status ${response.status}` : options.reason,
    retryAfterMs:
      fault === 'passing' ? (options.retryAfterMs ?? retryAfterMs(response.headers, options.nowMs)) : undefined,
  });
}

/** The same for services that say in the body of a 200 what is wrong. */
export function serviceFault(
  code: DeliveryErrorCode,
  fault: DeliveryFault,
  options: { readonly service: string; readonly reason: string; readonly retryAfterMs?: number | undefined },
): DeliveryError {
  const sentence = sentences[code] ?? 'did not take the message';
  return new DeliveryError(
    code,
    fault,
    `${options.service} ${sentence} (${shortened(options.reason)}).`,
    options.retryAfterMs,
  );
}

/** Text of others in a sentence of ours: one line, at most 200 characters. */
function shortened(text: string): string {
  const line = Array.from(
    text
      .slice(0, 400)
      .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
      .trim(),
  );
  return line.length <= 200 ? line.join('') : `${line.slice(0, 199).join('')}…`;
}

/** Whether a status is one of success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
