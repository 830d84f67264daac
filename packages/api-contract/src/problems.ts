import { inputErrors } from './input-errors.ts';
import type { InputError, InputErrorCode, InputPath } from './input-errors.ts';

/**
 * Every error that the API gives, by its stable code: `type` of the answer is `<public URL>/docs/problems#<code>`.
 * Shape: RFC 9457 (problem details).
 */
export const problems = {
  bad_request: { status: 400, title: 'The request is not valid HTTP' },
  unauthenticated: { status: 401, title: 'Credentials are missing' },
  invalid_credentials: { status: 401, title: 'Credentials are not valid' },
  mfa_required: { status: 401, title: 'A second factor is needed' },
  invalid_second_factor: { status: 401, title: 'The second factor is not valid' },
  password_required: { status: 401, title: 'The page can be read with a password or a link only' },
  token_expired: { status: 401, title: 'The access token has expired' },
  forbidden: { status: 403, title: 'Not allowed with this role' },
  wrong_credential_kind: { status: 403, title: 'This kind of credential is not accepted here' },
  read_only_key: { status: 403, title: 'The key or token is read-only' },
  scope_missing: { status: 403, title: 'The scopes of the token do not cover this' },
  recent_sign_in_required: { status: 403, title: 'A recent sign-in is needed' },
  address_unconfirmed: { status: 403, title: 'The mail address of the account is not confirmed' },
  registration_closed: { status: 403, title: 'Registration is closed' },
  setup_token_required: { status: 403, title: 'The first registration needs the set-up token' },
  invite_other_address: { status: 403, title: 'The invitation is for another address' },
  not_found: { status: 404, title: 'Not found' },
  invite_unknown: { status: 404, title: 'There is no such invitation' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'Conflict with the present state' },
  name_taken: { status: 409, title: 'The name is taken' },
  slug_taken: { status: 409, title: 'The slug is taken' },
  domain_unproven: { status: 409, title: 'The domain is not proven' },
  domain_taken: { status: 409, title: 'The domain belongs to another page' },
  too_many_webhook_checks: { status: 409, title: 'The workspace has as many webhook checks as it may have' },
  too_many_webhooks: { status: 409, title: 'The workspace has as many webhooks as it may have' },
  too_many_scheduled_reports: { status: 409, title: 'The workspace has as many scheduled reports as it may have' },
  too_many_status_pages: { status: 409, title: 'The workspace has as many status pages as it may have' },
  too_many_incident_templates: {
    status: 409,
    title: 'The workspace has as many templates of incidents as it may have',
  },
  too_many_subscribers: { status: 409, title: 'The plan has no place for so many subscribers' },
  already_running: { status: 409, title: 'It is running already' },
  already_retried: { status: 409, title: 'The delivery is being tried again already' },
  already_resolved: { status: 409, title: 'The delivery is resolved already' },
  webhook_inactive: { status: 409, title: 'The webhook is switched off' },
  too_many_channels: { status: 409, title: 'The plan has no place for another alert channel' },
  channel_configured: { status: 409, title: 'The channel is configured already' },
  too_many_alerts: { status: 409, title: 'The workspace has as many alerts as it may have' },
  too_many_heartbeats: { status: 409, title: 'The workspace has as many heartbeats as it may have' },
  email_taken: { status: 409, title: 'The address has an account' },
  owns_shared_workspaces: { status: 409, title: 'Others are members of an own workspace' },
  invite_used: { status: 409, title: 'The invitation was used' },
  invite_expired: { status: 409, title: 'The invitation has expired' },
  account_exists: { status: 409, title: 'An account has this address and must be linked from inside' },
  identity_taken: { status: 409, title: 'The identity is linked to another account' },
  last_administrator: { status: 409, title: 'It is the last administrator of the installation' },
  last_way_in: { status: 409, title: 'It is the last way into the account' },
  idempotency_key_in_use: { status: 409, title: 'A request with this idempotency key is under way' },
  version_mismatch: { status: 412, title: 'The resource has changed' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  misdirected_request: { status: 421, title: 'The request is for another host' },
  invalid_input: { status: 422, title: 'The request is not valid' },
  invalid_json: { status: 422, title: 'The body is not valid JSON' },
  read_only: { status: 422, title: 'A read-only field would change' },
  invalid_token: { status: 422, title: 'The token is not valid' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key belongs to another request' },
  secret_missing: { status: 422, title: 'A secret that the check needs is missing' },
  too_many_tags: { status: 422, title: 'A monitor would have too many tags' },
  interval_below_plan: { status: 422, title: 'The interval is below the minimum of the plan' },
  range_too_large: { status: 422, title: 'The range holds too much' },
  too_wide: { status: 422, title: 'The question spans more than is answered at once' },
  contrast_too_low: { status: 422, title: 'A colour can hardly be told from what lies behind it' },
  no_probe_able: { status: 422, title: 'No probe can run this check' },
  target_denied: { status: 422, title: 'The target may not be reached' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Not available at present' },
  provider_unavailable: { status: 503, title: 'The identity provider does not answer' },
  probe_unreachable: { status: 503, title: 'No probe could be reached' },
  busy: { status: 503, title: 'Too busy at present' },
  deadline_exceeded: { status: 504, title: 'Took too long' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** Thrown by handlers; the HTTP layer makes it `application/problem+json`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly InputError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Further members of the answer (RFC 9457, section 3.2), which the problem's schema names. */
  readonly extensions: Readonly<Record<string, unknown>> | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    more: {
      errors?: readonly InputError[];
      retryAfterSeconds?: number;
      extensions?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.errors = more.errors ?? wholeInput(code, detail);
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.extensions = more.extensions;
  }

  get status(): number {
    return problems[this.code].status;
  }
}

/** Every 422 lists what is wrong: where nothing smaller can be named, the body as a whole. */
function wholeInput(code: ProblemCode, message: string): readonly InputError[] | undefined {
  if (problems[code].status !== 422) return undefined;
  return [{ in: 'body', path: '', code: isInputError(code) ? code : 'invalid_input', message }];
}

function isInputError(code: string): code is InputErrorCode {
  return Object.hasOwn(inputErrors, code);
}

/** A 422 for one field. */
export function invalidInput(where: InputError['in'], path: InputPath, code: InputErrorCode, message: string): Problem {
  return new Problem('invalid_input', message, { errors: [{ in: where, path, code, message }] });
}
