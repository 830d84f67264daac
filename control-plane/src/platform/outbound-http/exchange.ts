import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Client, type Dispatcher, errors } from 'undici';
import { encodeBody, parseJson } from './body.ts';
import { drop } from './kept-connections.ts';
import type { Connection } from './kept-connections.ts';
import { type ConnectionParts, openConnection, portOf, rounded } from './open-connection.ts';
import { OutboundError } from './outbound-error.ts';
import type { ExchangeOptions, OutboundRequest, OutboundResponse, OutboundStep } from './exchange-types.ts';

/** Of an answer so much is read; the connection is closed then. */
const maxBodyBytes = 65_536;
/** Status line and header fields together. */
const maxHeaderBytes = 16_384;
const connectMs = 5_000;
/** So long a connection that is kept waits for the next exchange; the other side may ask for less. */
const keptMs = 4_000;

/**
 * One exchange, without redirects, cookies, proxies or compression: over a connection of its own, or over one that was kept where the caller keeps some.
 * A kept one that turns out to be closed is no answer: the request goes over a new one, so what is sent that way must bear a repetition.
 * @throws OutboundError for everything but an answer; nothing else that the other side can bring about
 */
export async function exchange(
  request: OutboundRequest,
  options: ExchangeOptions,
  parts: ConnectionParts,
): Promise<OutboundResponse> {
  const end = performance.now() + options.timeoutMs;
  const url = readUrl(request.url);
  const asked: Asked = { request, url, end, step: options.onStep ?? (() => undefined), userAgent: parts.userAgent };
  const name = `${url.origin} ${options.keep?.name ?? ''}`;
  const kept = options.keep?.connections.take(name);
  if (kept !== undefined && mayBeUsed(kept, url, parts)) {
    try {
      return await exchangeOver(kept, name, asked, options);
    } catch (error) {
      if (!(error instanceof OutboundError) || error.code !== 'connect_failed') throw error;
    }
  } else if (kept !== undefined) drop(kept);
  const limitMs = Math.max(1, Math.min(connectMs, end - performance.now()));
  const socket = await openConnection(url, parts, limitMs, asked.step);
  return exchangeOver(connectionOver(socket, url), name, asked, options);
}

/** What was judged when it was made may be denied since. */
function mayBeUsed({ socket }: Connection, url: URL, parts: ConnectionParts): boolean {
  return socket.remoteAddress !== undefined && parts.addresses.judge(socket.remoteAddress, portOf(url)) === undefined;
}

function connectionOver(socket: Socket, url: URL): Connection {
  let isUsed = false;
  const client = new Client(url.origin, {
    // The connection is made already, to the address that was judged; there is no second one.
    connect: (_options, callback) => {
      if (isUsed) return callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null);
      isUsed = true;
      return queueMicrotask(() => callback(null, socket));
    },
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keptMs,
    keepAliveMaxTimeout: keptMs,
    // One deadline for all of it, below.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return { client, socket, madeMs: performance.now() };
}

type Asked = {
  readonly request: OutboundRequest;
  readonly url: URL;
  /** By `performance.now()`. */
  readonly end: number;
  readonly step: (step: OutboundStep) => void;
  readonly userAgent: string;
};

async function exchangeOver(
  connection: Connection,
  name: string,
  { end, ...asked }: Asked,
  { keep }: ExchangeOptions,
): Promise<OutboundResponse> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), Math.max(1, end - performance.now()));
  let isWhole = false;
  try {
    const answer = await converse({ ...asked, client: connection.client, signal: abort.signal });
    ({ isWhole } = answer);
    return answer.response;
  } finally {
    clearTimeout(timer);
    if (isWhole && keep !== undefined) keep.connections.give(name, connection);
    else drop(connection);
  }
}

type Conversation = {
  readonly request: OutboundRequest;
  readonly url: URL;
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly step: (step: OutboundStep) => void;
  readonly userAgent: string;
};

/** An answer, and whether all of it was read, so that another may follow. */
type Answered = { readonly response: OutboundResponse; readonly isWhole: boolean };

