/**
 * Writes a number as protobuf does: seven bits a byte, the lowest first. Gives where it ends.
 *
 * @param value whole, from 0 to 2⁵³
 */
export function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7fff_ffff) {
    bytes[at] = (rest % 0x80) | 0x80;
    at += 1;
    rest = Math.floor(rest / 0x80);
  }
  while (rest > 0x7f) {
    bytes[at] = (rest & 0x7f) | 0x80;
    at += 1;
    rest >>>= 7;
  }
  bytes[at] = rest;
  return at + 1;
}

/** Bytes that a number takes, below 2²⁸. */
export function sizeOfVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  return value < 0x20_0000 ? 3 : 4;
}
