import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '@parallax/api-contract';
import type { Connections } from './connections.ts';
import { problemBody, problemHeaders, problemMediaType } from './problem-answers.ts';
import { securityHeaders } from './security-headers.ts';

/** Methods that some route may know, for answers given before a route is found. */
export const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** What Node's HTTP parser could not take, as a problem. */
function problemOfParserError(error: ParserError): Problem {
  switch (error.code ?? '') {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'the request line and headers are larger than 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', 'the request did not arrive in time');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload_too_large', 'the chunk extensions are too large');
    case 'HPE_INVALID_METHOD':
      if (!isRequestLine(error)) return new Problem('bad_request', 'the request is not valid HTTP');
      return new Problem('method_not_allowed', 'the method is not known');
    default:
      return new Problem('bad_request', 'the request is not valid HTTP');
  }
}

/** True when the line in which the parser failed begins like a request of HTTP/1 with some method. Good requests may stand before it. */
function isRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (!(rawPacket instanceof Uint8Array)) return false;
  const packet = Buffer.from(rawPacket);
  const from = bytesParsed === 0 ? 0 : packet.lastIndexOf('\n', bytesParsed - 1) + 1;
  return /^[A-Z][A-Z-]* \S+ HTTP\/1\.[01]\r?\n/.test(packet.toString('latin1', from, from + 4_096));
}

/** As Node's server reports it. */
type ParserError = {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
  /** Of `rawPacket`. */
  readonly bytesParsed?: number;
};

/** Connections whose parser has failed, and whose earlier requests are still being answered. */
const refused = new WeakSet<Socket>();

/**
 * Ends a connection on which something came that is no request. Requests that came whole before it are answered first; then stands what was
 * wrong, unless an answer to a request that never became whole is under way.
 */
export function refuseConnection(
  connections: Connections,
  error: ParserError,
  socket: Socket,
  publicUrl: string,
): void {
  // The parser fails again on whatever comes behind.
  if (refused.has(socket)) return;
  const end = (): void => {
    const [exchange, ...others] = connections.exchanges(socket);
    const isOverdue = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && others.length === 0;
    const isFree = exchange === undefined || (isOverdue && !exchange.response.headersSent);
    if (isFree) writeRawProblem(socket, problemOfParserError(error), publicUrl);
    else socket.destroy();
  };
  const answering = connections.exchanges(socket).filter(({ request }) => request.complete);
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (answering.length === 0) end();
  else {
    refused.add(socket);
    socket.pause();
    let left = answering.length;
    for (const { response } of answering)
      response.once('close', () => {
        left -= 1;
        if (left === 0) end();
      });
  }
}

/** Answers a request with a problem before any route sees it, and closes its connection. */
export function answerProblem(response: ServerResponse, problem: Problem, publicUrl: string): void {
  const { headers, body } = problemAnswer(problem, publicUrl);
  response.writeHead(problem.status, headers).end(body);
}

/** Writes a problem to a connection that has no request to answer, and closes it. */
function writeRawProblem(socket: Socket, problem: Problem, publicUrl: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = problemAnswer(problem, publicUrl);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`);
  // The client may go on sending what nobody reads.
  socket.destroySoon();
}

function problemAnswer(problem: Problem, publicUrl: string): { headers: Record<string, string>; body: string } {
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(problem, requestId, publicUrl));
  const headers: Record<string, string> = {
    ...securityHeaders('/', publicUrl.startsWith('https:')),
    ...problemHeaders(problem),
    ...(problem.status === 405 ? { allow: knownMethods.join(', ') } : {}),
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'content-type': problemMediaType,
    'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  return { headers, body };
}
