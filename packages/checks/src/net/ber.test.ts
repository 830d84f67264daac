import t from 'tap';
import {
  ber,
  BerError,
  berInteger,
  berOid,
  berPart,
  berParts,
  readBerInteger,
  readBerOid,
  readBerUnsigned,
  takeBer,
} from './ber.ts';

void t.test('integers, identifiers and lengths come back as they went', async (t) => {
  for (const value of [0, 1, 127, 128, 255, 256, 32_767, 32_768, 2_147_483_647, -1, -128, -129, -2_147_483_648]) {
    const taken = takeBer(berInteger(value));
    t.equal(readBerInteger(taken?.value.content ?? Buffer.alloc(0)), value);
  }
  t.equal(berInteger(128).toString('hex'), '02020080', 'as short as it can be');
  t.equal(berInteger(-128).toString('hex'), '020180');
  for (const oid of ['1.3.6.1.2.1.1.3.0', '2.999.4294967295', '0.39', '1.3.6.1.4.1.8072.3.2.10'])
    t.equal(readBerOid(takeBer(berOid(oid))?.value.content ?? Buffer.alloc(0)), oid);
  for (const length of [0, 127, 128, 255, 256, 65_535, 65_536]) {
    const bytes = ber(4, Buffer.alloc(length));
    t.equal(takeBer(bytes)?.used, bytes.length);
    t.equal(takeBer(bytes)?.value.content.length, length);
  }
  t.equal(readBerUnsigned(Buffer.from('00ffffffffffffffff', 'hex')), 18_446_744_073_709_551_615n);
});

void t.test('what is not whole is waited for, what is wrong is refused', async (t) => {
  const whole = ber(0x30, berInteger(5), ber(4, 'x'.repeat(300)));
  for (let cut = 0; cut < whole.length; cut += 1) t.equal(takeBer(whole.subarray(0, cut)), undefined);
  t.equal(berParts(takeBer(whole)?.value.content ?? Buffer.alloc(0)).length, 2);
  for (const hex of ['3080', '30850000000001', '1f8101'])
    t.throws(() => takeBer(Buffer.from(hex, 'hex')), BerError, hex);
  t.throws(() => berParts(Buffer.from('0205', 'hex')), BerError);
  t.throws(() => berParts(Buffer.alloc(40_000)), BerError, 'too many');
  t.throws(() => berPart([], 0, 2), BerError);
  for (const length of [0, 7]) t.throws(() => readBerInteger(Buffer.alloc(length)), BerError);
  t.throws(() => readBerOid(Buffer.from('2bffffffffff7f', 'hex')), BerError);
});

void t.test('random bytes give a value, nothing or an error of its own kind', async (t) => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 5000; round += 1) {
    const bytes = Buffer.from(Array.from({ length: random() % 40 }, () => random() % 256));
    try {
      const taken = takeBer(bytes);
      if (taken !== undefined) berParts(taken.value.content);
    } catch (error) {
      if (!(error instanceof BerError)) t.fail(String(error));
    }
  }
});
