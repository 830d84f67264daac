import { Problem, problems } from '@parallax/api-contract';
import type { InputError, ProblemCode } from '@parallax/api-contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';

/** Turns whatever was thrown into problem+json (RFC 9457); what is not the client's fault is logged and told in general words. */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: { readonly publicUrl: string },
): FastifyReply {
  const problem = problemOf(error);
  if (problem.status >= 500 && problem.code !== 'busy') request.log.error({ err: error, request_id: request.id }, 'request failed');
  if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(Math.ceil(problem.retryAfterSeconds)));
  else if (problem.status === 503) void reply.header('retry-after', '5');
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer realm="parallax"');
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .serializer((body: unknown) => JSON.stringify(body))
    .send({
      type: `${options.publicUrl}/docs/problems#${problem.code}`,
      title: problems[problem.code].title,
      status: problem.status,
      detail: problem.message,
      code: problem.code,
      request_id: request.id,
      ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const where = ({ body: 'body', querystring: 'query', params: 'path', headers: 'header' } as const)[
      (error.validationContext ?? 'body') as 'body' | 'querystring' | 'params' | 'headers'
    ];
    const errors: InputError[] = error.validation.map((issue) => ({
      in: where,
      path: issue.instancePath,
      code: issue.keyword,
      message: issue.message ?? 'not valid',
    }));
    return new Problem('invalid_input', `the ${where} is not valid: ${errors[0]?.path ?? ''} ${errors[0]?.message ?? ''}`, { errors });
  }
  const status = statusOf(error);
  const code = byFrameworkStatus.get(status);
  if (code !== undefined) return new Problem(code, error instanceof Error ? error.message : problems[code].title);
  return new Problem('internal', 'something went wrong on our side; it has been logged under this request_id', { cause: error });
}

const byFrameworkStatus = new Map<number, ProblemCode>([
  [400, 'invalid_input'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [413, 'payload_too_large'],
  [414, 'uri_too_long'],
  [415, 'unsupported_media_type'],
  [503, 'unavailable'],
]);

function statusOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
}
