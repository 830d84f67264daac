import { crc32 } from 'node:zlib';
import t from 'tap';
import { decodeSummary, encodeSummary, RunningSummary, SummaryError } from './summary.ts';

const summary = new RunningSummary();
summary.addRow(0, 23_000);
const bytes = encodeSummary(summary);

/** A body with a head that fits it. */
function sealed(body: Uint8Array): Buffer {
  const head = Buffer.from([1, 0, 0]);
  head.writeUInt16LE(crc32(body) & 0xffff, 1);
  return Buffer.concat([head, body]);
}

t.test('a summary begins with its version, which does not change while such bytes are stored', async (t) => {
  t.equal(bytes[0], 1);
  t.same(sealed(bytes.subarray(3)), bytes);
  t.equal(decodeSummary(bytes).latency.maxUs, 23_000);
});

t.test('what is no summary is refused by what is wrong with it', async (t) => {
  const refused = (given: Uint8Array, message: RegExp): void => {
    t.throws(() => decodeSummary(given), { name: 'SummaryError', message });
    t.throws(() => decodeSummary(given), SummaryError);
  };
  refused(Buffer.alloc(0), /^a summary of 0 bytes$/);
  refused(Buffer.from([1, 0, 0]), /^a summary of 3 bytes$/);
  refused(Buffer.from([2, 0, 0, 0]), /^a summary of the unknown version 2$/);
  refused(Buffer.concat([bytes, Buffer.alloc(1)]), /checksum/);
  refused(
    sealed(Buffer.concat([bytes.subarray(3), Buffer.alloc(1)])),
    /^a summary that cannot be read: 1 bytes too many$/,
  );
  refused(sealed(bytes.subarray(3, -1)), /^a summary that cannot be read: /);
  refused(sealed(Buffer.alloc(40, 0xff)), /^a summary that cannot be read: /);
});
