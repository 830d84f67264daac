import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { checksumOf } from './checksum.ts';

void t.test('it is the CRC32 of any part of the bytes, from any seed', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 600, size: 'max' }),
      fc.nat(600),
      fc.nat(600),
      fc.integer({ min: 0, max: 0xffff_ffff }),
      (made, one, other, seed) => {
        const bytes = Buffer.from(made);
        const [from = 0, end = 0] = [one, other].map((at) => Math.min(at, bytes.length)).sort((a, b) => a - b);
        assert.equal(checksumOf(bytes, from, end, seed), crc32(bytes.subarray(from, end), seed));
      },
    ),
    { numRuns: 2_000 },
  );
});
