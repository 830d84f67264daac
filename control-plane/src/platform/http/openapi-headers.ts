import type { RouteContract } from '@parallax/api-contract';

/** A JSON object of the document. */
type Node = Record<string, unknown>;

const text: Node = { type: 'string' };

/** Headers of answers, by name. */
export const answerHeaders: Readonly<Record<string, Node>> = {
  Allow: { description: 'The methods that the path takes.', schema: text },
  'Content-Disposition': { description: 'The name of the file (RFC 6266).', schema: text },
  ETag: { description: 'The version, for `If-Match`.', schema: { ...text, pattern: '^"[0-9]+"$' } },
  'Idempotency-Replayed': {
    description: '`true`: the answer of an earlier request under the same `Idempotency-Key`.',
    schema: { ...text, enum: ['true'] },
  },
  Link: { description: 'The next page, with `rel="next"` (RFC 8288).', schema: text },
  Location: { description: 'Where to go, or where the new resource is.', schema: text },
  RateLimit: {
    description: 'What is left of the rate that leaves least, and until when (draft-ietf-httpapi-ratelimit-headers).',
    schema: text,
  },
  'RateLimit-Policy': { description: 'The rates that the request was counted by.', schema: text },
  'Retry-After': { description: 'After how many seconds to try again.', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': { description: 'Which credentials are taken (RFC 6750).', schema: text },
  'X-Request-Id': { description: 'The request as the log knows it.', schema: { ...text, format: 'uuid' } },
};

/** References to headers of answers. */
export function headersNamed(names: readonly string[]): Node {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers that an error may have beside its body. */
export function headersOfError(status: number): readonly string[] {
  const more: Readonly<Record<number, readonly string[]>> = {
    401: ['WWW-Authenticate'],
    405: ['Allow'],
    409: ['Retry-After'],
    429: ['Retry-After'],
    503: ['Retry-After'],
  };
  // Credentials and rates are judged before anything else.
  return ['RateLimit', 'RateLimit-Policy', ...(more[status] ?? []), 'X-Request-Id'];
}

/** Headers of requests that some routes read, as parameters. */
const requestHeaders: Readonly<Record<string, Node>> = {
  'If-Match': {
    description: 'The version that the change is about, as its `ETag` has it; 412 when it is another one by now.',
    schema: text,
  },
  // Printable ASCII.
  'Idempotency-Key': {
    description:
      'The request is done once in 24 hours for each key, user and route, however often it is sent: the same request again gets the same answer, with ' +
      '`Idempotency-Replayed: true`. 409 while the first is under way, 422 for another request under the same key. A request that was refused or has ' +
      'failed leaves the key free.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  },
  'Last-Event-ID': { description: 'The `id` of the last event that was received.', schema: text },
  'X-Invite-Token': { description: 'An invitation, which a new account uses up.', schema: text },
};

/** Parameters of the headers that a route reads. */
export function headerParameters(contract: RouteContract): readonly Node[] {
  const names = [
    ...(contract.errors?.includes(412) === true ? ['If-Match'] : []),
    ...(contract.idempotent === true ? ['Idempotency-Key'] : []),
    ...(contract.requestHeaders ?? []),
  ];
  return names.map((name) => ({ name, in: 'header', required: false, ...requestHeaders[name] }));
}
