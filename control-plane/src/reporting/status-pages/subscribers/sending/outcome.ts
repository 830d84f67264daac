import { DeliveryError } from '../../../../response/channels/index.ts';
import { MailRefusedError } from '../../../../platform/mail/mailer.ts';
import { MailAddressError } from '../../../../platform/mail/mail-address.ts';

/** A receiver of HTTP did not take a message. */
export class NotTakenError extends Error {
  override readonly name = 'NotTakenError';
  /** It says that it is gone for good (410, RFC 9110, section 15.5.11). */
  readonly isGone: boolean;

  constructor(message: string, isGone = false) {
    super(message);
    this.isGone = isGone;
  }
}

/** What becomes of a message that was not sent. */
export type Outcome =
  | { readonly kind: 'again'; readonly afterSeconds: number }
  | { readonly kind: 'given up'; readonly fault: 'none' | 'message' | 'gone' };

// A server that restarts, one that makes strangers wait (greylisting asks for some minutes), one that is away for the night.
const waits = [60, 300, 1_800, 7_200, 14_400] as const;

/** @param attempts that were made, 1 or more */
export function outcomeOf(error: unknown, attempts: number): Outcome {
  if (error instanceof MailRefusedError) {
    return { kind: 'given up', fault: error.isUnknownAddress ? 'gone' : 'message' };
  }
  if (error instanceof MailAddressError) return { kind: 'given up', fault: 'gone' };
  if (error instanceof DeliveryError && error.fault !== 'passing') {
    return { kind: 'given up', fault: error.fault === 'message' ? 'message' : 'gone' };
  }
  if (error instanceof NotTakenError && error.isGone) return { kind: 'given up', fault: 'gone' };
  const afterSeconds = waits[attempts - 1];
  if (afterSeconds !== undefined) {
    const askedSeconds = error instanceof DeliveryError ? Math.ceil((error.retryAfterMs ?? 0) / 1_000) : 0;
    return {
      kind: 'again',
      afterSeconds: Math.max(afterSeconds, Math.min(askedSeconds, waits[waits.length - 1] ?? 0)),
    };
  }
  // A mail server that cannot be reached is the operator's, and says nothing of who reads mail there.
  return {
    kind: 'given up',
    fault: error instanceof NotTakenError || error instanceof DeliveryError ? 'message' : 'none',
  };
}
