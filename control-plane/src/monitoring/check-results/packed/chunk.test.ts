import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { BitWriter } from './bits.ts';
import { ChunkError, decodeChunk, encodeChunk, maxChunkRows } from './chunk.ts';
import { ResultColumns } from './columns.ts';
import type { ResultRow } from './columns.ts';
import { madeProtocols, madeResults, madeTarget, seededRandom } from './testing/made-results.ts';

const hourUs = 3_600_000_000;
const baseUs = 490_000 * hourUs;

const int32 = fc.integer({ min: -2_147_483_647, max: 2_147_483_647 });
const duration = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.nat());
const phase = fc.option(fc.oneof(duration, int32), { nil: null });
const anyRow: fc.Arbitrary<ResultRow> = fc
  .record({
    eUs: fc.oneof(
      fc.integer({ min: baseUs, max: baseUs + hourUs - 1 }),
      // Slots of a schedule, and ties.
      fc.nat(60).map((slot) => baseUs + slot * 60_000_000),
      fc.integer({ min: 0, max: 2 ** 51 }),
    ),
    receivedUs: fc.oneof(fc.integer({ min: baseUs, max: baseUs + 50 * hourUs }), fc.integer({ min: 0, max: 2 ** 51 })),
    probeRevision: fc.oneof(fc.nat(3), int32),
    flags: fc.oneof(fc.nat(2_047), int32),
    freshS: fc.oneof(fc.constant(160), int32),
    totalUs: fc.oneof(duration, int32),
    dnsUs: phase,
    connectUs: phase,
    tlsUs: phase,
    firstByteUs: phase,
    transferUs: phase,
    error: fc.integer({ min: -32_768, max: 32_767 }),
  })
  .map((row) => ({ ...row }));

const columnsOf = (rows: Iterable<ResultRow>): ResultColumns => {
  const columns = new ResultColumns(1);
  for (const row of rows) columns.push(row);
  return columns;
};
const rowsOf = (columns: ResultColumns): ResultRow[] =>
  Array.from({ length: columns.length }, (_, at) => columns.row(at));
const inOrder = (rows: readonly ResultRow[]): ResultRow[] =>
  rows.toSorted((a, b) => a.eUs - b.eUs || a.receivedUs - b.receivedUs || a.flags - b.flags || a.totalUs - b.totalUs);

/** As `deepEqual`, which takes minutes to tell how two lists of thousands of rows differ: this tells of the first row that does. */
function sameRows(found: readonly ResultRow[], wanted: readonly ResultRow[], message?: string): void {
  assert.equal(found.length, wanted.length, message);
  const at = found.findIndex((row, index) => !isDeepStrictEqual(row, wanted[index]));
  assert.deepEqual(found[at], wanted[at], message);
}

void t.test('whatever rows there are, they come back exactly, in order of time', async () => {
  const again = new ResultColumns();
  fc.assert(
    fc.property(fc.array(anyRow, { minLength: 1, maxLength: 80 }), (rows) => {
      const chunk = encodeChunk(columnsOf(rows));
      const expected = inOrder(rows);
      sameRows(rowsOf(decodeChunk(chunk)), expected);
      sameRows(rowsOf(decodeChunk(chunk, again)), expected, 'also in columns that held something else');
    }),
    { numRuns: 500 },
  );
});

void t.test('results of a schedule come back exactly: gaps, rechecks, backlogs, revisions', async () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.constantFrom(...madeProtocols),
      fc.constantFrom(1, 20, 60, 300, 3_600),
      fc.constantFrom(1, 100, 1_000),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (seed, protocol, intervalS, receiptUs, share) => {
        const random = seededRandom(seed);
        const target = madeTarget(random, protocol, intervalS);
        const rows: ResultRow[] = [];
        const cutUs = baseUs + share * hourUs;
        for (const row of madeResults(random, target, baseUs, baseUs + hourUs, { receiptUs, failures: share / 5 })) {
          if (random() < share / 4) continue;
          // A probe that was cut off sends all at once.
          rows.push(row.eUs < cutUs ? row : { ...row, receivedUs: baseUs + hourUs, probeRevision: 2 });
          if (random() < share / 4) rows.push({ ...row, eUs: row.eUs + 5_000_000, flags: 1 });
        }
        if (rows.length > 0) sameRows(rowsOf(decodeChunk(encodeChunk(columnsOf(rows)))), inOrder(rows));
      },
    ),
    { numRuns: 300 },
  );
});

