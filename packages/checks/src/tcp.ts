import { z } from 'zod';
import type { Target } from './check.ts';
import { lazily } from './lazily.ts';
import { addressFields } from './net/connection-settings.ts';
import { type Address, conversation } from './net/conversation.ts';
import { failed, timedOut } from './net/failure.ts';
import { parseHostPort } from './net/host.ts';
import { bytesOf, isHex, readable } from './net/payload.ts';
import type { Session } from './net/session.ts';
import { Ended } from './net/talk.ts';

const maxRead = 64 * 1024;

const payload = lazily(() => z.string().min(1).max(4096));

/** Settings of `tcp`: without `send` and `expect` a connection is enough. */
export const tcpSettings = lazily(() =>
  z
    .strictObject({
      /** Sent after connecting. */
      send: payload().optional(),
      /** Must occur in the first 64 KiB of what comes back. */
      expect: payload().optional(),
      /** How `send` and `expect` are written. */
      payload_format: z.enum(['text', 'hex']).default('text'),
      ...addressFields(),
    })
    .refine(
      (all) =>
        all.payload_format === 'text' || [all.send, all.expect].every((each) => each === undefined || isHex(each)),
      {
        message: 'With payload_format hex, send and expect are pairs of hexadecimal digits.',
        path: ['payload_format'],
      },
    ),
);
export type TcpSettings = z.infer<ReturnType<typeof tcpSettings>>;

/** A TCP port: it accepts a connection, and answers as expected where that is asked for. */
export const tcp = conversation({
  type: 'tcp',
  summary: 'A TCP port: connection, optional send and expect',
  reference: {
    targets: ['server.example.com:8080', 'tcp://server.example.com:8080'],
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: {},
  },
  settings: tcpSettings,
  peer: 'the expected service',
  codes: { breach: 'response_mismatch', closed: 'response_mismatch' },
  target: readTarget,
  talk: async (session, { send, expect, payload_format: format }) => {
    await session.open();
    const bytes = send === undefined ? undefined : bytesOf(send, format);
    if (expect !== undefined) {
      if (bytes !== undefined) session.say(bytes);
      await hearExpected(session, bytesOf(expect, format));
    } else if (bytes !== undefined) await sendAll(session, bytes);
  },
});

function readTarget(target: Target): Address | string {
  const parsed = parseHostPort(target.url, { schemes: { tcp: undefined }, defaultPort: undefined });
  return typeof parsed === 'string' ? parsed : { ...parsed, tls: 'none' };
}

/** Without an answer to wait for, what is sent only has to be taken by the system. */
function sendAll(session: Session, bytes: Buffer): Promise<void> {
  session.context.trace?.('send', `${bytes.length} bytes`);
  const taken = (resolve: () => void) => (error?: Error | null) => {
    // An error breaks the session by itself.
    if (error === undefined || error === null) resolve();
  };
  return session.lend(
    () => 'word that it takes what is sent',
    (socket) => new Promise<void>((resolve) => void socket.write(bytes, taken(resolve))),
  );
}

/** Reads until the expected bytes have come; what came is the evidence. */
async function hearExpected(session: Session, expected: Buffer): Promise<void> {
  let heard: Buffer = Buffer.alloc(0);
  try {
    await session.hear('the expected answer', (received) => {
      const from = Math.max(0, heard.length - expected.length + 1);
      heard = received.subarray(0, maxRead);
      if (heard.includes(expected, from)) return { value: true, used: received.length };
      if (heard.length < maxRead) return undefined;
      return { failure: failed('response_mismatch', 'The first 64 KiB of the answer do not hold what is expected.') };
    });
  } catch (error) {
    if (heard.length > 0 && error instanceof Ended && error.failure.code === 'response_timeout')
      throw new Ended(timedOut('response_mismatch', 'The expected answer did not come in time.'));
    throw error;
  } finally {
    if (heard.length > 0) session.evidence = { body: readable(heard) };
  }
}
