/**
 * What a failed sending means for what comes next.
 * `passing`: try again. `message`: this message will never be taken, the next one may. `target`: this address is gone or wrong, nothing will
 * arrive there. `configuration`: the credentials were refused, nothing will arrive anywhere.
 */
export type DeliveryFault = 'passing' | 'message' | 'target' | 'configuration';

/** Codes are stable and documented: histories, traces and tests name them. */
export const deliveryErrorCodes = [
  'address_denied',
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timeout',
  'answer_too_slow',
  'rate_limited',
  'unexpected_status',
  'unexpected_answer',
  'redirected',
  'refused_credentials',
  'unknown_target',
  'refused_message',
  'service_unavailable',
  'not_configured',
  'target_not_confirmed',
  'internal',
] as const;
export type DeliveryErrorCode = (typeof deliveryErrorCodes)[number];

/** Why a message was not delivered. The text is shown to the owner of the configuration: it says what happened and what to do, without secrets. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: DeliveryErrorCode;
  readonly fault: DeliveryFault;
  /** What the service asked to wait, milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(code: DeliveryErrorCode, fault: DeliveryFault, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether trying the same again cannot help. */
  get permanent(): boolean {
    return this.fault !== 'passing';
  }
}
