import { randomBytes, randomInt } from 'node:crypto';

const reqPqMulti = 0xbe7e8ef1;
const resPq = 0x05162463;
const headerBytes = 20;
/** The longest answer that is read; real ones have about a hundred bytes. */
const maxAnswer = 4096;

/** The first message of a key exchange (`req_pq_multi` of MTProto), unencrypted and behind its length, with a number of its own. */
export function question(nonce: Buffer, nowMs: number, padded: boolean): Buffer {
  const message = Buffer.alloc(headerBytes + 20);
  // Numbers of a client's messages are the time in 2^-32 seconds and divisible by four.
  message.writeBigUInt64LE(((BigInt(Math.floor(nowMs)) << 32n) / 1000n) & ~3n, 8);
  message.writeUInt32LE(20, 16);
  message.writeUInt32LE(reqPqMulti, headerBytes);
  nonce.copy(message, headerBytes + 4, 0, 16);
  const packet = padded ? Buffer.concat([message, randomBytes(randomInt(16))]) : message;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(packet.length);
  return Buffer.concat([length, packet]);
}

/** Reads the answer: `resPQ` with the number of the question. `error` is a code of the transport, `other` anything else, undefined not all yet. */
export function readAnswer(
  bytes: Buffer,
  nonce: Buffer,
): { readonly kind: 'good' | 'other' } | { readonly kind: 'error'; readonly code: number } | undefined {
  if (bytes.length < 4) return undefined;
  const length = bytes.readUInt32LE(0);
  if (length < 4 || length > maxAnswer) return { kind: 'other' };
  if (bytes.length < 4 + length) return undefined;
  const packet = bytes.subarray(4, 4 + length);
  // An error has four bytes, and up to 15 of padding.
  if (length < headerBytes) return { kind: 'error', code: packet.readInt32LE(0) };
  if (length < headerBytes + 20) return { kind: 'other' };
  const good =
    packet.readBigUInt64LE(0) === 0n &&
    packet.readUInt32LE(headerBytes) === resPq &&
    packet.subarray(headerBytes + 4, headerBytes + 20).equals(nonce);
  return { kind: good ? 'good' : 'other' };
}
