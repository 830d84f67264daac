import { maxMessageBytes } from '../data/settings.ts';
import { type Failure, failed } from '../net/failure.ts';
import type { Taken } from '../net/talk.ts';

/** The client/server protocol of MySQL and MariaDB: packets, the greeting, and lengths ("Client/Server Protocol" of the MySQL internals). */

export type Packet = { readonly sequence: number; readonly body: Buffer };

const errorMark = 0xff;
const stateMark = 0x23;
const maxErrorBytes = 1024;

/**
 * Cuts out one packet with this sequence number; another one means that it is another protocol or another conversation. Only an error may
 * come with any number: a server that ends a session of its own accord counts from the start.
 */
export function readPacket(sequence: number): (received: Buffer) => Taken<Packet> {
  return (received) => {
    if (received.length < 4) return { need: 4 };
    const length = received.readUIntLE(0, 3);
    if (length === 0) return { failure: foreign() };
    if (received[3] !== (sequence & 0xff)) {
      if (length < 9 || length > maxErrorBytes) return { failure: foreign() };
      if (received.length < 8) return { need: 8 };
      if (received[4] !== errorMark || received[7] !== stateMark) return { failure: foreign() };
    }
    if (length > maxMessageBytes) {
      // A greeting is short; only a row can be this long.
      if (sequence < 3) return { failure: foreign() };
      return { failure: failed('db_result_too_large', `A row of the result has more than ${maxMessageBytes} bytes.`) };
    }
    if (received.length < 4 + length) return { need: 4 + length };
    return { value: { sequence, body: received.subarray(4, 4 + length) }, used: 4 + length };
  };
}

export function foreign(): Failure {
  return failed('db_protocol', 'The server does not speak the protocol of MySQL.');
}

/** A text with the NUL that ends it. */
export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8');
}

/** A packet that tells of an error. */
export type ServerError = { readonly number: number; readonly text: string };

export function errorOf(body: Buffer): ServerError {
  const rest = body.subarray(3).toString('utf8');
  return { number: body.length < 3 ? 0 : body.readUInt16LE(1), text: rest.replace(/^#.{5}/, '') };
}

/** A number of variable length, and where what follows it begins; null stands for NULL, undefined for a body that is too short. */
export function lengthAt(
  body: Buffer,
  at: number,
): { readonly value: number | null; readonly next: number } | undefined {
  const first = body[at];
  if (first === undefined || first === 0xff) return undefined;
  if (first < 0xfb) return { value: first, next: at + 1 };
  if (first === 0xfb) return { value: null, next: at + 1 };
  const size = first === 0xfc ? 2 : first === 0xfd ? 3 : 8;
  if (body.length < at + 1 + size) return undefined;
  const value = size === 8 ? Number(body.readBigUInt64LE(at + 1)) : body.readUIntLE(at + 1, size);
  return { value, next: at + 1 + size };
}

/** The first column of a row of the text protocol; null for NULL, undefined when it is not whole. */
export function firstColumn(body: Buffer): string | null | undefined {
  const length = lengthAt(body, 0);
  if (length === undefined) return undefined;
  if (length.value === null) return null;
  const end = length.next + length.value;
  return end > body.length ? undefined : body.subarray(length.next, end).toString('utf8');
}
