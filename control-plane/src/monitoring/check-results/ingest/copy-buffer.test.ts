import fc from '@parallax/testkit/fast-check';
import { from as copyFrom } from 'pg-copy-streams';
import t from 'tap';
import { testDatabase } from '../../../platform/database/testing.ts';
import { copyText, createCopyEncoder } from './copy-buffer.ts';
import type { IngestRow } from './rows.ts';

const duration = fc.option(fc.integer({ min: 0, max: 4_294_967_294 }), { nil: undefined });
// 2026-03-01 and 40 days, to the microsecond.
const instant = fc.integer({ min: 1_772_323_200_000_000, max: 1_775_779_200_000_000 });

const arbitraryRow = fc.record({
  eUs: instant,
  receivedUs: instant,
  monitorId: fc.integer({ min: 1, max: 2_147_483_647 }),
  voter: fc.nat(),
  probeRevision: fc.nat(),
  flags: fc.integer({ min: 0, max: 1_023 }),
  error: fc.integer({ min: 0, max: 32_767 }),
  freshS: fc.integer({ min: 1, max: 300_000 }),
  totalUs: fc.integer({ min: 0, max: 4_000_000_000 }),
  dnsUs: duration,
  connectUs: duration,
  tlsUs: duration,
  firstByteUs: duration,
  transferUs: duration,
  kind: fc.constant('scheduled' as const),
  outcome: fc.constant('ok' as const),
  evidence: fc.constant(undefined),
});

t.test('rows arrive in the table exactly as they are, whatever their number', async (t) => {
  const { database } = await testDatabase(t);
  await database.raw.query(`select ensure_result_partitions('2026-03-01', '2026-04-10')`);
  const encode = createCopyEncoder();
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryRow, { maxLength: 30 }), async (rows: IngestRow[]) => {
      const client = await database.raw.connect();
      try {
        await client.query('begin');
        await new Promise<void>((resolve, reject) => {
          const stream = client.query(copyFrom(copyText));
          stream.on('finish', resolve);
          stream.on('error', reject);
          stream.end(encode(rows));
        });
        const found = await client.query<{ row: string }>(
          `select concat_ws(' ', (extract(epoch from e) * 1000000)::bigint, (extract(epoch from received_at) * 1000000)::bigint, monitor_id, probe_id,
             probe_revision, flags, fresh_s, total_us, coalesce(dns_us, -1), coalesce(connect_us, -1), coalesce(tls_us, -1),
             coalesce(first_byte_us, -1), coalesce(transfer_us, -1), error) as row from check_results`,
        );
        const most = 2_147_483_647;
        const expected = rows.map((row) =>
          [
            row.eUs,
            row.receivedUs,
            row.monitorId,
            row.voter,
            row.probeRevision,
            row.flags,
            row.freshS,
            Math.min(most, row.totalUs),
            ...[row.dnsUs, row.connectUs, row.tlsUs, row.firstByteUs, row.transferUs].map((us) =>
              Math.min(most, us ?? -1),
            ),
            row.error,
          ].join(' '),
        );
        if (
          found.rows
            .map((one) => one.row)
            .sort()
            .join('\n') !== expected.sort().join('\n')
        )
          throw new Error('rows differ');
        await client.query('rollback');
      } finally {
        client.release();
      }
    }),
    { numRuns: 60 },
  );
  t.pass();
});
