/** The header of an NTP packet (RFC 5905, 7.3), without extension fields and authentication. */
export type NtpReply = {
  /** 0 none, 1 and 2 a leap second is coming, 3 the clock is not synchronised. */
  readonly leap: number;
  readonly version: number;
  readonly stratum: number;
  /** Logarithm to the base 2 of the clock's precision in seconds. */
  readonly precision: number;
  readonly rootDelayMs: number;
  readonly rootDispersionMs: number;
  readonly reference: Buffer;
  /** What the question had as its transmit timestamp. */
  readonly origin: Buffer;
  readonly receivedAt: bigint;
  readonly transmittedAt: bigint;
};

const headerBytes = 48;
const clientMode = 3;
const serverMode = 4;
const spokenVersion = 4;
/** Seconds from the epoch of NTP (1900) to that of Unix (1970). */
const epochSeconds = 2_208_988_800n;

/** A question of a client, with 8 bytes that the answer has to bring back. */
export function ntpRequest(nonce: Buffer): Buffer {
  const packet = Buffer.alloc(headerBytes);
  packet.writeUInt8((spokenVersion << 3) | clientMode, 0);
  nonce.copy(packet, 40, 0, 8);
  return packet;
}

/** An answer of a server, or undefined for anything else. */
export function readNtpReply(bytes: Buffer): NtpReply | undefined {
  if (bytes.length < headerBytes) return undefined;
  const first = bytes.readUInt8(0);
  const version = (first >> 3) & 7;
  if ((first & 7) !== serverMode || version < 1 || version > spokenVersion) return undefined;
  return {
    leap: first >> 6,
    version,
    stratum: bytes.readUInt8(1),
    precision: bytes.readInt8(3),
    rootDelayMs: (bytes.readUInt32BE(4) / 65536) * 1000,
    rootDispersionMs: (bytes.readUInt32BE(8) / 65536) * 1000,
    reference: bytes.subarray(12, 16),
    origin: bytes.subarray(24, 32),
    receivedAt: bytes.readBigUInt64BE(32),
    transmittedAt: bytes.readBigUInt64BE(40),
  };
}

/**
 * Milliseconds since 1970 of a timestamp of 32 bits of seconds and 32 of fraction. The seconds begin anew every 136 years (2036 next):
 * the era that is nearest to `nearMs` is taken.
 */
export function fromNtpTime(timestamp: bigint, nearMs: number): number {
  const seconds = (timestamp >> 32n) - epochSeconds;
  const fractionMs = (Number(timestamp & 0xffff_ffffn) / 2 ** 32) * 1000;
  const eraMs = 2 ** 32 * 1000;
  const value = Number(seconds) * 1000 + fractionMs;
  return value + Math.round((nearMs - value) / eraMs) * eraMs;
}

/** The reference for a person: four characters for a reference clock or a kiss, else what looks like an IPv4 address (a hash for IPv6). */
export function referenceName({ reference, stratum }: Pick<NtpReply, 'reference' | 'stratum'>): string {
  if (stratum > 1) return reference.join('.');
  return reference.toString('latin1').replace(/[^A-Za-z0-9._-]/g, '');
}
