/** The sum of one byte, for each. */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum & 1) === 1 ? (sum >>> 1) ^ 0xedb8_8320 : sum >>> 1;
  return sum;
});

/** The lower half of the CRC-32 of the bytes from a place on, as `node:zlib` has it: a call into that library costs more than the sum of 60 bytes. */
export function checksumOf(bytes: Uint8Array, from: number): number {
  let sum = -1;
  for (let at = from; at < bytes.length; at += 1) sum = (sum >>> 8) ^ (table[(sum ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~sum & 0xffff;
}
