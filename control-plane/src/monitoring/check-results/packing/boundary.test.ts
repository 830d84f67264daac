import pg from 'pg';
import t from 'tap';
import { createCopyEncoder } from '../ingest/copy-buffer.ts';
import { OwnershipLostError, writeRound } from '../ingest/write.ts';
import { moveAndDrop } from './job.ts';
import { hourMs } from './hours.ts';
import { hourOf, noonMs, round, rowsOf } from './testing/steps.ts';
import { hotRows, packedRows, packingWorld } from './testing/world.ts';

t.test(
  'the boundary moves when a day is old, closed and wholly packed; its rows are dropped a minute later',
  async (t) => {
    const w = await packingWorld(t, { atMs: noonMs, shards: 2 });
    const endMs = noonMs + 12 * hourMs;
    let nowMs = endMs + 50 * hourMs - 1;
    const move = () => moveAndDrop({ database: w.database, now: () => nowMs }, w.log, () => false);
    const hotFrom = async () =>
      (
        await w.pool.query<{ at: string }>(
          `select coalesce(nullif(hot_from, '-infinity')::text, 'never') as at from result_storage`,
        )
      ).rows[0]?.at;
    const shown = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('.000Z', '+00');
    await w.store(rowsOf(w, noonMs, endMs + hourMs));
    for (const shard of [0, 1]) await w.foldUntil(endMs + 2 * hourMs, shard);
    await move();
    t.equal(await hotFrom(), 'never', 'nothing is closed');
    await w.pack();
    await move();
    t.equal(await hotFrom(), shown(noonMs - 12 * hourMs), 'its end is not 50 h ago');
    nowMs += 1;
    const blockers = [
      [
        `update shards set closed_until = closed_until - interval '2 hours' where shard = 1`,
        `update shards set closed_until = closed_until + interval '2 hours' where shard = 1`,
      ],
      [
        'update shards set closed_until = null where shard = 1',
        `update shards set closed_until = (select closed_until from shards where shard = 0)`,
      ],
      [
        `insert into packing_jobs (kind, shard, at) values ('hour', 1, ${hourOf(endMs) - 1})`,
        'delete from packing_jobs',
      ],
      [
        `insert into packing_jobs (kind, shard, at) values ('day', 1, ${hourOf(endMs) / 24 - 1})`,
        'delete from packing_jobs',
      ],
      [
        `insert into stale_hours (monitor_id, hour) values (${w.monitor}, ${hourOf(endMs) - 1})`,
        'delete from stale_hours',
      ],
    ] as const;
    for (const [block, unblock] of blockers) {
      await w.pool.query(block);
      await move();
      t.equal(await hotFrom(), shown(noonMs - 12 * hourMs), block);
      await w.pool.query(unblock);
    }
    await w.pool.query(`insert into stale_hours (monitor_id, hour) values ($1, $2)`, [w.monitor, hourOf(endMs)]);
    t.same(await move(), [], 'nothing is dropped at once');
    t.equal(await hotFrom(), shown(endMs), 'a stale hour of a later day does not matter');
    t.same(await move(), []);
    await w.pool.query(`update result_storage set moved_at = moved_at - interval '1 minute'`);
    const name = `check_results_${new Date(noonMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
    const reader = await w.pool.connect();
    await reader.query('begin; select from check_results limit 1');
    await t.rejects(move(), /lock timeout/, 'somebody reads: it is tried again');
    await reader.query('commit');
    reader.release();
    t.same(await move(), [name]);
    t.same(await move(), []);
    t.equal(
      await w.count(`check_results`),
      await w.count(`check_results where e >= '${new Date(endMs).toISOString()}'`),
    );
    await t.rejects(
      w.pool.query('select ensure_result_partitions($1, $2)', [new Date(endMs - 1), new Date(endMs)]),
      /are packed: those before .* are stored no more/,
    );
    await w.pool.query('select ensure_result_partitions($1, $1)', [new Date(endMs)]);
    t.equal(await w.count('result_hours'), 13 * 6, 'what was packed is still there');
  },
);

t.test('a round whose rows lie before the boundary is refused whole, also while their day still stands', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + hourMs));
  await w.foldUntil(noonMs + 13 * hourMs);
  await w.pack();
  await w.pool.query('update result_storage set hot_from = $1', [new Date(noonMs + 12 * hourMs)]);
  const before = await w.count('check_results');
  await t.rejects(round(w, rowsOf(w, noonMs, noonMs + hourMs, 2)), /came too late to be stored/);
  t.equal(await w.count('check_results'), before);
  t.equal(await w.count('stale_hours'), 0);
  await w.pool.query(`update shards set term = 9`);
  await w.pool.query(`update shards set owner = 'other'`);
  const client = new pg.Client({ connectionString: w.urls.worker });
  await client.connect();
  await t.rejects(
    writeRound(
      client,
      { shard: 0, owner: 'me', term: 1 },
      {
        intake: { rows: rowsOf(w, noonMs, noonMs + hourMs), moves: new Map(), lost: [], rejected: [] },
        changes: { edits: [], statuses: [], outbox: [] },
        foldedUntilUs: undefined,
      },
      createCopyEncoder(),
    ),
    OwnershipLostError,
    'a stale owner makes nothing stale',
  );
  await client.end();
});

t.test('an hour whose rows are gone is packed again from its chunk', async (t) => {
  const w = await packingWorld(t, { atMs: noonMs });
  await w.store(rowsOf(w, noonMs, noonMs + 2 * hourMs));
  await w.foldUntil(noonMs + 13 * hourMs);
  await w.pack();
  const resetMs = noonMs + 90 * 60_000;
  await w.pool.query('update monitors set reset_at = $2 where id = $1', [w.monitor, new Date(resetMs)]);
  const expected = await hotRows(w.pool);
  await w.pool.query(`update result_storage set hot_from = $1, moved_at = now() - interval '2 minutes'`, [
    new Date(noonMs + 12 * hourMs),
  ]);
  t.equal((await moveAndDrop({ database: w.database, now: () => noonMs }, w.log, () => false)).length, 1);
  await w.pool.query('insert into stale_hours (monitor_id, hour) select id, h from monitors, unnest($1::integer[]) h', [
    [hourOf(noonMs), hourOf(noonMs) + 1],
  ]);
  await w.pack();
  const { rows, wrong } = await packedRows(w.pool);
  t.same(wrong, []);
  t.same(rows, expected, 'nothing but what the reset made void is gone');
});