void t.test('an hour on schedule takes few bytes: hardly more than its noise', async (t) => {
  const bytesPerResult = (protocol: (typeof madeProtocols)[number]): number => {
    const random = seededRandom(5);
    let bytes = 0;
    let results = 0;
    for (let index = 0; index < 100; index += 1) {
      const rows = columnsOf(madeResults(random, madeTarget(random, protocol), baseUs, baseUs + hourUs));
      bytes += encodeChunk(rows).length;
      results += rows.length;
    }
    return bytes / results;
  };
  // Eight columns of noise of 8 to 14 bits each, and so on downwards.
  for (const [protocol, most] of Object.entries({ https: 11.1, http: 9.7, tcp: 6.7, dns: 5.7, icmp: 5.7 } as const)) {
    const bytes = bytesPerResult(protocol as (typeof madeProtocols)[number]);
    t.ok(bytes < most, `${protocol}: ${bytes.toFixed(2)} bytes per result`);
  }
  const [row] = madeResults(seededRandom(1), madeTarget(seededRandom(1), 'tcp'), baseUs, baseUs + hourUs);
  const same = Array.from({ length: 60 }, (_, index) => ({ ...row!, eUs: baseUs + index * 60_000_000 }));
  t.ok(encodeChunk(columnsOf(same)).length < 60, 'without noise hardly anything');
});

void t.test(
  'bytes that are cut, changed or made up are refused, and ask for no more than a little space',
  async (t) => {
    const random = seededRandom(3);
    const chunk = encodeChunk(columnsOf(madeResults(random, madeTarget(random, 'https'), baseUs, baseUs + hourUs)));
    for (let length = 0; length < chunk.length; length += 1)
      t.throws(() => decodeChunk(chunk.subarray(0, length)), ChunkError);
    t.throws(() => decodeChunk(Buffer.concat([chunk, Buffer.alloc(1)])), ChunkError);
    for (let bit = 0; bit < chunk.length * 8; bit += 1) {
      const changed = Buffer.from(chunk);
      changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
      t.throws(() => decodeChunk(changed), ChunkError);
    }
    t.throws(() => decodeChunk(Buffer.from([2, 0, 0, 1])), { message: /unknown version 2/ });

    const sealed = (body: Uint8Array): Buffer => {
      const head = Buffer.from([1, 0, 0]);
      head.writeUInt16LE(crc32(body) & 0xffff, 1);
      return Buffer.concat([head, body]);
    };
    const writer = new BitWriter();
    writer.writeCount(maxChunkRows + 1);
    t.throws(() => decodeChunk(sealed(writer.bytes())), { name: 'ChunkError', message: /131073 rows/ });
    const tried = { read: 0, refused: 0 };
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean(), (body, isMutation) => {
        // Half of them are chunks with some bytes changed, so that the reading comes far.
        const bytes = isMutation ? Buffer.from(chunk.subarray(3)) : body;
        if (isMutation)
          for (const [at, byte] of body.subarray(0, 5).entries()) bytes[(byte * 7 + at * 31) % bytes.length] = byte;
        try {
          const rows = decodeChunk(sealed(bytes));
          assert.ok(rows.length <= maxChunkRows);
          tried.read += 1;
        } catch (error) {
          if (!(error instanceof ChunkError)) throw error;
          tried.refused += 1;
        }
      }),
      { numRuns: 2_000 },
    );
    t.ok(tried.refused > 500 && tried.read > 0, `${tried.refused} refused, ${tried.read} read as something else`);
  },
);

void t.test('what is no hour is refused', async (t) => {
  t.throws(() => encodeChunk(new ResultColumns()), RangeError);
  const rows = new ResultColumns();
  rows.reserve(maxChunkRows + 1);
  rows.length = maxChunkRows + 1;
  t.throws(() => encodeChunk(rows), RangeError);
  rows.length = maxChunkRows;
  t.equal(decodeChunk(encodeChunk(rows)).length, maxChunkRows, 'the most that fits');
});
