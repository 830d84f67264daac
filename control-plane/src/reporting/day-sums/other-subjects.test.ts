import t from 'tap';
import { z } from 'zod';
import { heartbeatsApi } from '../../monitoring/heartbeats/testing.ts';
import { webhookChecksApi } from '../../monitoring/webhook-checks/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Database } from '../../platform/database/pools.ts';
import { readSums } from './read.queries.ts';
import type { SummedTime } from './read.queries.ts';
import { refreshDays } from './refresh.job.ts';
import type { SubjectType } from './subject-type.ts';

const hourMs = 3_600_000;
const at = (ms: number) => sql.timestamp(new Date(ms));

type Piece = readonly [fromHours: number, toHours: number | null, status: string, reason?: string];

/** Ranges by hours before now, with an outage of the product itself and a maintenance across them. */
async function writeDays(database: Database, type: SubjectType, id: number, nowMs: number, pieces: readonly Piece[]) {
  const { worker } = database;
  const ago = (hours: number) => at(nowMs - hours * hourMs);
  const workspaceId = sql.fragment`(select workspace_id from ${sql.identifier([`${type}s`])} where id = ${id})`;
  await worker.query(sql.unsafe`
    update ${sql.identifier([`${type}s`])} set created_at = ${ago(100)} where id = ${id}`);
  const table = sql.identifier([`${type}_ranges`]);
  const key = sql.identifier([type === 'heartbeat' ? 'heartbeat_id' : 'check_id']);
  await worker.query(sql.unsafe`delete from ${table} where ${key} = ${id}`);
  for (const [from, to, status, reason = null] of pieces) {
    await worker.query(sql.unsafe`
      insert into ${table} (${key}, workspace_id, started_at, ended_at, status, reason)
      values (${id}, ${workspaceId}, ${ago(from)}, ${to === null ? sql.fragment`null` : ago(to)}, ${status}, ${reason})`);
  }
  await worker.query(sql.unsafe`
    insert into intake_outages (from_at, to_at, credit_ms) values (${ago(30)}, ${ago(29.5)}, 0), (${ago(11)}, ${ago(10)}, 0)`);
  await worker.query(sql.unsafe`
    insert into maintenance_subjects (workspace_id, occurrence_id, subject_type, subject_id, started_at, ended_at)
    values (${workspaceId}, 1, ${type}, ${id}, ${ago(10.5)}, ${ago(8)}), (${workspaceId}, 2, ${type}, ${id}, ${ago(40)}, ${ago(39)})`);
}

async function sumsOf(
  database: Database,
  type: SubjectType,
  workspaceId: number,
  edgesMs: readonly number[],
  nowMs: number,
) {
  await refreshDays({ database, now: () => nowMs });
  const scope = { userId: null, workspaceIds: [workspaceId] };
  const rows = await database.worker.transaction((tx) => readSums(scope, tx, { type, by: 'all' }, edgesMs, nowMs));
  return rows.find(({ bucket }) => bucket === 0);
}

const secondsOf = (sum: SummedTime | undefined) => ({
  up: (sum?.time.upMs ?? 0) / 1_000,
  degraded: (sum?.time.degradedMs ?? 0) / 1_000,
  down: (sum?.time.downMs ?? 0) / 1_000,
});

void t.test('days of a heartbeat say what its own statistics say', async (t) => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000 + 300_000;
  const api = await heartbeatsApi(t, { context: { now: () => nowMs } });
  const { id } = z.object({ id: z.number() }).parse(await api.heartbeat());
  await writeDays(api.database, 'heartbeat', id, nowMs, [
    [90, 35, 'up'],
    [35, 29.75, 'down', 'missed'],
    [29.75, 12, 'up'],
    [12, 9, 'down', 'failed'],
    [7, null, 'up'],
  ]);
  for (const hours of [5, 24, 48, 96]) {
    const stats = await api.make('GET', `/api/v1/heartbeats/${id}/stats?hours=${hours}`);
    const sum = await sumsOf(api.database, 'heartbeat', api.workspaceId, [nowMs - hours * hourMs, nowMs], nowMs);
    const { up, down } = secondsOf(sum);
    const rest = ((sum?.time.unknownMs ?? 0) + (sum?.time.maintenanceMs ?? 0)) / 1_000;
    t.same(stats.body['seconds'], { up, down, unknown: rest }, `the last ${hours} hours`);
  }
  const all = await sumsOf(api.database, 'heartbeat', api.workspaceId, [nowMs - 60 * hourMs, nowMs], nowMs);
  t.equal(all?.time.maintenanceMs, 3 * hourMs, 'time under maintenance, less that in which nothing was taken in');
  t.same([all?.time.pausedMs, all?.time.timeoutMs], [0, 0]);
});

void t.test('days of a webhook check say what its own statistics say', async (t) => {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000 + 300_000;
  const api = await webhookChecksApi(t, { context: { now: () => nowMs } });
  const { id } = await api.check();
  await writeDays(api.database, 'webhook_check', id, nowMs, [
    [90, 35, 'up'],
    [35, 29.75, 'down', 'missed'],
    [29.75, 12, 'degraded'],
    [12, 9, 'down', 'failed'],
    [7, null, 'up'],
  ]);
  for (const hours of [5, 24, 48, 96]) {
    const stats = await api.call('GET', `/api/v1/webhook-checks/${id}/stats?hours=${hours}`, { token: api.token });
    const sum = await sumsOf(api.database, 'webhook_check', api.workspaceId, [nowMs - hours * hourMs, nowMs], nowMs);
    t.same(stats.body['seconds'], secondsOf(sum), `the last ${hours} hours`);
  }
});
