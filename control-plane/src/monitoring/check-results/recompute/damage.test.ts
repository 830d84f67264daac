import t from 'tap';
import { compareTimelines } from '../ingest/testing/compare-timelines.ts';
import { result } from '../ingest/testing/fixture.ts';
import { eventually } from '../ingest/testing/world.ts';
import { encodeChunk } from '../packed/chunk.ts';
import { ResultColumns } from '../packed/columns.ts';
import { hourMs } from '../packing/hours.ts';
import {
  endMs,
  everyMs,
  firstHour,
  foldedMs,
  freshS,
  owner,
  packedHour,
  recomputable,
  row,
  rowOf,
  shift,
  sound,
  startMs,
  told,
} from './testing/recomputable.ts';

/** The first range that fails after so many hours. */
const failing = (table: string, hours: number): string =>
  `(select id from ${row(table, hours)} and status in ('DOWN', 'TIMEOUT') order by started_at, probe limit 1)`.replace(
    ', probe',
    table === 'probe_ranges' ? ', probe_id' : '',
  );
const anyChunk = (): string => {
  const columns = new ResultColumns();
  columns.push({
    ...rowOf(1, 1, startMs * 1_000, 'ok'),
    dnsUs: null,
    connectUs: 1,
    tlsUs: null,
    firstByteUs: null,
    transferUs: null,
  });
  return encodeChunk(columns).toString('hex');
};

const corruptions: readonly (readonly [what: string, text: string, expected: RegExp])[] = [
  [
    'an end too soon',
    `update status_ranges r set ended_at = ended_at - ${shift(0.5)} where id = ${failing('status_ranges', 4)}`,
    /^all 6\.\d\d–7\.\d\d (TIMEOUT|DOWN), not nothing/,
  ],
  [
    'an end too late',
    `update status_ranges r set ended_at = ended_at + ${shift(1)} where id = (select min(id) from ${row('status_ranges', -1)})`,
    /^all 5\.0.–5\.\d\d \w+, not UP\+/,
  ],
  [
    'a beginning',
    `update status_ranges r set started_at = started_at + ${shift(0.2)} where id = ${failing('status_ranges', 19)}`,
    /^all 20\.0.–20\.2. \w+, not nothing/,
  ],
  ['a missing range', `delete from status_ranges where id = ${failing('status_ranges', 19)}`, /not nothing/],
  [
    'a range too many',
    `insert into status_ranges (monitor_id, started_at, ended_at, status) values ($1, '${new Date(startMs + 9 * hourMs).toISOString()}', '${new Date(startMs + 10 * hourMs).toISOString()}', 'DOWN')`,
    /^all 9\.00–10\.00 UP, not UP\+DOWN/,
  ],
  [
    'another status',
    `update status_ranges set status = 'DEGRADED' where id = ${failing('status_ranges', 19)}`,
    /, not DEGRADED/,
  ],
  [
    'a range that is not open any more',
    `update status_ranges set ended_at = '${new Date(endMs - hourMs).toISOString()}' where monitor_id = $1 and ended_at is null`,
    /^all 27\.00–28\.00 UP, not nothing/,
  ],
  [
    'a probe range',
    `update probe_ranges set status = 'UP' where id = ${failing('probe_ranges', 4)}`,
    /^[1-9]\d* 5\.0.–7\.\d\d DOWN, not UP/,
  ],
  [
    'a missing probe range',
    `delete from probe_ranges where id = (select max(id) from ${row('probe_ranges', 19)})`,
    /not nothing/,
  ],
  ['a status', `update monitors set status = 'DOWN' where id = $1`, /^status UP, not DOWN/],
  [
    'a chunk',
    `update result_hours set chunk = '\\x0102030405' where ${packedHour(9)}`,
    /^hour 9: the chunk is damaged/,
  ],
  [
    'a bit of a chunk',
    `update result_hours set chunk = set_byte(chunk, 9, get_byte(chunk, 9) # 4) where ${packedHour(9)}`,
    /^hour 9: the chunk is damaged/,
  ],
  [
    'a chunk of other results',
    `update result_hours set chunk = '\\x${anyChunk()}' where ${packedHour(9)}`,
    /^hour 9: the chunk holds 1 results that are not the 6/,
  ],
  [
    'a summary of an hour',
    `update result_hours h set summary = o.summary from result_hours o where h.monitor_id = $1 and h.hour = ${firstHour + 10} and o.monitor_id = $1 and o.hour = ${firstHour + 12} and o.probe_id = h.probe_id`,
    /^hour 10: the summary is not that/,
  ],
  [
    'a damaged summary',
    `update result_hours set summary = '\\x' where ${packedHour(10)}`,
    /^hour 10: the summary is damaged/,
  ],
  [
    'a count of an hour',
    `update result_hours set results = 5 where ${packedHour(25)}`,
    /^hour 25: it counts 5 results instead of 6/,
  ],
  [
    'a last result',
    `update result_hours set last_total_us = last_total_us + 1 where ${packedHour(25)}`,
    /^hour 25: its last result is another one/,
  ],
  [
    'a missing last result',
    `update result_hours set last_ms = null where ${packedHour(25)}`,
    /^hour 25: its last result is another one/,
  ],
  ['a missing hour', `delete from result_hours where ${packedHour(26)}`, /^hour 26: 6 results are not packed/],
  [
    'a summary of a day',
    `update result_days d set summary = h.summary from result_hours h where d.monitor_id = $1 and h.monitor_id = $1 and h.hour = ${firstHour + 12} and d.probe_id = h.probe_id`,
    /^day 0: the summary is not that/,
  ],
  [
    'a count of a day',
    `update result_days set results = 7 where monitor_id = $1`,
    /^day 0: it counts 7 results instead of 144/,
  ],
  ['a missing day', `delete from result_days where monitor_id = $1`, /^day 0: 144 results are not in any day/],
];