async function converse({ request, url, client, signal, step, userAgent }: Conversation): Promise<Answered> {
  const started = performance.now();
  const body = encodeBody(request.body);
  const fail = (name: 'request' | 'response', since: number, error: OutboundError): never => {
    step({ name, ok: false, durationMs: rounded(performance.now() - since), detail: error.message });
    throw error;
  };
  let answer: Dispatcher.ResponseData;
  try {
    answer = await client.request({
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: headersOf(request, body?.type, userAgent),
      body: body?.bytes ?? null,
      signal,
      // What was sent is never sent again by itself.
      idempotent: false,
    });
  } catch (error) {
    return fail('request', started, noAnswer(error, url, signal));
  }
  const sent = body === undefined ? 'without a body' : `${body.bytes.length} bytes`;
  step({
    name: 'request',
    ok: true,
    durationMs: rounded(performance.now() - started),
    detail: `${request.method} to ${url.host}, ${sent}`,
  });
  const answered = performance.now();
  const headers = plainHeaders(answer.headers);
  if (answer.statusCode >= 300 && answer.statusCode < 400) {
    answer.body.on('error', () => undefined).destroy();
    const detail = `${url.host} answered ${described(answer.statusCode)}: redirects are not followed, name the final address.`;
    return fail('response', answered, new OutboundError('redirected', detail, answer.statusCode));
  }
  const { text, isWhole } = await readText(answer, headers, url, signal).catch((error: OutboundError) =>
    fail('response', answered, error),
  );
  const ok = answer.statusCode >= 200 && answer.statusCode < 300;
  const said = ok || text === '' ? '' : `: ${oneLine(text)}`;
  step({
    name: 'response',
    ok,
    durationMs: rounded(performance.now() - answered),
    detail: `${described(answer.statusCode)}, ${Buffer.byteLength(text)} bytes${said}`,
  });
  return { response: responseOf(answer.statusCode, headers, text), isWhole };
}

/** The JSON is read when somebody looks at it. */
function responseOf(status: number, headers: Readonly<Record<string, string>>, text: string): OutboundResponse {
  return {
    status,
    headers,
    text,
    get json() {
      return parseJson(text);
    },
  };
}

/** @throws OutboundError */
async function readText(
  answer: Dispatcher.ResponseData,
  headers: Readonly<Record<string, string>>,
  url: URL,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    // Nobody asked for it, and a small answer may open to a huge one.
    answer.body.on('error', () => undefined).destroy();
    return { text: '', isWhole: false };
  }
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, maxBodyBytes - length));
      length += piece.length;
      if (length >= maxBodyBytes) break;
    }
  } catch {
    if (signal.aborted) throw new OutboundError('answer_too_slow', `${url.host} did not finish its answer in time.`);
    throw new OutboundError('unexpected_answer', `${url.host} broke its answer off.`);
  }
  return { text: Buffer.concat(pieces).toString('utf8'), isWhole: length < maxBodyBytes };
}

/** @throws OutboundError */
function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new OutboundError('invalid_request', 'The address is not an http or https URL.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('invalid_request', 'The address holds a user name or a password.');
  }
  return url;
}

function headersOf(request: OutboundRequest, type: string | undefined, userAgent: string): Record<string, string> {
  const given = Object.fromEntries(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    'user-agent': userAgent,
    accept: 'application/json, text/plain, */*',
    'accept-encoding': 'identity',
    ...(type !== undefined && { 'content-type': type }),
    ...given,
  };
}

function plainHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  const all = Object.entries(raw).flatMap(([name, value]) =>
    value === undefined || name === 'set-cookie'
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(all);
}

function noAnswer(error: unknown, url: URL, signal: AbortSignal): OutboundError {
  const host = url.host;
  if (signal.aborted) return new OutboundError('timeout', `${host} did not answer in time.`);
  if (error instanceof errors.HeadersOverflowError) {
    return new OutboundError('unexpected_answer', `${host} sent more than ${maxHeaderBytes} bytes of headers.`);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.RequestContentLengthMismatchError) {
    return new OutboundError('invalid_request', 'The request has a header that cannot be sent.');
  }
  if (error instanceof errors.SocketError) {
    return new OutboundError('connect_failed', `${host} closed the connection before it answered.`);
  }
  if (error instanceof Error && (error.name === 'HTTPParserError' || codeOf(error).startsWith('HPE_'))) {
    return new OutboundError('unexpected_answer', `${host} did not answer with HTTP.`);
  }
  if (error instanceof Error && /^(ECONN|EPIPE|ERR_SSL|ETIMEDOUT)/.test(codeOf(error))) {
    return new OutboundError('connect_failed', `${host} broke the connection off (${codeOf(error)}).`);
  }
  return new OutboundError(
    'internal',
    `The request to ${host} failed (${error instanceof Error ? error.name : 'unknown'}).`,
  );
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function described(status: number): string {
  const words = STATUS_CODES[status];
  return words === undefined ? String(status) : `${status} ${words}`;
}

/** The beginning of a text, for one line: control characters and runs of space are one space. */
function oneLine(text: string): string {
  const line = Array.from(
    text
      .slice(0, 400)
      .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
      .trim(),
  );
  return line.length <= 200 ? line.join('') : `${line.slice(0, 199).join('')}…`;
}
