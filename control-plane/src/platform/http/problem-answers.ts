import { Problem, problems } from '@parallax/api-contract';
import type { ProblemCode } from '@parallax/api-contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseAway } from './database-faults.ts';

/** Media type of every error (RFC 9457). */
export const problemMediaType = 'application/problem+json';

const retryAfterSeconds = 5;

/**
 * Turns whatever was thrown into problem+json; what is not the client's fault is logged and told in general words, so that no
 * stack, statement or path of ours leaves the process.
 */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: { readonly publicUrl: string },
): FastifyReply {
  const problem = problemOf(error);
  if (problem.status >= 500 && problem.code !== 'busy') {
    request.log.error(
      { err: error, request_id: request.id, method: request.method, route: request.routeOptions.url },
      'request failed',
    );
  }
  for (const [name, value] of Object.entries(problemHeaders(problem))) void reply.header(name, value);
  return reply
    .code(problem.status)
    .type(problemMediaType)
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem, request.id, options.publicUrl));
}

/** Headers that belong to a problem beside its body. */
export function problemHeaders(problem: Problem): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (problem.retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(problem.retryAfterSeconds));
  else if (problem.status === 503) headers['retry-after'] = String(retryAfterSeconds);
  if (problem.code === 'password_required') {
    headers['www-authenticate'] = 'Basic realm="parallax", charset="UTF-8"';
  } else if (problem.status === 401) {
    // RFC 6750, section 3: no error code when the request carried no credentials.
    headers['www-authenticate'] =
      problem.code === 'unauthenticated' ? 'Bearer realm="parallax"' : 'Bearer realm="parallax", error="invalid_token"';
  }
  // The rest of such a request is not read.
  if ([400, 408, 413, 431].includes(problem.status)) headers['connection'] = 'close';
  return headers;
}

/** The body of an error, ready to be written. */
export function problemBody(problem: Problem, requestId: string, publicUrl: string): Record<string, unknown> {
  return {
    type: `${publicUrl}/docs/problems#${problem.code}`,
    title: problems[problem.code].title,
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    request_id: requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.extensions,
  };
}

/** What a request is told of an error: itself when it is a `Problem`, else the one that fits. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseAway(error)) {
    return new Problem('unavailable', 'the database is not available at present; try again', {
      retryAfterSeconds,
      cause: error,
    });
  }
  const [code, detail] = frameworkProblems[codeOf(error)] ?? byFrameworkStatus(error) ?? [];
  if (code !== undefined) return new Problem(code, detail ?? problems[code].title, { cause: error });
  return new Problem('internal', 'something went wrong on our side; it has been logged under this request_id', {
    cause: error,
  });
}

// Fastify's own errors in our words: its texts repeat input and name its internals.
const frameworkProblems: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_BAD_URL: ['not_found', 'the path is not validly percent-encoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'a part of the path is too long'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'the body is larger than this route takes'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'send application/json in UTF-8'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'the body has another length than its Content-Length says'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_json', 'the body is empty'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'the body is not valid JSON'],
};

function byFrameworkStatus(error: unknown): readonly [ProblemCode, string?] | undefined {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500;
  const code = codeByStatus.get(status);
  return code === undefined ? undefined : [code];
}

const codeByStatus = new Map<number, ProblemCode>([
  [400, 'bad_request'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'payload_too_large'],
  [414, 'uri_too_long'],
  [415, 'unsupported_media_type'],
  [503, 'unavailable'],
]);

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
