import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '@parallax/api-contract';
import { problemBody, problemHeaders, problemMediaType } from './problem-answers.ts';
import { securityHeaders } from './security-headers.ts';

/** Methods that some route may know, for answers given before a route is found. */
export const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** What Node's HTTP parser could not take, as a problem. */
export function problemOfParserError(error: {
  readonly code?: string | undefined;
  readonly rawPacket?: unknown;
}): Problem {
  switch (error.code ?? '') {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'the request line and headers are larger than 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', 'the request did not arrive in time');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload_too_large', 'the chunk extensions are too large');
    case 'HPE_INVALID_METHOD':
      if (!isRequestLine(error.rawPacket)) return new Problem('bad_request', 'the request is not valid HTTP');
      return new Problem('method_not_allowed', 'the method is not known');
    default:
      return new Problem('bad_request', 'the request is not valid HTTP');
  }
}

/** True when bytes begin like a request of HTTP/1 with some method. */
function isRequestLine(packet: unknown): boolean {
  return (
    packet instanceof Uint8Array &&
    /^[A-Z][A-Z-]* \S+ HTTP\/1\.[01]\r?\n/.test(Buffer.from(packet).toString('latin1', 0, 4_096))
  );
}

/** Writes a problem to a connection that has no request to answer, and closes it. */
export function writeRawProblem(socket: Socket, problem: Problem, publicUrl: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
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
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`);
  // The client may go on sending what nobody reads.
  socket.destroySoon();
}
