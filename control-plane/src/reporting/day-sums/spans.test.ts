import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { insertMonitors, insertWorkspace } from '../../monitoring/check-results/ingest/testing/fixture.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { addTime, noTime } from '../statistics/index.ts';
import { timelines } from '../statistics/test-timelines.ts';
import { dayMs } from './day-row.ts';
import { readSums } from './read.queries.ts';
import { refreshDays } from './refresh.job.ts';
import { readSpans } from './spans.queries.ts';

const hourMs = 3_600_000;
const startMs = Date.parse('2026-03-01T00:00:00.000Z');
const at = (ms: number | null) => (ms === null ? sql.fragment`null` : sql.fragment`${sql.timestamp(new Date(ms))}`);

void t.test('spans come to what the sums say, in any buckets, also while evaluation stands still', async (t) => {
  const { database } = await testDatabase(t);
  const owner = await insertWorkspace(database.raw);
  const ids = await insertMonitors(database.raw, owner, {
    count: 12,
    probes: [],
    createdMs: startMs + 5 * hourMs + 123,
  });
  const { worker } = database;
  const scope = { userId: owner.userId, workspaceIds: [owner.workspaceId] };
  for (const [place, history] of fc.sample(timelines, { numRuns: ids.length, seed: 11 }).entries()) {
    const id = ids[place] ?? 0;
    for (const { startedMs, endedMs, status } of history.ranges)
      await worker.query(sql.unsafe`
        insert into status_ranges (monitor_id, started_at, ended_at, status, evidence) values (${id}, ${at(startedMs)}, ${at(endedMs)}, ${status}, '{}')`);
    for (const { fromMs, toMs } of history.pauses)
      await worker.query(
        sql.unsafe`insert into pauses (monitor_id, started_at, ended_at) values (${id}, ${at(fromMs)}, ${at(fromMs + (toMs ?? fromMs + hourMs) - fromMs)}) on conflict do nothing`,
      );
    for (const [n, { fromMs, toMs }] of history.maintenance.entries())
      await worker.query(sql.unsafe`
        insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
        values (${owner.workspaceId}, ${id * 100 + n}, 'monitor', ${id}, ${at(fromMs)}, ${at(toMs)})`);
  }
  for (const [nowHours, lagMs] of [
    [30, 2_000],
    [71, 2_000],
    [130, 3 * hourMs],
    [131, 30 * hourMs],
  ] as const) {
    const nowMs = startMs + nowHours * hourMs + 1_234;
    await worker.query(sql.unsafe`update shards set folded_until = ${at(nowMs - lagMs)}`);
    await refreshDays({ database, now: () => nowMs });
    const some = fc.sample(fc.integer({ min: startMs, max: nowMs + hourMs }), { numRuns: 9, seed: nowHours });
    const edges = [...new Set([...some, startMs + dayMs, startMs + 2 * dayMs])].toSorted((a, b) => a - b);
    const window = { fromMs: edges[0] ?? 0, toMs: nowMs };
    const [spans, sums] = await worker.transaction(async (tx) => [
      await readSpans(scope, tx, { monitor: ids, heartbeat: [], webhook_check: [] }, window, nowMs),
      await readSums(scope, tx, { type: 'monitor', by: 'subject', ids }, edges, nowMs),
    ]);
    const expected = new Map(sums.map(({ key, bucket, time }) => [`${key} ${bucket}`, time]));
    for (const id of ids) {
      for (const [bucket, edge] of edges.slice(0, -1).entries()) {
        const time = noTime();
        for (const { fromMs, toMs, measuredAs } of spans.get(`monitor ${id}`) ?? [])
          addTime(time, measuredAs, Math.max(0, Math.min(toMs, edges[bucket + 1] ?? 0) - Math.max(fromMs, edge)));
        t.same(
          time,
          expected.get(`${id} ${bucket}`) ?? noTime(),
          `monitor ${id}, bucket ${bucket} after ${nowHours} hours`,
        );
      }
    }
  }
});
