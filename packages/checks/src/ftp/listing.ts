import type { Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { dial } from '../net/dial.ts';
import { type Failure, failed, timedOut } from '../net/failure.ts';
import type { Reply } from '../net/lines.ts';
import { textOf } from '../net/replies.ts';
import type { Session } from '../net/session.ts';
import { Ended } from '../net/talk.ts';
import { command, hear, refused } from './conversation.ts';

/** So much of a listing is read; the rest is not asked for. */
const maxListing = 64 * 1024;

/**
 * Fetches the names in a directory over a passive connection (RFC 2428, else RFC 959). Whatever address the server names, the connection
 * goes to the one of the session, which was judged; its port is judged anew.
 */
export async function list(session: Session, directory: string): Promise<void> {
  const { context } = session;
  if (session.isSecure) {
    for (const line of ['PBSZ 0', 'PROT P']) {
      const answer = await command(session, line);
      if (answer.code !== 200) refused(session, `refused ${line}`, answer);
    }
  }
  const endpoint = await session.beside(await passivePort(session));
  const dialed = await dial(endpoint, context);
  if (!dialed.ok) throw new Ended(asData(dialed.failure));
  session.adopt(dialed.socket);
  const beginning = await command(session, `NLST ${directory}`);
  if (beginning.code >= 500) {
    session.fail('ftp_path', `The directory cannot be listed: "${session.show(textOf(beginning))}".`);
  }
  if (beginning.code !== 125 && beginning.code !== 150) dataRefused(session, beginning);
  const socket = session.isSecure ? await session.secureBeside(dialed.socket, endpoint, asData) : dialed.socket;
  const read = await readAll(socket, context);
  socket.destroy();
  dialed.socket.destroy();
  if ('failure' in read) throw new Ended(read.failure);
  session.note('names', read.names);
  session.note('truncated', read.isCut);
  // Whoever cuts the listing gets a complaint or none; both are of no interest.
  if (read.isCut) return;
  const ending = await hear(session, 'the end of the listing');
  if (ending.code === 226 || ending.code === 250) return;
  if (ending.code >= 500) {
    session.fail('ftp_path', `The directory cannot be listed: "${session.show(textOf(ending))}".`);
  }
  dataRefused(session, ending);
}

async function passivePort(session: Session): Promise<number> {
  const extended = await command(session, 'EPSV');
  const last = extended.lines.at(-1) ?? '';
  if (extended.code === 229) {
    return portOf(session, /\(([!-~])\1\1(\d{1,5})\1\)/.exec(last)?.[2], extended);
  }
  if (session.endpoint.address.includes(':')) return dataRefused(session, extended);
  const passive = await command(session, 'PASV');
  if (passive.code !== 227) return dataRefused(session, passive);
  const [, high, low] = /(?:\d{1,3},){4}(\d{1,3}),(\d{1,3})/.exec(passive.lines.at(-1) ?? '') ?? [];
  return portOf(session, high && low && String(Number(high) * 256 + Number(low)), passive);
}

function portOf(session: Session, text: string | undefined, reply: Reply): number {
  const port = Number(text ?? 0);
  if (port >= 1 && port <= 65535) return port;
  return session.fail('ftp_protocol', `The server names no port for the data: "${session.show(textOf(reply))}".`);
}

function dataRefused(session: Session, reply: Reply): never {
  return session.fail('ftp_data', `The server opens no data connection: "${session.show(textOf(reply))}".`);
}

/** What went wrong with the data connection, under its own code. */
function asData(failure: Failure): Failure {
  if (failure.outcome === 'probe_error') return failure;
  return { ...failure, code: 'ftp_data', message: `The data connection failed: ${failure.message}` };
}

type Listing = { readonly names: number; readonly isCut: boolean } | { readonly failure: Failure };

function readAll(socket: Socket, context: CheckContext): Promise<Listing> {
  return new Promise((resolve) => {
    let bytes = 0;
    let names = 0;
    const settle = (listing: Listing) => {
      context.signal.removeEventListener('abort', abort);
      resolve(listing);
    };
    const abort = () => settle({ failure: timedOut('response_timeout', 'The listing did not end in time.') });
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.on('data', (piece: Buffer) => {
      bytes += piece.length;
      for (let at = piece.indexOf(0x0a); at >= 0; at = piece.indexOf(0x0a, at + 1)) names += 1;
      if (bytes >= maxListing) settle({ names, isCut: true });
    });
    socket.once('end', () => settle({ names, isCut: false }));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      settle({ failure: failed('ftp_data', `The data connection broke (${error.code ?? 'unknown error'}).`) }),
    );
    const closed = () => settle({ failure: failed('ftp_data', 'The data connection was closed.') });
    socket.once('close', closed);
    // A reset that came before the server's word on the command was heard leaves nothing to wait for.
    if (socket.destroyed) closed();
  });
}
