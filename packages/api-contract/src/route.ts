import type { z } from 'zod';

/**
 * Which credentials a route takes:
 * `none`; `bearer` an access token; `key-or-bearer` an `X-API-Key` or an access token; `bearer-or-none` works without and does more with;
 * `secret-header` the `X-Secret` of a heartbeat.
 */
export type Credentials = 'none' | 'bearer' | 'key-or-bearer' | 'bearer-or-none' | 'secret-header';

/** One route of the REST API: what the server registers, the OpenAPI document describes, and clients are typed by. */
export type RouteContract<
  Params extends z.ZodType | undefined = z.ZodType | undefined,
  Query extends z.ZodType | undefined = z.ZodType | undefined,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Answer extends z.ZodType | undefined = z.ZodType | undefined,
  Access extends Credentials = Credentials,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Fastify form: `/api/v1/monitors/:monitor_id`. */
  readonly path: string;
  readonly credentials: Access;
  /** The token that it may be sent stands in the description alone, for the specification of the route names no credentials. */
  readonly isTokenUnlisted?: true;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** In place of a JSON body: a file, as the body itself or as the first file of a form. */
  readonly file?: FileBody;
  /** In place of a JSON body: bytes of any type, or none. */
  readonly bytes?: BytesBody;
  /** The success status and its body; no schema for 204. */
  readonly success: {
    readonly status: 200 | 201 | 202 | 204 | 303 | 307;
    readonly answer?: Answer;
    readonly contentType?: string;
    /** What a client may ask for in place of it, by media type. */
    readonly others?: Readonly<Record<string, z.ZodType>>;
    /** Headers of the answer beside those that follow from the contract: of rates, versions and new resources. */
    readonly headers?: readonly ('Content-Disposition' | 'ETag' | 'Link')[];
  };
  /** Another status that carries the very same body, such as 503 of a health route, 201 of a signal that has made its heartbeat, or 404 of a page. */
  readonly alternative?: { readonly status: 200 | 201 | 404 | 503; readonly description: string };
  /** Error statuses whose body is a page of the success's media type, written for people. */
  readonly pages?: readonly number[];
  /** Error statuses beside 401, 422, 429 and 503, which every route may give. */
  readonly errors?: readonly number[];
  /**
   * For a PATCH or PUT: fields of the answer that change without a new version. A body may repeat what it cannot write as long as it equals what
   * the GET of the same path answers; these may be out of date where the body repeats the stored `version`.
   */
  readonly measured?: readonly string[];
  /** Headers that it reads beside credentials, `If-Match` where 412 is among the errors, and `Idempotency-Key`. */
  readonly requestHeaders?: readonly ('Last-Event-ID' | 'X-Invite-Token')[];
  /** Takes the header `Idempotency-Key`: the same request under the same key is done once in a day. For POSTs that create, with credentials. */
  readonly idempotent?: boolean;
  /** Requests per minute and client address, beside the plan's rate. */
  readonly perAddressPerMinute?: number;
};

/** Which files a route takes. */
export type FileBody = {
  /** Media types without parameters; `multipart/form-data` is a form. */
  readonly types: readonly string[];
  /** The size of the whole body. */
  readonly maxBytes: number;
};

/** How much of a body is taken: a larger one is refused with 413, or cut where only its beginning is wanted. */
export type BytesBody =
  | { readonly maxBytes: number }
  | {
      /** What handlers are given, at most. */
      readonly keptBytes: number;
      /** What they are given even while many long bodies are held in memory; absent: as much as `keptBytes`. */
      readonly certainBytes?: number;
      /** What is read, at most: a body that goes on is answered without being read to its end, and its connection closed. */
      readonly readBytes: number;
    };

/** Keeps the literal types of a contract. */
export function route<
  Params extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
  Access extends Credentials = Credentials,
>(contract: RouteContract<Params, Query, Body, Answer, Access>): RouteContract<Params, Query, Body, Answer, Access> {
  return contract;
}

// In tuples, so that `never` (no schema) is not distributed away.
type Output<Schema> = [Schema] extends [never] ? undefined : Schema extends z.ZodType ? z.output<Schema> : undefined;
type AnswerInput<Schema> = [Schema] extends [never] ? void : Schema extends z.ZodType ? z.input<Schema> : void;

/** What a handler is given: validated, with defaults applied. */
export type InputOf<Contract extends RouteContract> = {
  readonly params: Output<NonNullable<Contract['params']>>;
  readonly query: Output<NonNullable<Contract['query']>>;
  readonly body: Output<NonNullable<Contract['body']>>;
};

/** What a handler gives back: the success body before serialisation. */
export type AnswerOf<Contract extends RouteContract> = AnswerInput<NonNullable<Contract['success']['answer']>>;
