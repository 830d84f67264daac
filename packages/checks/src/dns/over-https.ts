import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { CheckContext } from '../check.ts';
import { type Endpoint, named } from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';

/** The largest message of DNS. */
const maxBody = 65_535;
const mediaType = 'application/dns-message';

export type Posted = { readonly ok: true; readonly body: Buffer } | { readonly ok: false; readonly failure: Failure };

type Request = { readonly host: string; readonly path: string };
/** What one of the two versions of HTTP tells while it goes on. */
type Progress = {
  readonly response: (status: number, headers: IncomingHttpHeaders) => void;
  readonly piece: (bytes: Buffer) => void;
  readonly end: () => void;
  readonly broken: (error: NodeJS.ErrnoException) => void;
};

/**
 * Sends one question over HTTPS (RFC 8484) on a connection that stands, in the version of HTTP that was agreed on, and gives the body
 * of the answer. Redirects are not followed. The caller destroys the socket.
 */
export async function postQuestion(
  socket: TLSSocket,
  server: Endpoint,
  question: Buffer,
  request: Request,
  context: CheckContext,
): Promise<Posted> {
  const authority = authorityOf(request.host, server.port);
  const begin = socket.alpnProtocol === 'h2' ? await overHttp2() : await overHttp1();
  const headers = {
    'content-type': mediaType,
    accept: mediaType,
    'content-length': String(question.length),
    'user-agent': context.userAgent,
  };
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let stop: (() => void) | undefined;
    let settled = false;
    const settle = (posted: Posted) => {
      if (settled) return;
      settled = true;
      context.signal.removeEventListener('abort', abort);
      stop?.();
      resolve(posted);
    };
    const refuse = (failure: Failure) => settle({ ok: false, failure });
    const wrong = (what: string) => refuse(failed('dns_transport', `${named(server)} ${what}.`));
    const abort = () => refuse(timedOut('dns_timeout', `No answer of the name server ${named(server)} in time.`));
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.once('close', () => wrong('closed the connection without an answer'));
    const progress: Progress = {
      response: (status, { 'content-type': type }) => {
        if (status !== 200) wrong(`answered with the HTTP status ${status} instead of a DNS message`);
        else if (type?.split(';')[0]?.trim().toLowerCase() !== mediaType)
          wrong('answered with something else than a DNS message');
      },
      piece: (bytes) => {
        size += bytes.length;
        pieces.push(bytes);
        if (size > maxBody) wrong('answered with more than a DNS message can hold');
      },
      end: () => settle({ ok: true, body: Buffer.concat(pieces) }),
      broken: (error) => wrong(`did not answer with HTTP (${error.code ?? 'unknown error'})`),
    };
    stop = begin(socket, { authority, path: request.path, headers, body: question }, progress);
    if (settled) stop();
  });
}

type Exchange = {
  readonly authority: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};
type Begin = (socket: TLSSocket, exchange: Exchange, progress: Progress) => () => void;

async function overHttp2(): Promise<Begin> {
  const http2 = await import('node:http2');
  return (socket, { authority, path, headers, body }, progress) => {
    const session = http2.connect(`https://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false },
      maxHeaderListPairs: 100,
      maxSessionMemory: 1,
    });
    session.on('error', progress.broken);
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    stream.on('response', (answer) => progress.response(answer[':status'] ?? 0, answer));
    stream.on('data', progress.piece);
    stream.on('end', progress.end);
    stream.on('error', progress.broken);
    stream.end(body);
    return () => {
      stream.destroy();
      session.destroy();
    };
  };
}

async function overHttp1(): Promise<Begin> {
  const http = await import('node:http');
  return (socket, { authority, path, headers, body }, progress) => {
    const request = http.request({
      createConnection: () => socket,
      method: 'POST',
      path,
      headers: { host: authority, ...headers },
    });
    request.on('error', progress.broken);
    request.on('response', (answer) => {
      answer.on('data', progress.piece);
      answer.on('end', progress.end);
      answer.on('error', progress.broken);
      progress.response(answer.statusCode ?? 0, answer.headers);
    });
    request.end(body);
    return () => request.destroy();
  };
}

function authorityOf(host: string, port: number): string {
  const written = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? written : `${written}:${port}`;
}
