/**
 * Every error that the API gives, by its stable code: `type` of the answer is `<public URL>/docs/problems#<code>`.
 * Shape: RFC 9457 (problem details).
 */
export const problems = {
  bad_request: { status: 400, title: 'The request is not valid HTTP' },
  unauthenticated: { status: 401, title: 'Credentials are missing' },
  invalid_credentials: { status: 401, title: 'Credentials are not valid' },
  token_expired: { status: 401, title: 'The access token has expired' },
  forbidden: { status: 403, title: 'Not allowed with this role' },
  wrong_credential_kind: { status: 403, title: 'This kind of credential is not accepted here' },
  read_only_key: { status: 403, title: 'The API key is read-only' },
  registration_closed: { status: 403, title: 'Registration is closed' },
  setup_token_required: { status: 403, title: 'The first registration needs the set-up token' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'Conflict with the present state' },
  name_taken: { status: 409, title: 'The name is taken' },
  email_taken: { status: 409, title: 'The address has an account' },
  version_mismatch: { status: 412, title: 'The resource has changed' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  invalid_input: { status: 422, title: 'The request is not valid' },
  invalid_json: { status: 422, title: 'The body is not valid JSON' },
  interval_below_plan: { status: 422, title: 'The interval is below the minimum of the plan' },
  no_probe_able: { status: 422, title: 'No probe can run this check' },
  target_denied: { status: 422, title: 'The target may not be reached' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Not available at present' },
  probe_unreachable: { status: 503, title: 'No probe could be reached' },
  busy: { status: 503, title: 'Too busy at present' },
  deadline_exceeded: { status: 504, title: 'Took too long' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** One thing that is wrong with the input of a request. */
export type InputError = {
  readonly in: 'body' | 'query' | 'path' | 'header';
  /** JSON pointer or parameter name. */
  readonly path: string;
  readonly code: string;
  readonly message: string;
};

/** Thrown by handlers; the HTTP layer makes it `application/problem+json`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly InputError[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    more: { errors?: readonly InputError[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  get status(): number {
    return problems[this.code].status;
  }
}

/** A 422 for one field. */
export function invalidInput(where: InputError['in'], path: string, code: string, message: string): Problem {
  return new Problem('invalid_input', message, { errors: [{ in: where, path, code, message }] });
}
