import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Client, type Dispatcher, errors } from 'undici';
import { encodeBody, parseJson } from './body.ts';
import { type ConnectionParts, openConnection, rounded } from './open-connection.ts';
import { OutboundError } from './outbound-error.ts';
import type { ExchangeOptions, OutboundRequest, OutboundResponse, OutboundStep } from './exchange-types.ts';

/** Of an answer so much is read; the connection is closed then. */
const maxBodyBytes = 65_536;
/** Status line and header fields together. */
const maxHeaderBytes = 16_384;
const connectMs = 5_000;

/**
 * One exchange over a connection of its own, without redirects, cookies, proxies or compression.
 * @throws OutboundError for everything but an answer; nothing else that the other side can bring about
 */
export async function exchange(
  request: OutboundRequest,
  options: ExchangeOptions,
  parts: ConnectionParts,
): Promise<OutboundResponse> {
  const end = performance.now() + options.timeoutMs;
  const step = options.onStep ?? (() => undefined);
  const url = readUrl(request.url);
  const socket = await openConnection(url, parts, Math.min(connectMs, options.timeoutMs), step);
  const client = new Client(url.origin, {
    // The connection is made already, to the address that was judged.
    connect: (_options, callback) => queueMicrotask(() => callback(null, socket)),
    pipelining: 1,
    maxHeaderSize: maxHeaderBytes,
    // One deadline for all of it, below.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), Math.max(1, end - performance.now()));
  try {
    return await converse({ request, url, client, signal: abort.signal, step, userAgent: parts.userAgent });
  } finally {
    clearTimeout(timer);
    client.destroy().catch(() => undefined);
    hangUp(socket);
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

async function converse({ request, url, client, signal, step, userAgent }: Conversation): Promise<OutboundResponse> {
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
  const text = await readText(answer, headers, url, signal).catch((error: OutboundError) =>
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
  return { status: answer.statusCode, headers, text, json: parseJson(text) };
}

/** @throws OutboundError */
async function readText(
  answer: Dispatcher.ResponseData,
  headers: Readonly<Record<string, string>>,
  url: URL,
  signal: AbortSignal,
): Promise<string> {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    // Nobody asked for it, and a small answer may open to a huge one.
    answer.body.on('error', () => undefined).destroy();
    return '';
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
  return Buffer.concat(pieces).toString('utf8');
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

function hangUp(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
}
