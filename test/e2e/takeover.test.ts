import t from 'tap';
import type pg from 'pg';
import { compareTimelines } from '../../control-plane/src/monitoring/check-results/ingest/testing/compare-timelines.ts';
import { openDatabaseOf } from '../faults/oracle.ts';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import type { Started } from '../harness/processes.ts';
import { logLines, startReplica } from '../harness/replicas.ts';
import type { Replica } from '../harness/replicas.ts';
import { startTarget } from '../harness/target.ts';

const shards = 2;
const monitorCount = 12;
const sources = ['127.0.0.41', '127.0.0.42', '127.0.0.43'] as const;

t.test('shards and state changes outlive the processes that work on them', { timeout: 170_000 }, async (t) => {
  const target = await startTarget();
  t.teardown(() => target.close());
  const product = await startProduct({ PARALLAX_ROLES: 'api,dispatch', PARALLAX_SHARDS: String(shards) });
  const started: Started[] = [];
  t.teardown(async () => {
    await Promise.all(started.map((one) => one.stop(4_000)));
    await product.stop();
  });
  const start = async (roles: string): Promise<Replica> => {
    // The number of shards stands in the database; a replica need not be told.
    const replica = await startReplica(product, { roles, environment: { PARALLAX_SHARDS: '' } });
    started.push(replica.process);
    return replica;
  };
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const agents = await Promise.all(
    sources.map((sourceAddress, index) =>
      enrolAgent(product, api, { name: `probe-${index + 1}`, region: `region-${index + 1}`, sourceAddress }),
    ),
  );
  const probeIds = agents.map((agent) => agent.probeId);
  started.push(...agents.map((agent) => agent.start()));
  let first = await start('ingest,worker');
  const pool = openDatabaseOf(product);
  t.teardown(() => pool.end());
  await eventually('the first ingest to own both shards', async () => (await shardsOf(pool, first)) === shards);
  let second = await start('ingest,worker');
  const monitors: number[] = [];
  for (let number = 1; number <= monitorCount; number += 1) {
    const { id } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name: `monitor ${number}`,
      url: target.url,
      protocol: 'http',
      interval_seconds: 1,
      timeout_seconds: 1,
    });
    monitors.push(id);
  }
  /** Milliseconds from a moment until every monitor has the status: a change must pass both shards. */
  const everyoneIs = async (wanted: 'UP' | 'DOWN', sinceMs: number, timeoutMs: number): Promise<number> => {
    await eventually(
      `every monitor to be ${wanted}`,
      async () => {
        const { rows } = await pool.query<{ status: string; count: number }>(
          'select status, count(*)::integer as count from monitors where id = any ($1) group by status',
          [monitors],
        );
        if (rows.length !== 1 || rows[0]?.status !== wanted) throw new Error(JSON.stringify(rows));
        return true;
      },
      { timeoutMs, everyMs: 50 },
    );
    return Date.now() - sinceMs;
  };
  /** Milliseconds from a moment until the mark of every shard is beyond the marks of that moment and another owns it. */
  const marksMove = async (owner: Replica, sinceMs: number, timeoutMs: number): Promise<number> => {
    await eventually(
      'every shard to have a new owner and its mark to move',
      async () => {
        const { rows } = await pool.query<{ shard: number }>(
          `select shard from shards where owner = $1 and folded_until > to_timestamp($2)`,
          [owner.name, sinceMs / 1_000],
        );
        return rows.length === shards;
      },
      { timeoutMs, everyMs: 25 },
    );
    return Date.now() - sinceMs;
  };
  await everyoneIs('UP', Date.now(), 20_000);
  const { rows: spread } = await pool.query('select distinct shard from cursors order by shard');
  t.same(spread, [{ shard: 0 }, { shard: 1 }], 'the monitors lie in both shards');

  await t.test('an owner that is killed is followed within 5 s, and changes arrive', async (t) => {
    const killedMs = Date.now();
    target.everybody('fail');
    first.process.kill('SIGKILL');
    const movedMs = await marksMove(second, killedMs, 6_000);
    const changedMs = await everyoneIs('DOWN', killedMs, 15_000);
    t.ok(movedMs < 6_000);
    t.comment(`marks moved after ${movedMs} ms, every monitor DOWN after ${changedMs} ms`);
    first = await start('ingest,worker');
  });

  await t.test('an owner that falls silent with its connections open is followed within 30 s', async (t) => {
    const frozenMs = Date.now();
    second.process.kill('SIGSTOP');
    target.everybody('answer');
    const movedMs = await marksMove(first, frozenMs, 31_000);
    const changedMs = await everyoneIs('UP', frozenMs, 31_000);
    t.ok(movedMs < 31_000);
    t.comment(`marks moved after ${movedMs} ms, every monitor UP after ${changedMs} ms`);
  });

  await t.test('the former owner wakes up, notices, and writes nothing', async (t) => {
    const termsOf = async () => (await pool.query('select shard, owner, term from shards order by shard')).rows;
    const before = await termsOf();
    second.process.kill('SIGCONT');
    await eventually('it to notice for both shards', async () => {
      const lost = logLines(second.process.output()).filter(
        (line) => line['part'] === 'ingest' && line['level'] === 'warn',
      );
      return new Set(lost.map((line) => line['shard'])).size === shards;
    });
    target.everybody('fail');
    await everyoneIs('DOWN', Date.now(), 15_000);
    t.same(await termsOf(), before, 'the shards stay where they are');
  });

  await t.test('an owner that stops gives its shards up at once', async (t) => {
    const stoppedMs = Date.now();
    first.process.kill('SIGTERM');
    const movedMs = await marksMove(second, stoppedMs, 6_000);
    t.equal(await first.process.ended, 0);
    t.comment(`marks moved after ${movedMs} ms`);
    target.everybody('answer');
    await everyoneIs('UP', Date.now(), 15_000);
  });

  await t.test('after all that there is one history, and nothing in it twice', async (t) => {
    for (const id of monitors) await api.call('POST', `/api/v1/monitors/${id}/pause`, 200);
    const { rows: doubled } = await pool.query(
      'select monitor_id, e, probe_id from check_results group by monitor_id, e, probe_id having count(*) > 1',
    );
    t.same(doubled, []);
    await eventually(
      'every stored result to be counted by a cursor, and the other way round',
      async () => {
        const { rows } = await pool.query<{ stored: number; counted: number }>(
          `select (select count(*) from check_results where probe_id > 0)::integer as stored, (select sum(seq) from cursors)::integer as counted`,
        );
        if (rows[0]?.stored !== rows[0]?.counted) throw new Error(JSON.stringify(rows[0]));
        return true;
      },
      { timeoutMs: 15_000 },
    );
    await eventually(
      'the timelines to equal the batch form',
      async () => {
        const complaints = await compareTimelines(pool, probeIds);
        if (complaints.length > 0) throw new Error(complaints.slice(0, 3).join('\n'));
        return true;
      },
      { timeoutMs: 15_000, everyMs: 300 },
    );
    const { rows: rejected } = await pool.query('select reason, detail from rejected_batches');
    t.same(rejected, []);
  });

  await t.test('every outage has one incident, in its order, whichever worker acted on it', async (t) => {
    await eventually('the outbox to be empty', async () => {
      const { rows } = await pool.query<{ left: number }>(
        'select count(*)::integer as left from outbox where done_at is null',
      );
      return rows[0]?.left === 0;
    });
    const { rows } = await pool.query<{ monitor_id: number; outages: number; ended: number; opened: number }>(
      `select m.id as monitor_id,
         (select count(*)::integer from status_ranges r where r.monitor_id = m.id and r.status in ('DOWN', 'TIMEOUT')) as outages,
         (select count(*)::integer from incident_members i where i.subject_id = m.id) as opened,
         (select count(*)::integer from incident_members i where i.subject_id = m.id and i.ended_at >= i.started_at) as ended
       from monitors m where m.id = any ($1) order by m.id`,
      [monitors],
    );
    t.equal(rows.length, monitorCount);
    for (const { monitor_id: id, outages, opened, ended } of rows) {
      t.ok(opened >= 2, `monitor ${id}: ${opened} incidents for the two outages that were made`);
      t.ok(opened <= outages, `and no more than the ${outages} that were seen`);
      t.equal(ended, opened, 'each is resolved');
    }
    const { rows: overlapping } = await pool.query(
      `select a.id from incident_members a join incident_members b on a.subject_id = b.subject_id and a.id < b.id
       where a.ended_at > b.started_at`,
    );
    t.same(overlapping, []);
  });
});

async function shardsOf(pool: pg.Pool, replica: Replica): Promise<number> {
  return (await pool.query('select from shards where owner = $1', [replica.name])).rows.length;
}
