import type { Socket } from 'node:net';
import { z } from 'zod';
import type { CheckContext, CheckType, Target } from './check.ts';
import { dial, type Endpoint, locate } from './net/dial.ts';
import { type Failure, failed, timedOut } from './net/failure.ts';
import { type HostPort, parseHostPort } from './net/host.ts';
import type { CheckOutcome, Phases } from './outcome.ts';

const maxRead = 64 * 1024;
const shownBytes = 4 * 1024;

const payload = z.string().min(1).max(4096);

/** Settings of `tcp`: without `send` and `expect` a connection is enough. */
export const tcpSettings = z
  .strictObject({
    /** Sent after connecting. */
    send: payload.optional(),
    /** Must occur in the first 64 KiB of what comes back. */
    expect: payload.optional(),
    /** How `send` and `expect` are written. */
    payload_format: z.enum(['text', 'hex']).default('text'),
    ip_version: z.union([z.literal(4), z.literal(6)]).optional(),
  })
  .refine(
    (all) => all.payload_format === 'text' || [all.send, all.expect].every((each) => each === undefined || isHex(each)),
    {
      message: 'With payload_format hex, send and expect are pairs of hexadecimal digits.',
      path: ['payload_format'],
    },
  );
export type TcpSettings = z.infer<typeof tcpSettings>;

/** A TCP port: it accepts a connection, and answers as expected where that is asked for. */
export const tcp = {
  type: 'tcp',
  summary: 'A TCP port: connection, optional send and expect',
  settings: tcpSettings,
  secretFields: [],
  requires: [],
  cheap: true,
  validateTarget: (target) => {
    const parsed = readTarget(target);
    return typeof parsed === 'string' ? parsed : undefined;
  },
  run,
} satisfies CheckType<'tcp', typeof tcpSettings>;

function readTarget(target: Target): HostPort | string {
  return parseHostPort(target.url, { schemes: { tcp: undefined }, defaultPort: undefined });
}

async function run(target: Target, settings: TcpSettings, context: CheckContext): Promise<CheckOutcome> {
  const parsed = readTarget(target);
  if (typeof parsed === 'string') throw new Error(`The target was not validated: ${parsed}`);
  const start = context.clock();
  const phases: { -readonly [Phase in keyof Phases]: number } = {};
  const finish = (failure: Failure | undefined, endpoint?: Endpoint, body?: Buffer): CheckOutcome => {
    const base = {
      outcome: failure?.outcome ?? 'ok',
      total: Math.round((context.clock() - start) * 1000),
      phases,
    } as const;
    if (failure === undefined && context.trace === undefined) return base;
    const evidence = { ...endpoint, ...(body && body.length > 0 && { body: readable(body) }) };
    return failure === undefined
      ? { ...base, evidence }
      : { ...base, source: failure.source, code: failure.code, message: failure.message, evidence };
  };

  const located = await locate(parsed.host, parsed.port, context, { family: settings.ip_version });
  phases.dns = located.dnsUs;
  if (!located.ok) return finish(located.failure, located.endpoint);
  const dialed = await dial(located.endpoint, context);
  phases.connect = dialed.connectUs;
  if (!dialed.ok) return finish(dialed.failure, located.endpoint);
  const { socket } = dialed;
  if (settings.send === undefined && settings.expect === undefined) {
    socket.destroy();
    return finish(undefined, located.endpoint);
  }
  const sentAt = context.clock();
  const talked = await converse(socket, settings, context);
  socket.destroy();
  if (talked.firstAt !== undefined) {
    phases.first_byte = Math.max(0, Math.round((talked.firstAt - sentAt) * 1000));
    phases.transfer = Math.round((context.clock() - Math.max(talked.firstAt, sentAt)) * 1000);
  }
  return finish(talked.failure, located.endpoint, talked.received);
}

type Talked = {
  readonly failure: Failure | undefined;
  readonly received: Buffer;
  readonly firstAt: number | undefined;
};

/** Sends, then reads until the expected bytes have come. Without `expect` the sent bytes only have to be taken by the system. */
function converse(socket: Socket, settings: TcpSettings, context: CheckContext): Promise<Talked> {
  const expected = settings.expect === undefined ? undefined : bytesOf(settings.expect, settings);
  const buffer = Buffer.allocUnsafe(maxRead);
  let received = 0;
  let firstAt: number | undefined;
  return new Promise((resolve) => {
    const settle = (failure: Failure | undefined) => {
      context.signal.removeEventListener('abort', abort);
      resolve({ failure, received: buffer.subarray(0, received), firstAt });
    };
    const abort = () =>
      settle(
        timedOut(
          received === 0 ? 'response_timeout' : 'response_mismatch',
          received === 0 ? 'Nothing came back in time.' : 'The expected answer did not come in time.',
        ),
      );
    if (context.signal.aborted) return abort();
    context.signal.addEventListener('abort', abort);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      settle(failed('connect_reset', `The connection broke (${error.code ?? 'unknown error'}).`)),
    );
    if (expected !== undefined) {
      socket.on('data', (piece: Buffer) => {
        firstAt ??= context.clock();
        received += piece.copy(buffer, received);
        if (buffer.subarray(0, received).includes(expected)) return settle(undefined);
        if (received === maxRead)
          settle(failed('response_mismatch', 'The first 64 KiB of the answer do not hold what is expected.'));
      });
      socket.once('end', () =>
        settle(failed('response_mismatch', 'The connection ended without the expected answer.')),
      );
      socket.once('close', () =>
        settle(failed('response_mismatch', 'The connection ended without the expected answer.')),
      );
    }
    if (settings.send === undefined) return;
    socket.write(bytesOf(settings.send, settings), () => {
      if (expected === undefined) settle(undefined);
    });
  });
}

function bytesOf(text: string, settings: TcpSettings): Buffer {
  return settings.payload_format === 'hex' ? Buffer.from(text.replace(/\s+/g, ''), 'hex') : Buffer.from(text, 'utf8');
}

function isHex(text: string): boolean {
  return /^(\s*[0-9a-f]{2})+\s*$/i.test(text);
}

/** What came back, for a person: text where it is text, else hexadecimal. */
function readable(bytes: Buffer): string {
  const part = bytes.subarray(0, shownBytes);
  const text = part.toString('utf8');
  // oxlint-disable-next-line no-control-regex -- what has control characters is not text
  return /[\0-\x08\x0e-\x1f\ufffd]/.test(text) ? part.subarray(0, shownBytes / 2).toString('hex') : text;
}
