/** A value of ASN.1 in the basic encoding rules (X.690): the identifier octet and its content. */
export type BerValue = { readonly tag: number; readonly content: Buffer };

/** The universal and plain tags that LDAP and SNMP use. */
export const berTags = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  sequence: 0x30,
  set: 0x31,
} as const;

/** What cannot be read as BER: the peer's fault. */
export class BerError extends Error {
  override readonly name = 'BerError';
}

export function ber(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part)));
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export function berInteger(value: number, tag: number = berTags.integer): Buffer {
  if (!Number.isSafeInteger(value)) throw new RangeError('An integer of BER is a whole number.');
  const octets: number[] = [];
  let rest = value;
  do {
    octets.unshift(rest & 0xff);
    rest = Math.floor(rest / 256);
  } while (rest !== 0 && rest !== -1);
  if (rest === 0 && (octets[0] ?? 0) >= 0x80) octets.unshift(0);
  if (rest === -1 && (octets[0] ?? 0) < 0x80) octets.unshift(0xff);
  return ber(tag, Buffer.from(octets));
}

export function berOid(oid: string): Buffer {
  const [first = 0, second = 0, ...others] = oid.replace(/^\./, '').split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...others]) {
    const groups = [arc % 128];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift((rest % 128) | 0x80);
    octets.push(...groups);
  }
  return ber(berTags.oid, Buffer.from(octets));
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  if (length < 0x1_0000) return Buffer.from([0x82, length >> 8, length & 0xff]);
  return Buffer.from([0x83, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]);
}

/**
 * The first value of some bytes and how many it takes; undefined when it has not come as a whole. Only definite lengths of at most three
 * octets and one-octet identifiers, which is what LDAP and SNMP allow or use. Throws `BerError` for everything else.
 */
export function takeBer(bytes: Buffer): { readonly value: BerValue; readonly used: number } | undefined {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined) return undefined;
  if ((tag & 0x1f) === 0x1f) throw new BerError('a long identifier');
  if (first === undefined) return undefined;
  let length = first;
  let start = 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    // OpenLDAP and others write lengths in four octets although fewer would do.
    if (count === 0 || count > 4) throw new BerError('a length that is not definite');
    if (bytes.length < 2 + count) return undefined;
    length = bytes.readUIntBE(2, count);
    start += count;
  }
  if (bytes.length < start + length) return undefined;
  return { value: { tag, content: bytes.subarray(start, start + length) }, used: start + length };
}

/** The values that stand one after the other in a constructed value. At most 10,000. */
export function berParts(content: Buffer): BerValue[] {
  const parts: BerValue[] = [];
  let rest = content;
  while (rest.length > 0) {
    const taken = takeBer(rest);
    if (taken === undefined || parts.length === 10_000) throw new BerError('a value that is cut');
    parts.push(taken.value);
    rest = rest.subarray(taken.used);
  }
  return parts;
}

/** The part at a place, which has to be there with this tag. */
export function berPart(parts: readonly BerValue[], at: number, tag: number): Buffer {
  const part = parts[at];
  if (part?.tag !== tag) throw new BerError(`no value of the kind ${tag} at place ${at}`);
  return part.content;
}

/** A whole number of at most six octets, signed. */
export function readBerInteger(content: Buffer): number {
  if (content.length < 1 || content.length > 6) throw new BerError('an integer that is too long');
  return content.readIntBE(0, content.length);
}

/** A whole number of at most nine octets without sign, as counters of SNMP have it. */
export function readBerUnsigned(content: Buffer): bigint {
  if (content.length < 1 || content.length > 9) throw new BerError('an integer that is too long');
  return BigInt(`0x${content.toString('hex')}`);
}

export function readBerOid(content: Buffer): string {
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f);
    if (arc > 0xffff_ffff) throw new BerError('an object identifier with a part that is too large');
    if (octet >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...others] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...others].join('.');
}
