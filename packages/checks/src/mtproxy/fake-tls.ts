import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MtproxySecret } from './secret.ts';

/** The client's random stands behind the record header, the handshake header and the version; the server's at the same place. */
const randomAt = 11;
const randomBytesLength = 32;
const recordHeader = 5;
/** Length of the whole record; proxies know clients by it. */
const helloBytes = 517;
const handshake = 0x16;
const changeCipher = 0x14;
const applicationData = 0x17;

/** What a client sends before its first data. */
export const changeCipherSpec = Buffer.from('140303000101', 'hex');

/** A hello of TLS 1.3 whose random is the proof that the client knows the secret, together with that random. */
export function clientHello(
  { key, domain }: MtproxySecret,
  nowSeconds: number,
): { readonly bytes: Buffer; readonly random: Buffer } {
  const bytes = unsignedHello(domain);
  const digest = createHmac('sha256', key).update(bytes).digest();
  // The proxy turns away what is too old, by the time that is folded into the last four bytes.
  digest.writeUInt32LE((digest.readUInt32LE(28) ^ Math.floor(nowSeconds)) >>> 0, 28);
  digest.copy(bytes, randomAt);
  return { bytes, random: digest };
}

/** The length of the server's first three records (hello, change of cipher, data), or undefined while they have not all come. */
export function serverHelloLength(bytes: Buffer): number | 'other' | undefined {
  let at = 0;
  for (const kind of [handshake, changeCipher, applicationData]) {
    const [type, major, minor] = bytes.subarray(at, at + 3);
    if (type !== undefined && (type !== kind || (major ?? 3) !== 3 || (minor ?? 3) > 3)) return 'other';
    if (bytes.length < at + recordHeader) return undefined;
    at += recordHeader + bytes.readUInt16BE(at + 3);
    if (bytes.length < at) return undefined;
  }
  return at;
}

/** Whether the server's records prove that it knows the secret. */
export function isServerGenuine(records: Buffer, clientRandom: Buffer, { key }: MtproxySecret): boolean {
  if (records.length < randomAt + randomBytesLength) return false;
  const claimed = Buffer.from(records.subarray(randomAt, randomAt + randomBytesLength));
  const blank = Buffer.from(records).fill(0, randomAt, randomAt + randomBytesLength);
  return timingSafeEqual(claimed, createHmac('sha256', key).update(clientRandom).update(blank).digest());
}

/** Data as one record. */
export function wrap(data: Buffer): Buffer {
  const header = Buffer.from([applicationData, 3, 3, 0, 0]);
  header.writeUInt16BE(data.length, 3);
  return Buffer.concat([header, data]);
}

/** The first record of data and its length on the wire; `other` for any other record. */
export function unwrap(bytes: Buffer): { readonly data: Buffer; readonly used: number } | 'other' | undefined {
  if (bytes[0] !== undefined && bytes[0] !== applicationData) return 'other';
  if (bytes.length < recordHeader) return undefined;
  const used = recordHeader + bytes.readUInt16BE(3);
  return bytes.length < used ? undefined : { data: bytes.subarray(recordHeader, used), used };
}

function unsignedHello(domain: string): Buffer {
  const suites = Buffer.from('130113021303c02bc02fc02cc030cca9cca8c013c014009c009d002f0035', 'hex');
  const name = Buffer.from(domain, 'latin1');
  const before = [
    extension(0x0000, sized16(Buffer.concat([Buffer.from([0]), sized16(name)]))),
    extension(0x0017, Buffer.alloc(0)),
    extension(0xff01, Buffer.from([0])),
    extension(0x000a, sized16(Buffer.from('001d00170018', 'hex'))),
    extension(0x000b, Buffer.from([1, 0])),
    extension(0x0023, Buffer.alloc(0)),
    extension(0x0010, sized16(Buffer.from('\x02h2\x08http/1.1', 'latin1'))),
    extension(0x0005, Buffer.from('0100000000', 'hex')),
    extension(0x000d, sized16(Buffer.from('04030804040105030805050108060601', 'hex'))),
    extension(0x0012, Buffer.alloc(0)),
    extension(0x0033, sized16(Buffer.concat([Buffer.from([0, 0x1d]), sized16(randomBytes(32))]))),
    extension(0x002d, Buffer.from([1, 1])),
    extension(0x002b, Buffer.from('0403040303', 'hex')),
  ];
  const fixed = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(randomBytesLength),
    Buffer.from([32]),
    randomBytes(32),
    sized16(suites),
    Buffer.from([1, 0]),
  ]);
  const used = recordHeader + 4 + fixed.length + 2 + Buffer.concat(before).length;
  const padding = extension(0x0015, Buffer.alloc(Math.max(0, helloBytes - used - 4)));
  const body = Buffer.concat([fixed, sized16(Buffer.concat([...before, padding]))]);
  const message = Buffer.concat([Buffer.from([1, 0]), sized16(body)]);
  return Buffer.concat([Buffer.from([handshake, 3, 1]), sized16(message)]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 0xff]), sized16(content)]);
}

/** Bytes behind their length of 16 bits. */
function sized16(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}
