import { crc32 } from 'node:zlib';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { checksumOf } from './checksum.ts';

t.test('the checksum is the lower half of the CRC-32 of zlib', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(10), (bytes, from) => {
      t.equal(checksumOf(bytes, from), crc32(bytes.subarray(from)) & 0xffff);
    }),
  );
  t.equal(checksumOf(Buffer.from('123456789'), 0), 0xcbf4_3926 & 0xffff, 'the check value of CRC-32/ISO-HDLC');
  t.end();
});
