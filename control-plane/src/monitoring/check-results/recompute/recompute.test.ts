import t from 'tap';
import { eventually } from '../ingest/testing/world.ts';
import { dayMs, hourMs } from '../packing/hours.ts';
import { moveAndDrop } from '../packing/job.ts';
import { samplePackedHours } from './sample/queries.ts';
import { RecomputeError } from './place/queries.ts';
import { endMs, firstHour, packedHour, recomputable, row, shift, startMs, told } from './testing/recomputable.ts';

t.test('what is as it should be shows no difference, in any window', async (t) => {
  const w = await recomputable(t);
  t.same(told(await w.look()), []);
  t.same(told(await w.look(w.monitors[1])), []);
  for (const [from, to] of [
    [5.1, 6.3],
    [6, 20.3],
    [20.1, 90],
    [-50, 1],
    [3, 3],
  ] as const) {
    const look = await w.look(w.monitor, { fromMs: startMs + from * hourMs, toMs: startMs + to * hourMs });
    t.same(told(look), [], `${from} to ${to}`);
  }
  await t.rejects(w.look(999_999), RecomputeError);
});

t.test('a sample notices packed hours that differ from their summaries', async (t) => {
  const w = await recomputable(t);
  const looks = async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => samplePackedHours(w.database.worker)));
    return all.filter(({ looked }) => looked > 0);
  };
  t.ok((await looks()).every(({ wrong }) => wrong === 0));
  await w.pool.query('update result_hours set results = results + 1');
  const wrong = await looks();
  t.ok(wrong.length > 0 && wrong.every((one) => one.wrong === one.looked && one.looked <= 5));
});

t.test('without an ingest ranges wait for the next one, which puts them right with its takeover', async (t) => {
  const w = await recomputable(t);
  await w.pool.query(`delete from status_ranges where id = (select min(id) from ${row('status_ranges', 4)})`, [
    w.monitor,
  ]);
  const look = await w.look();
  t.same(await w.heal(look), { packed: 0, ranges: 'waiting' });
  t.same(told(await w.look()), told(look), 'nobody else writes ranges');
  w.run();
  await eventually(async () => (await w.count('monitors where refold_from is not null')) === 0, 'it was derived anew');
  t.same(told(await w.look()), []);
});

t.test(
  'an hour whose rows are dropped is judged by its chunk; one that is lost cannot be put right and is not made worse',
  async (t) => {
    const w = await recomputable(t);
    await w.pool.query(`update result_storage set hot_from = $1, moved_at = now() - interval '2 minutes'`, [
      new Date(startMs + dayMs),
    ]);
    await moveAndDrop({ database: w.database, now: () => endMs }, w.log, () => false);
    t.same(told(await w.look()), [], 'ranges are derived from chunks too');
    await w.pool.query(`update result_hours set summary = '\\x', results = 1 where ${packedHour(9)}`, [w.monitor]);
    const wrong = await w.look();
    t.match(told(wrong), [
      'hour 9: it counts 1 results instead of 6',
      'hour 9: the summary is damaged: a summary of 0 bytes',
    ]);
    await w.heal(wrong);
    t.same(told(await w.look()), []);

    await w.pool.query(`update result_hours set chunk = '\\x01' where ${packedHour(2)}`, [w.monitor]);
    await w.pool.query(
      `update status_ranges set ended_at = ended_at - ${shift(0.1)} where id = (select min(id) from ${row('status_ranges', -1)})`,
      [w.monitor],
    );
    const lost = await w.look();
    t.match(told(lost), [/^hour 2: the chunk is damaged/], 'ranges that rest on it are not judged');
    t.ok((lost.underived?.untilUs ?? 0) > (startMs + 3 * hourMs) * 1_000);
    t.match(lost.underived?.reason, /lost/);
    const before = await w.pool.query('select * from result_hours order by 1, 2, 3');
    await w.heal(lost);
    t.same((await w.pool.query('select * from result_hours order by 1, 2, 3')).rows, before.rows);
    t.match(told(await w.look()), [/^hour 2: the chunk is damaged/]);
  },
);

t.test('what is to be packed yet, and what a plan does not keep, is not judged', async (t) => {
  const w = await recomputable(t);
  await w.pool.query(`delete from result_hours where ${packedHour(3)}`, [w.monitor]);
  await w.pool.query('insert into stale_hours (monitor_id, hour) values ($1, $2)', [w.monitor, firstHour + 3]);
  t.same(told(await w.look()), []);
  await w.pack();
  t.equal(await w.count('stale_hours'), 0);
  t.same(told(await w.look()), [], 'packed again meanwhile');
  await w.pool.query(`update monitors set created_at = created_at - interval '300 days'`);
  const look = await w.look();
  t.same(told(look), []);
  t.match(look.underived?.reason, /not kept any more/);
});
