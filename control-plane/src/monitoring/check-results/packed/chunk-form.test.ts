import { crc32 } from 'node:zlib';
import t from 'tap';
import { BitWriter } from './bits.ts';
import { ChunkError, decodeChunk, encodeChunk, maxChunkRows } from './chunk.ts';
import { ResultColumns } from './columns.ts';
import type { ResultRow } from './columns.ts';
import { columnsOf, hourUs, received, row, rowsOf, storedChunks } from './testing/stored-chunks.ts';

const secondUs = 1_000_000;

for (const [what, rows, hex] of storedChunks) {
  t.test(`what is stored of ${what}`, async (t) => {
    t.equal(encodeChunk(columnsOf(rows)).toString('hex'), hex);
    t.same(rowsOf(decodeChunk(Buffer.from(hex, 'hex'))), rows);
  });
}

t.test('one row is still read as it was written at first', async (t) => {
  const read = (hex: string): ResultRow[] => rowsOf(decodeChunk(Buffer.from(hex, 'hex')));
  t.same(read('0153afc1a02000020a00f0c0d48105a493d64041001cc313'), [row(5, 40_123)], 'with a unit of 1 µs');
  t.same(
    read('01e24fc1a02000020a00f0c0d48105a493d6800afa00100a00'),
    [row(5, 40_000)],
    'in whole milliseconds, and what is beyond them',
  );
});

t.test('every set of phases comes back', async (t) => {
  const names = ['dnsUs', 'connectUs', 'tlsUs', 'firstByteUs', 'transferUs'] as const;
  for (let set = 0; set < 32; set += 1) {
    const present = names.filter((_, index) => (set & (1 << index)) !== 0);
    const rows = [row(0, 40_000), row(7, 40_000)].map((each, at) => ({
      ...each,
      ...Object.fromEntries(present.map((name, index) => [name, 100 * (at + 1) + index])),
    }));
    t.same(rowsOf(decodeChunk(encodeChunk(columnsOf(rows)))), rows);
  }
});

/** The module as it is when it is loaded, with its first space. */
let loaded = 0;
const loadAnew = async (): Promise<typeof import('./chunk.ts')> => {
  loaded += 1;
  return (await import(`./chunk.ts?fresh=${loaded}`)) as typeof import('./chunk.ts');
};

t.test('more rows than there is space for at first are written and read, and then fewer', async (t) => {
  const many = Array.from({ length: 700 }, (_, at) =>
    row(at * 5_000_003, at * 5_000_003 + 40_000 + (at % 7), { dnsUs: at }),
  );
  const chunk = encodeChunk(columnsOf(many));
  t.ok(chunk.equals((await loadAnew()).encodeChunk(columnsOf(many))));
  const reading = await loadAnew();
  t.same(rowsOf(reading.decodeChunk(chunk)), many);
  for (const [what, rows, hex] of storedChunks) {
    t.equal(reading.encodeChunk(columnsOf(rows)).toString('hex'), hex, what);
    t.same(rowsOf(reading.decodeChunk(Buffer.from(hex, 'hex'), columnsOf(many))), rows, what);
  }
});

t.test('columns in which a chunk is read need not have room for it', async (t) => {
  const rows = received(41_000, 33_000, 45_000);
  const into = new ResultColumns(1);
  into.push(row(77, 77));
  t.equal(decodeChunk(encodeChunk(columnsOf(rows)), into), into);
  t.same(rowsOf(into), rows);
});

/** A chunk of these bits, with the version and checksum that it must have. */
const sealed = (body: Uint8Array): Buffer => {
  const head = Buffer.from([1, 0, 0]);
  head.writeUInt16LE(crc32(body) & 0xffff, 1);
  return Buffer.concat([head, body]);
};
const written = (write: (out: BitWriter) => void): Buffer => {
  const out = new BitWriter();
  write(out);
  return sealed(out.bytes());
};

t.test('what is wrong with bytes that are refused is said', async (t) => {
  const refused = (bytes: Uint8Array, message: string): void => {
    t.throws(() => decodeChunk(bytes), new ChunkError(message));
    t.throws(() => decodeChunk(bytes), { name: 'ChunkError' });
  };
  const chunk = encodeChunk(columnsOf(received(41_000, 33_000, 45_000)));
  refused(Buffer.alloc(0), 'a chunk of 0 bytes');
  refused(Buffer.from([1, 0, 0]), 'a chunk of 3 bytes');
  refused(Buffer.from([0, 0, 0, 1]), 'a chunk of the unknown version 0');
  refused(chunk.subarray(0, -1), 'a chunk whose checksum does not fit: it was cut or changed');
  refused(sealed(chunk.subarray(3, -1)), 'a chunk that cannot be read: the bytes end too early');
  refused(sealed(Buffer.concat([chunk.subarray(3), Buffer.alloc(1)])), 'a chunk that cannot be read: 1 bytes too many');
  refused(
    written((out) => out.writeCount(0)),
    'a chunk that cannot be read: 0 rows',
  );
  refused(
    written((out) => out.writeCount(maxChunkRows + 1)),
    `a chunk that cannot be read: ${maxChunkRows + 1} rows`,
  );
  const form = written((out) => {
    out.writeCount(1);
    out.writeCount(1);
    for (const number of [1, 0, 160, 0]) out.writeSigned(number);
    out.write(0, 5);
    // The total, then the time: a column of one number, then the first time, no schedule.
    out.write(0, 3);
    out.writeSigned(30_000);
    out.writeSigned(hourUs);
    out.writeCount(0);
    out.write(3, 2);
    out.writeSigned(40_000);
  });
  refused(form, 'a chunk that cannot be read: receipts of the unknown form 3');
});

t.test('what goes wrong without the bytes being to blame is told as it is', async (t) => {
  class Full extends ResultColumns {
    override reserve(): void {
      throw new RangeError('no room');
    }
  }
  const chunk = encodeChunk(columnsOf([row(0, 40_000)]));
  t.throws(() => decodeChunk(chunk, new Full()), { name: 'RangeError', message: 'no room' });
});

t.test('an hour of checks every second, without noise, takes hardly more than its receipts', async (t) => {
  const size = (rows: readonly ResultRow[]): number => encodeChunk(columnsOf(rows)).length;
  const hour = Array.from({ length: 3_600 }, (_, at) => at * secondUs);
  t.ok(size(hour.map((us) => row(us, us + 40_000))) <= 40, 'all alike');
  t.ok(size(hour.map((us) => row(us, hourUs + 123))) <= 40, 'one receipt');
  t.ok(size(hour.map((us, at) => row(us, us + 40_000 + 1_000 * (at % 64)))) <= 40 + (3_600 * 6) / 8, 'milliseconds');
  t.ok(
    size(hour.map((us, at) => row(us + ((at * 37) % 256), us + 40_000))) <= 60 + (3_600 * 8) / 8,
    'a check begins up to 256 µs late',
  );
});
