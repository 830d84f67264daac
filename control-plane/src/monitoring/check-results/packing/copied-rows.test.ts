import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { testDatabase } from '../../../platform/database/testing.ts';
import { to as copyTo, from as copyFrom } from 'pg-copy-streams';
import { copyText, createCopyEncoder } from '../ingest/copy-buffer.ts';
import type { IngestRow } from '../ingest/rows.ts';
import { CopiedRows, copyRowsText } from './copied-rows.ts';
import { hourMs } from './hours.ts';

const firstMs = Date.UTC(2026, 2, 1, 10);
const hour = firstMs / hourMs;
const integer = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2_147_483_647, -2_147_483_647));
const phase = fc.option(fc.integer({ min: 0, max: 2_147_483_647 }), { nil: undefined });
const arbitraryRow = fc.record({
  eUs: fc.integer({ min: (firstMs - hourMs) * 1_000, max: (firstMs + 3 * hourMs) * 1_000 - 1 }),
  receivedUs: fc.integer({ min: 0, max: firstMs * 2_000 }),
  monitorId: fc.constantFrom(1, 2, 2_147_483_647),
  voter: fc.constantFrom(0, 7, 999_999_999),
  probeRevision: integer,
  flags: integer,
  freshS: integer,
  totalUs: integer,
  dnsUs: phase,
  connectUs: phase,
  tlsUs: phase,
  firstByteUs: phase,
  transferUs: phase,
  error: fc.integer({ min: -32_768, max: 32_767 }),
  kind: fc.constant('scheduled' as const),
  outcome: fc.constant('ok' as const),
  evidence: fc.constant(undefined),
});

t.test(
  'rows leave the table exactly as they are, sorted by monitor, hour and probe, wherever the bytes are cut',
  async (t) => {
    const { database } = await testDatabase(t);
    await database.raw.query(`select ensure_result_partitions('2026-03-01', '2026-03-01')`);
    const encode = createCopyEncoder();
    const copied = new CopiedRows();
    const rows = fc.array(arbitraryRow, { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 200 }), integer, async (given: IngestRow[], cut, floor) => {
        const client = await database.raw.connect();
        try {
          await client.query('begin');
          const stream = client.query(copyFrom(copyText));
          stream.end(encode(given));
          await new Promise<void>((resolve, reject) => stream.on('finish', resolve).on('error', reject));
          const parts: Buffer[] = [];
          for await (const part of client.query(copyTo(copyRowsText(hour, hour + 2, [1, 2_147_483_647])))) {
            parts.push(part as Buffer);
          }
          const bytes = Buffer.concat(parts);
          const floorUs = firstMs * 1_000 + floor;
          copied.clear(new Map([[1, floorUs]]));
          copied.begin();
          for (let at = 0; at < bytes.length; at += cut) copied.add(Buffer.from(bytes.subarray(at, at + cut)));
        } finally {
          await client.query('rollback');
          client.release();
        }
        const expected = given.filter(
          ({ monitorId, eUs }) =>
            monitorId !== 2 &&
            (monitorId !== 1 || eUs >= firstMs * 1_000 + floor) &&
            Math.floor(eUs / 1_000 / hourMs) - hour in [0, 1],
        );
        const found = copied.hours.flatMap(({ monitorId, hour: of, probeId, rows: own }) =>
          Array.from({ length: own.length }, (_, at) =>
            JSON.stringify([monitorId, of, probeId, ...Object.values(own.row(at))]),
          ),
        );
        const wanted = expected.map(
          (row) =>
            JSON.stringify([
              row.monitorId,
              Math.floor(row.eUs / 1_000 / hourMs),
              row.voter,
              row.eUs,
              row.receivedUs,
              row.probeRevision,
              row.flags,
              row.freshS,
              row.totalUs,
              row.dnsUs ?? null,
              row.connectUs ?? null,
              row.tlsUs ?? null,
              row.firstByteUs ?? null,
              row.transferUs ?? null,
              row.error,
            ]), // prettier-ignore
        );
        t.same(found.sort(), wanted.sort());
        const keys = copied.hours.map(({ monitorId, hour: of, probeId }) => `${monitorId} ${of} ${probeId}`);
        return new Set(keys).size === keys.length;
      }),
      { numRuns: 100 },
    );
  },
);
