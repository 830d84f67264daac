import { maxMessageBytes } from '../data/settings.ts';

/** How a session of MySQL and MariaDB begins: the greeting, capabilities, and what asks for TLS or a login. */

/** One packet: three bytes of length, one of sequence, the body. */
export function packet(sequence: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head.writeUInt8(sequence & 0xff, 3);
  return Buffer.concat([head, body]);
}

export const capabilities = {
  longPassword: 0x1,
  longFlag: 0x4,
  withDatabase: 0x8,
  protocol41: 0x200,
  tls: 0x800,
  transactions: 0x2000,
  secureConnection: 0x8000,
  pluginAuthentication: 0x80000,
} as const;

export type Greeting = {
  readonly version: string;
  readonly capabilities: number;
  /** The twenty bytes that answers of authentication are made with. */
  readonly nonce: Buffer;
  readonly plugin: string;
};

/** The server's first packet, version 10; undefined when it is something else. */
export function readGreeting(body: Buffer): Greeting | undefined {
  const versionEnd = body.indexOf(0, 1);
  if (body[0] !== 10 || versionEnd < 0 || versionEnd > 256) return undefined;
  const at = versionEnd + 1;
  // Thread, nonce, filler, capabilities, character set, status, capabilities, length of the nonce, reserved.
  if (body.length < at + 31) return undefined;
  const low = body.readUInt16LE(at + 13);
  const high = body.readUInt16LE(at + 18);
  const nonce = Buffer.concat([body.subarray(at + 4, at + 12), body.subarray(at + 31, at + 43)]);
  const lengthOfNonce = Math.max(13, (body[at + 20] ?? 0) - 8);
  const plugin = textAt(body, at + 31 + lengthOfNonce);
  return {
    version: body.subarray(1, versionEnd).toString('utf8'),
    capabilities: (low | (high << 16)) >>> 0,
    nonce,
    plugin: plugin === '' ? 'mysql_native_password' : plugin,
  };
}

/** The text from there to the next NUL, or to the end. */
export function textAt(body: Buffer, at: number): string {
  const end = body.indexOf(0, at);
  return body.subarray(at, end < 0 ? body.length : end).toString('utf8');
}

/** The head of a login and, alone, the request for TLS. */
export function loginHead(flags: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(flags, 0);
  bytes.writeUInt32LE(maxMessageBytes, 4);
  // utf8mb4_general_ci, which every version knows.
  bytes.writeUInt8(45, 8);
  return bytes;
}
