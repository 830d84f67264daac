import { crc32 } from 'node:zlib';

/** Up to so many bytes the call into the library costs more than the sum. */
const shortBytes = 256;
/** By byte value, for bytes that stand 0 to 3 places before the end of four. */
const tables = tablesOfCrc32();

/** CRC32 of the bytes from `from` to `end`, which goes on from `seed` like that of `node:zlib`. */
export function checksumOf(bytes: Buffer, from: number, end: number, seed: number): number {
  if (end - from > shortBytes) return crc32(bytes.subarray(from, end), seed);
  let sum = ~seed;
  let at = from;
  for (; at + 4 <= end; at += 4) {
    const four =
      sum ^
      ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24));
    sum =
      (tables[768 + (four & 0xff)] ?? 0) ^
      (tables[512 + ((four >>> 8) & 0xff)] ?? 0) ^
      (tables[256 + ((four >>> 16) & 0xff)] ?? 0) ^
      (tables[four >>> 24] ?? 0);
  }
  for (; at < end; at += 1) sum = (sum >>> 8) ^ (tables[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~sum >>> 0;
}

/** Four tables of 256, each for bytes one place further from the end. */
function tablesOfCrc32(): Int32Array {
  const made = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ 0xedb8_8320 : sum >>> 1;
    made[byte] = sum;
  }
  for (let at = 256; at < made.length; at += 1) {
    const before = made[at - 256] ?? 0;
    made[at] = (before >>> 8) ^ (made[before & 0xff] ?? 0);
  }
  return made;
}
