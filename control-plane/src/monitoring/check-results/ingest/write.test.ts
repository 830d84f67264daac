import t from 'tap';
import type { RangeEdit } from '../../consensus/index.ts';
import { RangeDriftError } from '../../status-ranges/index.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { createCopyEncoder } from './copy-buffer.ts';
import { insertMonitors, insertProbe, insertWorkspace } from './testing/fixture.ts';
import { openIngestClient } from './job.ts';
import type { IngestRow } from './rows.ts';
import { OwnershipLostError, writeRound } from './write.ts';
import type { RoundToWrite } from './write.ts';

const { urls, database } = await testDatabase(t);
const pool = database.raw;
const owner = await insertWorkspace(pool);
const probe = await insertProbe(pool, 'a');
const baseUs = Math.floor(Date.now() / 1_000) * 1_000_000 - 60_000_000;
const [monitor = 0] = await insertMonitors(pool, owner, { count: 1, probes: [probe], createdMs: baseUs / 1_000 });
await pool.query(`select ensure_result_partitions(now() - interval '1 day', now() + interval '1 day')`);
await pool.query(`update shards set owner = 'me', term = 5`);
const client = await openIngestClient(urls.worker, 'test write');
t.teardown(() => client.end());

const encode = createCopyEncoder();
const me = { shard: 0, owner: 'me', term: 5 };
const row: IngestRow = {
  eUs: baseUs,
  receivedUs: baseUs + 1,
  monitorId: monitor,
  voter: probe.id,
  kind: 'scheduled',
  outcome: 'ok',
  error: 0,
  freshS: 60,
  probeRevision: 1,
  flags: 0,
  totalUs: 1,
  dnsUs: undefined,
  connectUs: undefined,
  tlsUs: undefined,
  firstByteUs: undefined,
  transferUs: undefined,
  evidence: undefined,
};

/** A round of one row whose cursor goes from one sequence number to another. */
function round(from: number, to: number, edits: readonly RangeEdit[] = []): RoundToWrite {
  return {
    intake: { rows: [row], moves: new Map([['', { probeId: probe.id, epoch: 1, from, to }]]), lost: [], rejected: [] },
    changes: {
      edits: [...edits],
      statuses: [{ monitorId: monitor, status: 'UP', sinceUs: baseUs, announced: null }],
      outbox: [{ key: 'k', kind: 'x', payload: {} }],
    },
    foldedUntilUs: baseUs,
  };
}

async function stored(): Promise<Record<string, string>> {
  const found = await pool.query<Record<string, string>>(
    `select (select count(*) from check_results) as results, (select coalesce(max(seq), 0) from cursors) as seq, (select count(*) from outbox) as outbox,
       (select status from monitors) as status, (select count(*) from status_ranges) as ranges`,
  );
  return found.rows[0] ?? {};
}
const nothing = { results: '0', seq: '0', outbox: '0', status: 'UNKNOWN', ranges: '0' };

t.test('a term that is over writes nothing at all', async (t) => {
  await t.rejects(writeRound(client, { ...me, term: 4 }, round(0, 1), encode), OwnershipLostError);
  await t.rejects(writeRound(client, { ...me, owner: 'somebody' }, round(0, 1), encode), OwnershipLostError);
  t.same(await stored(), nothing);
});

t.test('a cursor that is not where memory has it writes nothing at all', async (t) => {
  await t.rejects(writeRound(client, me, round(3, 4), encode), OwnershipLostError, 'there is none yet');
  t.same(await stored(), nothing);
});

t.test('an edit of a range that is not there writes nothing at all', async (t) => {
  const lost: RangeEdit = {
    monitorId: monitor,
    voter: null,
    op: 'update',
    startedUs: baseUs,
    endedUs: baseUs + 1,
    revised: false,
  };
  await t.rejects(writeRound(client, me, round(0, 1, [lost]), encode), RangeDriftError);
  t.same(await stored(), nothing);
});

t.test('a good round is written whole, and the same round again is refused', async (t) => {
  await writeRound(client, me, round(0, 1), encode);
  t.same(await stored(), { ...nothing, results: '1', seq: '1', outbox: '1', status: 'UP' });
  await t.rejects(writeRound(client, me, round(0, 1), encode), 'the cursor exists already');
  await writeRound(client, me, round(1, 2), encode);
  await t.rejects(writeRound(client, me, round(1, 2), encode), OwnershipLostError, 'the cursor has moved on');
  t.same(await stored(), { ...nothing, results: '2', seq: '2', outbox: '2', status: 'UP' });
});

t.test('edits of ranges are applied in their order, and late ones are marked', async (t) => {
  const evidence = { rule: 'answered', quorum: 2, voters: [], missing: [] } as const;
  const key = { monitorId: monitor, voter: null };
  const insert = (startedUs: number, endedUs: number | null, status: 'UP' | 'DOWN', revised = false): RangeEdit => ({
    ...key,
    op: 'insert',
    startedUs,
    endedUs,
    status,
    evidence,
    revised,
  });
  const second = 1_000_000;
  await writeRound(client, me, round(2, 3, [insert(baseUs, null, 'UP')]), encode);
  await writeRound(
    client,
    me,
    round(3, 4, [
      {
        ...key,
        op: 'update',
        startedUs: baseUs,
        newStartedUs: baseUs - second,
        endedUs: baseUs + 5 * second,
        revised: true,
      },
      insert(baseUs + 5 * second, baseUs + 6 * second, 'DOWN', true),
      insert(baseUs + 6 * second, null, 'UP'),
      { ...insert(baseUs + 1, null, 'UP'), voter: probe.id },
    ]),
    encode,
  );
  await writeRound(
    client,
    me,
    round(4, 5, [
      { ...key, op: 'delete', startedUs: baseUs + 5 * second },
      { ...key, op: 'delete', startedUs: baseUs + 6 * second },
      {
        ...key,
        op: 'update',
        startedUs: baseUs - second,
        endedUs: null,
        status: 'DOWN',
        evidence: { ...evidence, quorum: 1 },
        revised: false,
      },
      { ...key, voter: probe.id, op: 'update', startedUs: baseUs + 1, endedUs: baseUs + 2, revised: false },
    ]),
    encode,
  );
  const ranges = await pool.query<{
    started: string;
    ended: string | null;
    status: string;
    quorum: number;
    revised: boolean;
  }>(
    `select (extract(epoch from started_at) * 1000000)::bigint as started, ended_at as ended, status, (evidence->>'quorum')::integer as quorum,
       revised_at is not null as revised from status_ranges`,
  );
  t.same(ranges.rows, [{ started: String(baseUs - second), ended: null, status: 'DOWN', quorum: 1, revised: true }]);
  const own = await pool.query('select probe_id from probe_ranges where ended_at is not null and revised_at is null');
  t.same(own.rows, [{ probe_id: probe.id }]);
});