t.test('every kind of damage is told, and put right while the ingest runs on', async (t) => {
  const w = await recomputable(t);
  w.run();
  await eventually(async () => (await owner(w)) !== null, 'the shard has an owner');
  for (const [what, text, expected] of corruptions) {
    const changed = await w.pool.query(text, [w.monitor]);
    t.ok((changed.rowCount ?? 0) > 0, `${what} is damaged`);
    const look = await w.look();
    t.match(told(look)[0], expected, `${what} is told`);
    const healing = await w.heal(look);
    t.equal(healing.ranges, look.ranges.length > 0 || look.status !== undefined ? 'healed' : 'none');
    t.same(told(await w.look()), [], `${what} is put right`);
  }
  t.ok(sound(await w.look(w.monitors[1])), 'the other monitor is sound');
  const revised = await w.pool.query('select from status_ranges where revised_at is not null');
  t.ok((revised.rowCount ?? 0) > 0, 'what was changed of the past is marked');
  const other = await w.pool.query('select from status_ranges where revised_at is not null and monitor_id = $1', [
    w.monitors[1],
  ]);
  t.equal(other.rowCount, 0);

  // The owner goes on from what was put right, in both monitors.
  for (let step = 1; step <= 12; step += 1) {
    const nowMs = endMs + step * everyMs;
    w.setNow(nowMs);
    for (const [index, probe] of w.probes.entries()) {
      const results = w.monitors.map((monitor) =>
        result(monitor, nowMs * 1_000 - 5_000 - index, { outcome: step > 3 && step < 7 ? 'fail' : 'ok', freshS }),
      );
      await w.send(probe, w.batch(probe, { firstSeq: 1 + (step - 1) * results.length }, results));
    }
    await eventually(async () => (await w.cursor()) >= step * 2 && (await foldedMs(w)) >= nowMs, 'a step is folded');
  }
  await eventually(async () => (await w.count('cursors where seq = 24')) === 3, 'all is stored');
  t.same(
    await compareTimelines(
      w.pool,
      w.probes.map(({ id }) => id),
    ),
    [],
  );
  t.same(w.logged('ingest failed'), []);
  t.same(w.logged('not ours any more'), []);
});
