import { createSocket, type Socket } from 'node:dgram';
import type { CheckContext } from '../check.ts';
import { connectFailure, type Endpoint, localAddressFor, micros, named } from './dial.ts';
import { type Failure, failed, timedOut } from './failure.ts';

/** So many datagrams that are no answer end an exchange: a flood of them costs no more than this. */
const maxStrangers = 256;

export type UdpQuestion<Answer> = {
  /** What is sent; a function is called again for each repetition, for protocols that number or date their packets. */
  readonly message: Uint8Array | (() => Uint8Array);
  /**
   * Takes a datagram as the answer, or passes it over with undefined (garbage, a foreign number, an answer to an earlier question). A
   * `Failure` is an answer that ends the exchange. `receivedAt` is `context.clock()` when it came. It may throw: that counts as garbage.
   */
  readonly accept: (bytes: Buffer, receivedAt: number) => Answer | undefined;
  /** How long a packet may be lost for before it is sent again; absent: a third of the check's time, at least 300 ms; 0: it is sent once. */
  readonly repeatAfterMs?: number;
  /** How often it is sent at most; absent: until the end. */
  readonly tries?: number;
  /** The failure when nothing came; absent: `response_timeout`. */
  readonly silent?: Failure;
  /** The failure when something came that is no answer; absent: `response_mismatch`. */
  readonly garbled?: Failure;
};

export type UdpAnswer<Answer> =
  | {
      readonly ok: true;
      readonly answer: Answer;
      /** Whole microseconds from the first sending to the answer. */
      readonly tookUs: number;
    }
  | { readonly ok: false; readonly failure: Failure };

/** A UDP socket that is connected to one judged address: the system drops what comes from anywhere else. */
export type UdpChannel = {
  /** Sends a question and waits for its answer, until the check's end. One question at a time. */
  readonly ask: <Answer>(question: UdpQuestion<Answer>) => Promise<UdpAnswer<Answer>>;
  /** Idempotent; whoever opened the channel closes it on every way out. */
  readonly close: () => void;
};

export type UdpOpened =
  | { readonly ok: true; readonly channel: UdpChannel }
  | { readonly ok: false; readonly failure: Failure };

/** The guarded connect for UDP: `endpoint` comes from `locate`, so it is resolved and judged. Nothing is sent by this. */
export function openUdp(endpoint: Endpoint, context: CheckContext): Promise<UdpOpened> {
  return new Promise((resolve) => {
    const socket = createSocket(endpoint.address.includes(':') ? 'udp6' : 'udp4');
    let closed = false;
    const close = () => {
      if (closed) return;
      closed = true;
      socket.close();
    };
    const refuse = (failure: Failure) => {
      context.signal.removeEventListener('abort', abort);
      close();
      context.trace?.('connect', failure.message);
      resolve({ ok: false, failure });
    };
    const abort = () => refuse(noAnswer(endpoint));
    socket.once('error', (error: NodeJS.ErrnoException) => refuse(udpFailure(error, endpoint)));
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    const connect = () => {
      if (closed) return;
      socket.connect(endpoint.port, endpoint.address, (error?: Error) => {
        if (closed) return;
        if (error !== undefined) return refuse(udpFailure(error, endpoint));
        context.signal.removeEventListener('abort', abort);
        socket.removeAllListeners('error');
        // What a packet brings back between two questions, the next question meets again.
        socket.on('error', () => undefined);
        const ask = <Answer>(question: UdpQuestion<Answer>) => exchange(socket, endpoint, question, context);
        resolve({ ok: true, channel: { ask, close } });
      });
    };
    const local = localAddressFor(endpoint, context);
    if (local === undefined) connect();
    else socket.bind({ address: local, port: 0 }, connect);
  });
}

/** One question to a judged address: opens, asks, closes. */
export async function askByUdp<Answer>(
  endpoint: Endpoint,
  question: UdpQuestion<Answer>,
  context: CheckContext,
): Promise<UdpAnswer<Answer>> {
  const opened = await openUdp(endpoint, context);
  if (!opened.ok) return opened;
  try {
    return await opened.channel.ask(question);
  } finally {
    opened.channel.close();
  }
}

function exchange<Answer>(
  socket: Socket,
  endpoint: Endpoint,
  question: UdpQuestion<Answer>,
  context: CheckContext,
): Promise<UdpAnswer<Answer>> {
  const start = context.clock();
  return new Promise((resolve) => {
    let strangers = 0;
    let again: NodeJS.Timeout | undefined;
    const settle = (result: UdpAnswer<Answer>) => {
      clearInterval(again);
      context.signal.removeEventListener('abort', abort);
      socket.off('message', hear);
      socket.off('error', stumble);
      if (!result.ok) context.trace?.('udp', result.failure.message);
      resolve(result);
    };
    const refuse = (failure: Failure) => settle({ ok: false, failure });
    const garbled = () =>
      question.garbled ?? failed('response_mismatch', `${named(endpoint)} answered with something else than expected.`);
    const abort = () => refuse(strangers > 0 ? garbled() : (question.silent ?? noAnswer(endpoint)));
    const stumble = (error: NodeJS.ErrnoException) => refuse(udpFailure(error, endpoint));
    const hear = (bytes: Buffer) => {
      const receivedAt = context.clock();
      const answer = attempt(() => question.accept(bytes, receivedAt));
      if (answer !== undefined) {
        const tookUs = Math.max(0, Math.round((receivedAt - start) * 1000));
        context.trace?.('udp', `${named(endpoint)} answered with ${bytes.length} bytes (${micros(tookUs)})`);
        return settle({ ok: true, answer, tookUs });
      }
      strangers += 1;
      if (strangers >= maxStrangers) refuse(garbled());
    };
    let sent = 0;
    const send = () => {
      if (sent >= (question.tries ?? Number.POSITIVE_INFINITY)) return clearInterval(again);
      sent += 1;
      const bytes = typeof question.message === 'function' ? question.message() : question.message;
      context.trace?.('send', `${bytes.length} bytes to ${named(endpoint)}${sent > 1 ? ', again' : ''}`);
      socket.send(bytes, (error) => {
        if (error !== null) stumble(error);
      });
    };
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.on('message', hear);
    socket.on('error', stumble);
    const repeatAfterMs = question.repeatAfterMs ?? Math.max(300, context.timeoutMs / 3);
    if (repeatAfterMs > 0) again = setInterval(send, repeatAfterMs);
    send();
  });
}

function attempt<Answer>(read: () => Answer | undefined): Answer | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function noAnswer(endpoint: Endpoint): Failure {
  return timedOut('response_timeout', `No answer from ${named(endpoint)} in time.`);
}

/** Connected UDP reports a closed port of the other side as a refused connection. */
function udpFailure(error: NodeJS.ErrnoException, endpoint: Endpoint): Failure {
  if (error.code === 'ECONNREFUSED')
    return failed('connect_refused', `${named(endpoint)} does not listen (port unreachable).`);
  return connectFailure(error, endpoint);
}
