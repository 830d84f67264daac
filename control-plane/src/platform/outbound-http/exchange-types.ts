import type { KeptConnections } from './kept-connections.ts';

/** One request. Times, addresses and limits are the client's. */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, http or https, without user information. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** An object is sent as JSON, URLSearchParams as a form, text and bytes as they are. */
  readonly body?: unknown;
};

/** What came back. */
export type OutboundResponse = {
  readonly status: number;
  /** Names in lower case; a name that came more than once is joined by commas. Cookies are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** As UTF-8, cut at 64 KiB; empty where the body was compressed, which was not asked for. */
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
};

/** A step of an exchange, as it is shown to whoever tries a channel. */
export type OutboundStep = {
  readonly name: 'resolve' | 'connect' | 'tls' | 'request' | 'response';
  readonly ok: boolean;
  /** Milliseconds, with one decimal. */
  readonly durationMs: number;
  readonly detail: string;
};

export type ExchangeOptions = {
  /** Everything together, from the call to the last byte that is read; milliseconds, 1 to 30,000. */
  readonly timeoutMs: number;
  readonly onStep?: ((step: OutboundStep) => void) | undefined;
  /** Where connections are kept for the next exchange, and whose they are; absent: each exchange has one of its own. */
  readonly keep?: { readonly connections: KeptConnections; readonly name: string } | undefined;
};
