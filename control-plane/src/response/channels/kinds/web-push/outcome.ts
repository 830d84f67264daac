import { DeliveryError } from '../../delivery-error.ts';
import type { IncomingResponse } from '../../channel.ts';
import { answerFault, isSuccess } from '../../answer-fault.ts';

type Answer = Pick<IncomingResponse, 'status' | 'headers'> & { readonly text?: string };

/** What became of a message to one browser. */
export type Outcome =
  | { readonly kind: 'taken' }
  /** The subscription has ended and never works again. */
  | { readonly kind: 'gone' }
  /** A shorter payload may be taken. */
  | { readonly kind: 'too_large' }
  | { readonly kind: 'failed'; readonly error: DeliveryError };

/**
 * What a push service means by its answer: RFC 8030, sections 5 and 7.3, and RFC 8292, section 4.2. Two of them say by 400 that the browser was subscribed with another key: Apple's by
 * the reason VapidPkHashMismatch, Google's by the word UnauthorizedRegistration.
 */
export function outcomeOf(response: Answer, nowMs: number): Outcome {
  const { status, text = '' } = response;
  if (isSuccess(status)) return { kind: 'taken' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 413) return { kind: 'too_large' };
  const isForeignKey = status === 400 && /VapidPkHashMismatch|UnauthorizedRegistration/.test(text);
  if (status === 401 || status === 403 || isForeignKey)
    return { kind: 'failed', error: new DeliveryError('refused_credentials', 'configuration', refusedKey(status)) };
  return { kind: 'failed', error: answerFault(response, { service: 'The push service', nowMs, meanings }) };
}

// The service of Windows says by 406 that it has had too many.
const meanings = { 406: ['rate_limited', 'passing'] } as const;

function refusedKey(status: number): string {
  return (
    `The push service refused the key of this installation (status ${status}): the browser was subscribed with another one, or the clock or the public ` +
    'URL of the installation is wrong. Unsubscribe in the browser and subscribe anew.'
  );
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
      'The push service found the message too long, also when it was cut.',
    );
  }
  throw noBrowser(target);
}

/** There is nobody to tell. @param target in its one form */
export function noBrowser(target: string): DeliveryError {
  const what =
    target === 'all'
      ? 'No browser is subscribed (any more): open the console in one and allow notifications.'
      : `Browser ${target} is not subscribed (any more): subscribe it anew and choose it as target, or choose "all".`;
  return new DeliveryError('unknown_target', 'target', what);
}
