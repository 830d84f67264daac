import type { RouteContract } from '@parallax/api-contract';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { answerFor } from './prepared/prepared-answer.ts';
import type { AskedForm, PreparedHeaders } from './prepared/prepared-answer.ts';
import { AlternativeAnswer, JsonText, OtherText, PageAnswer, PreparedResult } from './handler.ts';

/** An answer ready to be sent. */
export type EncodedAnswer = {
  readonly status: number;
  readonly contentType?: string | undefined;
  /** Beside those that every answer has; null: such a one is left out. */
  readonly headers?: PreparedHeaders;
  /** Text, bytes or a stream; undefined for no body. */
  readonly payload: unknown;
};

const json = 'application/json; charset=utf-8';

/** Makes the answer of what a handler gave back. Only what the contract names leaves the process: a column that was read too much stays here. */
export function encodeAnswer(contract: RouteContract, result: unknown, asked?: AskedForm): EncodedAnswer {
  if (result instanceof PreparedResult) {
    const { status, headers, body } = answerFor(
      result.prepared,
      asked ?? { ifNoneMatch: undefined, acceptEncoding: undefined },
    );
    return { status, headers, payload: body };
  }
  const { status, answer, contentType } = contract.success;
  if (answer === undefined) return { status, payload: undefined };
  if (result instanceof JsonText) return { status, contentType: json, payload: result.text };
  if (result instanceof OtherText) return { status, contentType: result.contentType, payload: result.text };
  if (result instanceof PageAnswer) {
    if (contract.pages?.includes(result.status) === true)
      return { status: result.status, contentType, payload: result.html };
    throw new Error(`${contract.method} ${contract.path} has no page for ${result.status}`);
  }
  if (result instanceof AlternativeAnswer) {
    const other = contract.alternative?.status ?? status;
    if (result.answer instanceof OtherText) {
      return { status: other, contentType: result.answer.contentType, payload: result.answer.text };
    }
    const payload = contentType === undefined ? encode(contract, answer, result.answer) : result.answer;
    return { status: other, contentType: contentType ?? json, payload };
  }
  if (contentType !== undefined) return { status, contentType, payload: result };
  return { status, contentType: json, payload: encode(contract, answer, result) };
}

export function sendAnswer(
  reply: FastifyReply,
  { status, contentType, headers = {}, payload }: EncodedAnswer,
): FastifyReply {
  void reply.code(status);
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) void reply.removeHeader(name);
    else void reply.header(name, value);
  }
  if (contentType !== undefined) void reply.type(contentType);
  return payload === undefined ? reply.send() : reply.send(payload);
}

function encode(contract: RouteContract, schema: z.ZodType, value: unknown): string {
  const encoded = z.safeEncode(schema, value);
  if (encoded.success) return JSON.stringify(encoded.data);
  throw new Error(
    `the answer of ${contract.method} ${contract.path} does not fit its contract: ${z.prettifyError(encoded.error)}`,
  );
}
