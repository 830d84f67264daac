import type { AnswerOf, InputOf, RouteContract } from '@parallax/api-contract';
import type { FastifyReply } from 'fastify';
import type { GivenBytes } from './bytes-body.ts';
import type { Caller } from './caller.ts';
import type { GivenFile } from './file-body.ts';
import type { PreparedAnswer } from './prepared/prepared-answer.ts';

/** What a handler may know of its request beside its validated input. */
export type RequestFacts = {
  readonly requestId: string;
  /** The client's address, behind trusted proxies the forwarded one. */
  readonly remoteAddress: string;
  /** True when the client is a program of this machine and no proxy stands between. */
  readonly isFromThisMachine: boolean;
  readonly userAgent: string | undefined;
  readonly header: (name: string) => string | undefined;
  /** For headers beside the body (`ETag`, `Location`, `Content-Disposition`). */
  readonly reply: FastifyReply;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Who calls by what the database says now, for an answer that lasts. Throws `Problem` when the credentials are good no more. */
  readonly callerNow: () => Promise<Caller | undefined>;
};

export type HandlerInput<Contract extends RouteContract> = InputOf<Contract> & {
  /** Present where the contract asks for credentials; on `bearer-or-none` only when they were given. */
  readonly caller: Contract['credentials'] extends 'bearer' | 'key-or-bearer' ? Caller : Caller | undefined;
  /** Present where the contract takes a file. */
  readonly file: Contract['file'] extends undefined ? undefined : GivenFile;
  /** The body, or its beginning, where the contract takes bytes; undefined for none. */
  readonly bytes: GivenBytes | undefined;
  readonly request: RequestFacts;
};

/** A success body that is JSON text already, such as a page built by one SQL statement. Sent as it is, so it must hold no more than the contract names. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A success body of another media type than the contract's, which the client asked for. Sent as it is. */
export class OtherText {
  readonly text: string;
  readonly contentType: string;

  constructor(text: string, contentType: string) {
    this.text = text;
    this.contentType = contentType;
  }
}

/** The success body under the other status that the contract names as its alternative. */
export class AlternativeAnswer<Answer> {
  readonly answer: Answer | OtherText;

  constructor(answer: Answer | OtherText) {
    this.answer = answer;
  }
}

/** A page for people under a status that is an error; the contract names the statuses. */
export class PageAnswer {
  readonly status: number;
  readonly html: string;

  constructor(status: number, html: string) {
    this.status = status;
    this.html = html;
  }
}

/** An answer that is made once and sent to many: its status and headers are its own. */
export class PreparedResult {
  readonly prepared: PreparedAnswer;

  constructor(prepared: PreparedAnswer) {
    this.prepared = prepared;
  }
}

/** A contract with what answers it. */
export type Route = {
  readonly contract: RouteContract;
  readonly handler: (input: HandlerInput<RouteContract>) => Promise<unknown>;
};

/** Binds a handler to its contract; the types of input and answer come from the contract. */
export function handle<Contract extends RouteContract>(
  contract: Contract,
  handler: (
    input: HandlerInput<Contract>,
  ) => Promise<
    AnswerOf<Contract> | JsonText | OtherText | AlternativeAnswer<AnswerOf<Contract>> | PageAnswer | PreparedResult
  >,
): Route {
  // One cast for the whole API: the server validates input by this very contract before the handler sees it.
  return { contract, handler: handler as unknown as Route['handler'] };
}
