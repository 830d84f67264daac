import { PkiError } from './errors.ts';
import { createEd25519Pair, ed25519PublicKey } from './ed25519.ts';

// Text form of Ed25519 keys in NATS: a kind, 32 bytes and a CRC-16 in base32 (RFC 4648, without padding).
const kinds = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
const seedPrefix = 18 << 3;

export type NkeyKind = keyof typeof kinds;

/** "U…", "A…" or "O…": the name of a public key. For a probe: of its Ed25519 public key, kind `user`. */
export function nkeyPublic(kind: NkeyKind, publicKey: Uint8Array): string {
  if (publicKey.length !== 32) throw new PkiError(`an nkey has 32 bytes, not ${publicKey.length}`);
  return encode(Buffer.concat([Buffer.of(kinds[kind]), publicKey]));
}

/** "SU…", "SA…" or "SO…": a raw seed in the form that NATS clients read. */
export function nkeySeed(kind: NkeyKind, seed: Uint8Array): string {
  if (seed.length !== 32) throw new PkiError(`an nkey seed has 32 bytes, not ${seed.length}`);
  const prefix = kinds[kind];
  return encode(Buffer.concat([Buffer.of(seedPrefix | (prefix >> 5), (prefix & 31) << 3), seed]));
}

/** The raw seed behind "SU…", "SA…", "SO…". @throws PkiError for anything else, a mistyped seed included */
export function readNkeySeed(text: string): { kind: NkeyKind; seed: Uint8Array } {
  const bytes = base32Decode(text.trim());
  if (bytes === undefined || bytes.length !== 36) throw new PkiError('not a NATS seed');
  const body = bytes.subarray(0, 34);
  if (crc16(body) !== bytes.readUInt16LE(34))
    throw new PkiError('the NATS seed is mistyped: its checksum does not fit');
  const first = body[0] ?? 0;
  const prefix = ((first & 7) << 5) | ((body[1] ?? 0) >> 3);
  const kind = (Object.keys(kinds) as NkeyKind[]).find((name) => kinds[name] === prefix);
  if ((first & 0xf8) !== seedPrefix || kind === undefined)
    throw new PkiError('not a NATS seed of an operator, account or user');
  return { kind, seed: body.subarray(2) };
}

/** A key pair of NATS with its text forms. */
export type Nkey = {
  readonly kind: NkeyKind;
  readonly seed: Uint8Array;
  readonly publicText: string;
  readonly seedText: string;
};

export function createNkey(kind: NkeyKind): Nkey {
  return nkeyFromSeed(kind, createEd25519Pair().seed);
}

export function nkeyFromSeed(kind: NkeyKind, seed: Uint8Array): Nkey {
  return { kind, seed, publicText: nkeyPublic(kind, ed25519PublicKey(seed)), seedText: nkeySeed(kind, seed) };
}

function encode(body: Buffer): string {
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc16(body));
  return base32(Buffer.concat([body, checksum]));
}

/** CRC-16/XMODEM, as nkeys use it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = (crc & 0x8000) === 0 ? (crc << 1) & 0xffff : ((crc << 1) ^ 0x1021) & 0xffff;
  }
  return crc;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 base32 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >> bits) & 31];
    }
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}

function base32Decode(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit < 0) return undefined;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 255);
    }
  }
  return Buffer.from(bytes);
}
