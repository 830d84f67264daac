import type { BitReader, BitWriter } from './bits.ts';

/*
 * Golomb–Rice codes: what is above the lowest `width` bits of a distance in unary, then those bits. On noise with the right width that is within a
 * fifth of a bit of its entropy.
 */

/** Most bits that are not in unary. */
export const widest = 24;
/** Bits of the longest distance there can be: numbers have 52 and a sign. */
export const longest = 56;
/** So many ones stand for a distance that is written at its full length. */
const escape = 18;
/** A distance that is not shorter is always written at its full length: on both sides it would not fit into 32 bits. */
export const tooFar = 2 ** 30;

/** Writes a distance to either side. */
export function writeDistance(out: BitWriter, distance: number, width: number): void {
  if (distance < tooFar && distance > -tooFar)
    writeCode(out, distance >= 0 ? distance << 1 : (-distance << 1) - 1, width, distance);
  else writeFar(out, distance);
}

/** Writes a distance that is not negative. */
export function writeUnsigned(out: BitWriter, distance: number, width: number): void {
  if (distance < tooFar) writeCode(out, distance, width, distance);
  else writeFar(out, distance);
}

function writeCode(out: BitWriter, code: number, width: number, distance: number): void {
  const quotient = code >>> width;
  if (quotient >= escape) {
    writeFar(out, distance);
    return;
  }
  const rest = code & ((1 << width) - 1);
  if (quotient + 1 + width <= widest) {
    out.write(((1 << quotient) - 1) | (rest << (quotient + 1)), quotient + 1 + width);
    return;
  }
  out.write((1 << quotient) - 1, quotient + 1);
  out.write(rest, width);
}

function writeFar(out: BitWriter, distance: number): void {
  out.write((1 << escape) - 1, escape);
  out.writeSigned(distance);
}

export function readDistance(from: BitReader, width: number): number {
  const code = readCode(from, width);
  if (code < 0) return from.readSigned();
  return code % 2 === 0 ? code / 2 : -(code + 1) / 2;
}

export function readUnsigned(from: BitReader, width: number): number {
  const code = readCode(from, width);
  return code < 0 ? from.readSigned() : code;
}

/** A code, or −1 where a number at its full length follows. */
function readCode(from: BitReader, width: number): number {
  const bits = from.peek();
  const ones = leadingOnes(bits);
  if (ones >= escape) {
    from.skip(escape);
    return -1;
  }
  if (ones + 1 + width <= widest) {
    from.skip(ones + 1 + width);
    return (ones << width) | ((bits >>> (ones + 1)) & ((1 << width) - 1));
  }
  from.skip(ones + 1);
  return ones * 2 ** width + from.read(width);
}

/** How many ones stand from the lowest bit on, up to 24. */
function leadingOnes(bits: number): number {
  const lowest = bits & 0xff_ffff;
  return 31 - Math.clz32(~lowest & (lowest + 1));
}

/** Bits of the code of a distance of a length, on average: such distances lie between 2^(length−1) and twice that. */
export function bitsOfCode(length: number, width: number): number {
  if (length <= width) return width + 1;
  const quotient = 1.5 * 2 ** (length - 1 - width) - 0.5;
  return quotient < escape ? quotient + 1 + width : escape + 7 + length;
}

/** A distance to either side as one number: 0, −1, 1, −2 … become 0, 1, 2, 3 … */
export function bothSides(distance: number): number {
  return distance >= 0 ? distance * 2 : -distance * 2 - 1;
}
