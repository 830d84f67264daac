import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { ownFields } from '../http/request.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import { clientRefused, refusesClient } from '../net/tls.ts';
import { healthAnswer, healthRequest, type HealthState, statusName } from './messages.ts';
import type { GrpcSettings } from './settings.ts';

const path = '/grpc.health.v1.Health/Check';
const maxAnswerBytes = 64 * 1024;
const maxHeaderBytes = 64 * 1024;

/** What came of a call. Times are those of the context's clock. */
export type Called = {
  readonly failure: Failure | undefined;
  readonly sentAt: number;
  readonly firstAt: number | undefined;
  readonly endedAt: number;
  readonly httpStatus: number | undefined;
  readonly grpcStatus: number | undefined;
  readonly grpcMessage: string | undefined;
  readonly state: HealthState | undefined;
};

type Answer = {
  headers?: IncomingHttpHeaders & IncomingHttpStatusHeader;
  trailers?: IncomingHttpHeaders;
  pieces: Buffer[];
  bytes: number;
};

/**
 * One call of the health service (grpc.health.v1) over a socket that is connected, by HTTP/2 from its first byte (RFC 9113, 3.3). Never
 * rejects; no socket is left.
 */
export function callHealth(socket: Socket, url: URL, settings: GrpcSettings, context: CheckContext): Promise<Called> {
  const { signal, clock } = context;
  return new Promise((resolve) => {
    const answer: Answer = { pieces: [], bytes: 0 };
    const sentAt = clock();
    let firstAt: number | undefined;
    let session: ClientHttp2Session | undefined;
    let isOver = false;
    const settle = (failure: Failure | undefined): void => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', abort);
      const endedAt = clock();
      const judged = failure === undefined ? judge(answer) : { ...statusOf(answer), failure, state: undefined };
      // Not from inside an event of the session: Node aborts the process when one is destroyed while it hands out what it has read.
      setImmediate(() => {
        session?.destroy();
        socket.destroy();
        resolve({ ...judged, sentAt, firstAt, endedAt, httpStatus: answer.headers?.[':status'] });
      });
    };
    const abort = (): void => settle(timedOut('response_timeout', 'The server did not answer the call in time.'));
    const broken = (error: NodeJS.ErrnoException): void => settle(brokenBy(error));
    const closed = (): void =>
      settle(failed('grpc_protocol', 'The server ended the connection without answering the call.'));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    socket.once('error', broken);
    session = http2.connect(url, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes },
      maxSessionMemory: 1,
      maxHeaderListPairs: 256,
    });
    session.on('error', broken);
    session.on('close', closed);
    // With no error it says that this call is the last one, which is answered still.
    session.on('goaway', (code) => code !== http2.constants.NGHTTP2_NO_ERROR && closed());
    context.trace?.('request', `the health of ${settings.service === '' ? 'the server' : settings.service}`);
    const stream = session.request(headersOf(url, settings, context), { endStream: false });
    stream.on('error', broken);
    stream.once('response', (headers) => {
      firstAt = clock();
      answer.headers = headers;
      context.trace?.('answer', String(headers[':status'] ?? 'no status'));
    });
    stream.on('trailers', (trailers: IncomingHttpHeaders) => (answer.trailers = trailers));
    take(stream, answer, settle);
    stream.end(healthRequest(settings.service));
  });
}

function take(stream: ClientHttp2Stream, answer: Answer, settle: (failure: Failure | undefined) => void): void {
  stream.on('data', (piece: Buffer) => {
    answer.bytes += piece.length;
    if (answer.bytes > maxAnswerBytes)
      return settle(failed('grpc_protocol', 'The answer is longer than any health message (64 KiB).'));
    answer.pieces.push(piece);
  });
  stream.once('end', () => settle(undefined));
  stream.once('close', () => {
    const reset = stream.rstCode === 0 ? '' : ` (HTTP/2 error ${stream.rstCode})`;
    settle(
      answer.headers === undefined
        ? failed('grpc_protocol', `The server ended the call without an answer${reset}.`)
        : undefined,
    );
  });
}

function headersOf(url: URL, settings: GrpcSettings, context: CheckContext): Record<string, string> {
  const { names } = ownFields({ url, trusted: true }, settings, context.userAgent);
  const own = [...names].filter(([name]) => !['host', 'accept', 'accept-encoding'].includes(name));
  return {
    ...Object.fromEntries(own.map(([name, [, value]]) => [name, value])),
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': `${Math.max(1, Math.min(99_999_999, Math.round(context.timeoutMs)))}m`,
  };
}

function statusOf({ headers, trailers }: Answer): { grpcStatus: number | undefined; grpcMessage: string | undefined } {
  const one = (name: string): string | undefined => {
    // Without a message the trailers are the headers.
    const value = trailers?.[name] ?? headers?.[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const status = one('grpc-status');
  const isNumber = status !== undefined && /^\d{1,3}$/.test(status);
  return { grpcStatus: isNumber ? Number(status) : undefined, grpcMessage: decoded(one('grpc-message')) };
}

/** The message is percent-encoded; what is not is shown as it came. */
function decoded(message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  try {
    return decodeURIComponent(message).slice(0, 500);
  } catch {
    return message.slice(0, 500);
  }
}

function judge(answer: Answer): Pick<Called, 'failure' | 'grpcStatus' | 'grpcMessage' | 'state'> {
  const status = statusOf(answer);
  const { grpcStatus, grpcMessage } = status;
  const wrong = (failure: Failure) => ({ ...status, failure, state: undefined });
  const httpStatus = answer.headers?.[':status'];
  const type = answer.headers?.['content-type'] ?? '';
  if (httpStatus !== 200)
    return wrong(
      failed('grpc_protocol', `The server answered with HTTP status ${httpStatus ?? 'none'} instead of gRPC.`),
    );
  if (!/^application\/grpc(?:$|[+;])/i.test(type))
    return wrong(
      failed('grpc_protocol', `The server answered with ${type.slice(0, 100) || 'no type'} instead of gRPC.`),
    );
  if (grpcStatus === undefined)
    return wrong(failed('grpc_protocol', 'The answer of the server holds no status of gRPC.'));
  if (grpcStatus !== 0) {
    const said = grpcMessage === undefined || grpcMessage === '' ? '' : `: ${grpcMessage.slice(0, 200)}`;
    return wrong(failed('grpc_status', `The call ended with ${statusName(grpcStatus)} (${grpcStatus})${said}.`));
  }
  const read = healthAnswer(Buffer.concat(answer.pieces));
  if ('problem' in read) return wrong(failed('grpc_protocol', read.problem));
  const { state } = read;
  if (state === 'SERVING') return { ...status, failure: undefined, state };
  return { ...status, failure: failed('grpc_not_serving', `The service says that it is ${state}.`), state };
}

/** Names of errors are shown, their sentences are not. */
function brokenBy(error: NodeJS.ErrnoException): Failure {
  if (refusesClient(error)) return clientRefused(error);
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE')
    return failed('connect_reset', 'The server reset the connection instead of answering.');
  return failed(
    'grpc_protocol',
    `The server does not speak HTTP/2 as gRPC needs it (${error.code ?? 'unknown error'}).`,
  );
}
