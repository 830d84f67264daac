import { DeliveryError } from '../../delivery-error.ts';
import type { IncomingResponse } from '../../channel.ts';
import { retryAfterMs } from '../../retry-after.ts';

/** What became of a message to one browser. */
export type Outcome =
  | { readonly kind: 'taken' }
  /** The subscription has ended and never works again. */
  | { readonly kind: 'gone' }
  /** A shorter payload may be taken. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly error: DeliveryError };

/** What a push service means by its answer (RFC 8030, sections 5 and 7.3; RFC 8292, section 4.2; where services go their own way, a remark). */
export function outcomeOf({ status, headers }: Pick<IncomingResponse, 'status' | 'headers'>, nowMs: number): Outcome {
  // 202: the receipt of the message comes later. 200: the service of Windows.
  if (status === 200 || status === 201 || status === 202) return { kind: 'taken' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 413) return { kind: 'too_large' };
  if (status === 401 || status === 403) {
    return failed(
      'refused_credentials',
      'configuration',
      `the push service refused the key of this installation (${status}): the browser was subscribed with another one, or the clock or the public URL of the installation is wrong; unsubscribe in the browser and subscribe anew`,
    );
  }
  // 406: the service of Windows says by it that there were too many.
  if (status === 429 || status === 406) {
    return failed(
      'rate_limited',
      'passing',
      `the push service has had too many messages (${status})`,
      retryAfterMs(headers, nowMs),
    );
  }
  if (status >= 500) {
    return failed(
      'service_unavailable',
      'passing',
      `the push service answered ${status}`,
      retryAfterMs(headers, nowMs),
    );
  }
  if (status === 400) return failed('refused_message', 'message', 'the push service refused the message (400)');
  return failed('unexpected_status', 'message', `the push service answered ${status}`);
}

/**
 * What a message to several browsers of one person comes to: one that took it is enough, since a second try would tell that one twice.
 * @throws DeliveryError when none did: the fault that most can be done about, with the longest time that was asked for
 */
export function settle(outcomes: readonly Outcome[], target: string): void {
  if (outcomes.some(({ kind }) => kind === 'taken')) return;
  const errors = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.error] : []));
  const waits = errors.flatMap((error) => error.retryAfterMs ?? []);
  for (const fault of ['passing', 'configuration', 'message'] as const) {
    const error = errors.find((one) => one.fault === fault);
    if (error === undefined) continue;
    if (fault !== 'passing' || waits.length === 0) throw error;
    throw new DeliveryError(error.code, error.fault, error.message, Math.max(...waits));
  }
  if (outcomes.some(({ kind }) => kind === 'too_large')) {
    throw new DeliveryError(
      'refused_message',
      'message',
      'the push service found the message too long, also when it was cut',
    );
  }
  throw noBrowser(target);
}

/** There is nobody to tell. @param target in its one form */
export function noBrowser(target: string): DeliveryError {
  const what =
    target === 'all'
      ? 'no browser is subscribed (any more): open the console in one and allow notifications'
      : `browser ${target} is not subscribed (any more): subscribe it anew and choose it as target, or choose "all"`;
  return new DeliveryError('unknown_target', 'target', what);
}

function failed(code: DeliveryError['code'], fault: DeliveryError['fault'], message: string, waitMs?: number): Outcome {
  return { kind: 'failed', error: new DeliveryError(code, fault, message, waitMs) };
}
