/** Why an exchange gave no answer that could be read. Stable: callers map them to their own codes. */
export type OutboundErrorCode =
  | 'invalid_request'
  | 'address_denied'
  | 'dns_failed'
  | 'connect_failed'
  | 'tls_failed'
  | 'timeout'
  | 'answer_too_slow'
  | 'unexpected_answer'
  | 'redirected'
  | 'internal';

/** An exchange that failed. The text is for people and holds neither path nor query of the address, nor any header. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** The status of an answer that was refused, such as a redirect. */
  readonly status: number | undefined;

  constructor(code: OutboundErrorCode, message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
