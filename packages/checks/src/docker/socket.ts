import net, { type Socket } from 'node:net';
import type { CheckContext } from '../check.ts';
import { Exchange } from '../http/exchange.ts';
import { addPhase, type Progress } from '../http/outcome.ts';
import type { WireRequest } from '../http/request.ts';
import type { ResponseParser } from '../http/response-parser.ts';
import { micros } from '../net/dial.ts';
import { type Failure, failed, probeFault, timedOut } from '../net/failure.ts';

/**
 * One request over a fresh connection to a socket of this machine. What was seen goes into `progress`. Gives the failure, or undefined
 * when the response is whole. No socket is left.
 *
 * @param path as the operator named it: whoever calls has looked it up in the list
 */
export async function askSocket(
  path: string,
  request: WireRequest,
  parser: ResponseParser,
  context: CheckContext,
  progress: Progress,
): Promise<Failure | undefined> {
  const exchange = new Exchange(request, parser, context, progress);
  const startAt = context.clock();
  const opened = await open(path, exchange, context);
  const connectUs = Math.round((context.clock() - startAt) * 1000);
  addPhase(progress, 'connect', connectUs);
  if ('failure' in opened) {
    context.trace?.('connect', opened.failure.message);
    return opened.failure;
  }
  context.trace?.('connect', `${path} connected (${micros(connectUs)})`);
  return exchange.over(opened.socket);
}

type Opened = { readonly socket: Socket } | { readonly failure: Failure };

function open(path: string, exchange: Exchange, { signal }: CheckContext): Promise<Opened> {
  return new Promise((resolve) => {
    const socket = net.connect({ path, onread: exchange.onread });
    const refuse = (failure: Failure): void => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      resolve({ failure });
    };
    const abort = (): void => refuse(timedOut('connect_timeout', `No connection to the socket ${path} in time.`));
    // It stays for late errors.
    socket.on('error', (error: NodeJS.ErrnoException) => refuse(openFailure(error, path)));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      resolve({ socket });
    });
  });
}

/** A daemon that does not run leaves either no socket or one that nobody listens on; what this machine forbids is the probe's own fault. */
function openFailure({ code }: NodeJS.ErrnoException, path: string): Failure {
  switch (code) {
    case 'ENOENT':
    case 'ENOTSOCK':
      return failed('connect_refused', `There is no socket ${path} on the machine of the probe: Docker does not run.`);
    case 'ECONNREFUSED':
      return failed('connect_refused', `Nobody listens on the socket ${path}: Docker does not run.`);
    case 'EACCES':
    case 'EPERM':
      return probeFault(
        'probe_capability',
        `The agent may not open the socket ${path}; its account has to be in the group that the socket belongs to.`,
      );
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
    case 'ENOMEM':
      return probeFault('probe_internal', `The system of this probe did not open the socket ${path} (${code}).`);
    case undefined:
    default:
      return failed('connect_failed', `The connection to the socket ${path} failed (${code ?? 'unknown error'}).`);
  }
}
