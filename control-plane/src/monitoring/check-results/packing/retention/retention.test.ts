import t from 'tap';
import { removeByAge, removeByMonitor } from './job.ts';
import { dayMs, hourMs } from '../hours.ts';
import { packingWorld } from '../testing/world.ts';
import type { PackingWorld } from '../testing/world.ts';

const nowMs = Math.floor(Date.now() / dayMs) * dayMs + 7 * hourMs;
const hourNow = nowMs / hourMs;
const ago = (days: number): Date => new Date(nowMs - days * dayMs);

const work = (w: PackingWorld, isStopped = () => false) => ({
  ...w.database,
  nowMs,
  log: w.log,
  isStopped,
  batchRows: 10,
});

/** Monitors of two owners: the first keeps results for 90 days, the second for 30. */
async function twoPlans(t: Parameters<typeof packingWorld>[0]) {
  const w = await packingWorld(t, { atMs: nowMs, count: 2 });
  const { rows } = await w.pool.query<{ id: number }>(
    `with u as (insert into users (email, password_hash, plan) values ('free@example.com', 'x', 'free') returning id)
     insert into workspaces (owner_id, name, ping_key) select id, 'free', 'free' from u returning id`,
  );
  const [free = 0, paid = 0] = w.monitors;
  await w.pool.query(
    'update monitors set workspace_id = w.id, owner_id = w.owner_id from workspaces w where w.id = $2 and monitors.id = $1',
    [free, rows[0]?.id],
  );
  return { w, free, paid };
}

async function insertHours(w: PackingWorld, days: readonly number[]): Promise<void> {
  for (const day of days) {
    const hour = hourNow - day * 24;
    await w.pool.query('select ensure_packed_partitions($1, $1)', [hour]);
    await w.pool.query(
      `insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk)
       select id, $1::integer - n, 1, 1, '\\x01', '\\x01' from monitors, generate_series(0, 7) n`,
      [hour],
    );
    await w.pool.query(
      `insert into result_days (monitor_id, day, probe_id, results, summary)
       select id, $1::integer / 24, 1, 1, '\\x01' from monitors on conflict do nothing`,
      [hour],
    );
  }
}

const left = async (w: PackingWorld, table: string, column: string): Promise<string[]> =>
  (
    await w.pool.query<{ text: string }>(
      `select distinct monitor_id || ' ' || (${hourNow} - ${column}) / 24 as text from ${table} order by 1`,
    )
  ).rows.map(({ text }) => text);

t.test('packed hours are kept as long as the plan of the owner says, in whole days, days for two years', async (t) => {
  const { w, free, paid } = await twoPlans(t);
  await insertHours(w, [1, 29, 31, 60, 89, 120, 700, 900]);
  const byAge = await removeByAge(work(w));
  t.equal(byAge.partitions.filter((name) => name.startsWith('result_hours')).length, 3);
  t.equal(byAge.partitions.filter((name) => name.startsWith('result_days')).length, 1);
  const all = (id: number) => [1, 29, 31, 60, 89].map((day) => `${id} ${day}`);
  t.same(await left(w, 'result_hours', 'hour'), [...all(free), ...all(paid)].sort(), 'no plan keeps the others');
  const swept = await removeByMonitor(work(w));
  t.equal(swept.rows['result_hours'], 24);
  const kept = [`${free} 1`, `${free} 29`, ...all(paid)].sort();
  t.same(await left(w, 'result_hours', 'hour'), kept);
  t.equal((await left(w, 'result_days', 'day * 24 - 7')).length, 14, 'days are kept for all');
  t.same(await removeByAge(work(w)), {
    rows: { result_evidence: 0, rejected_batches: 0, lost_results: 0, cursors: 0, supplements: 0 },
    partitions: [],
  });
  t.equal((await removeByMonitor(work(w))).rows['result_hours'], 0);
});

t.test('an hour lies before the cut when its whole day does', async (t) => {
  const { w, free } = await twoPlans(t);
  const cut = Math.floor((nowMs - 30 * dayMs) / dayMs) * 24;
  await w.pool.query('select ensure_packed_partitions($1, $2)', [cut - 1, cut]);
  await w.pool.query(
    `insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk)
     select $1, h, 1, 1, '\\x01', '\\x01' from unnest($2::integer[]) h`,
    [free, [cut - 1, cut]],
  );
  await removeByMonitor(work(w));
  t.same((await w.pool.query('select hour from result_hours')).rows, [{ hour: cut }]);
});

t.test('evidence goes with the results', async (t) => {
  const { w, free, paid } = await twoPlans(t);
  for (const days of [1, 31, 89, 91]) {
    await w.pool.query(
      `insert into result_evidence (e, monitor_id, probe_id, message, evidence)
       select $1, id, n, '', '{}' from monitors, generate_series(1, 15) n`,
      [ago(days)],
    );
  }
  t.equal((await removeByAge(work(w))).rows['result_evidence'], 30);
  t.equal((await removeByMonitor(work(w))).rows['result_evidence'], 30);
  const found = await w.pool.query<{ text: string }>(
    `select distinct monitor_id || ' ' || round(extract(epoch from $1::timestamptz - e) / 86400) as text from result_evidence order by 1`,
    [new Date(nowMs)],
  );
  t.same(
    found.rows.map(({ text }) => text),
    [`${free} 1`, `${paid} 1`, `${paid} 31`, `${paid} 89`].sort(),
  );
});

t.test('ranges and diagnoses are kept for two years after their end', async (t) => {
  const { w } = await twoPlans(t);
  const insert = (from: number, to: number | null) =>
    Promise.all(
      [
        'status_ranges (monitor_id, started_at, ended_at, status)',
        'probe_ranges (probe_id, monitor_id, started_at, ended_at, status)',
      ].map((into) =>
        w.pool.query(
          `insert into ${into} select ${into.startsWith('probe') ? '$3::integer,' : ''} id, $1::timestamptz, $2::timestamptz, 'UP' from monitors
             where $3::integer is not null`,
          [ago(from), to === null ? null : ago(to), w.probes[0]?.id],
        ),
      ),
    );
  for (let days = 800; days < 820; days += 1) await insert(days + 0.5, days);
  await insert(799, 731);
  await insert(730, null);
  await w.pool.query(
    `insert into diagnoses (workspace_id, monitor_id, since, due_at, made_at, state)
     select workspace_id, id, since, since, since, 'made' from monitors, unnest($1::timestamptz[]) since`,
    [[ago(800), ago(700)]],
  );
  const { rows } = await removeByMonitor(work(w));
  t.match(rows, { status_ranges: 40, probe_ranges: 40, diagnoses: 2 });
  t.equal(await w.count('status_ranges'), 4);
  t.equal(await w.count('probe_ranges'), 4);
});

t.test('cursors, refused batches, losses and supplements go when nobody can ask for them any more', async (t) => {
  const { w } = await twoPlans(t);
  const [probe, other] = w.probes;
  await w.pool.query(
    `insert into cursors (probe_id, epoch, shard, seq, updated_at)
     values ($1, 1, 0, 5, $3), ($1, 2, 0, 5, $4), ($1, 3, 0, 5, $3), ($1, 3, 1, 5, $3), ($2, 1, 0, 9, $3)`,
    [probe?.id, other?.id, ago(8), ago(6)],
  );
  for (const days of [29, 31]) {
    await w.pool.query(
      `insert into rejected_batches (at, subject, reason, digest) select $1, 's', 'malformed', '\\x00' from generate_series(1, 12)`,
      [ago(days)],
    );
  }
  for (const days of [89, 91]) {
    await w.pool.query(
      `insert into lost_results (probe_id, epoch, shard, from_seq, to_seq, from_at, to_at, received_at)
       select 1, 1, 0, n, n, $1, $1, $1 from generate_series(1, 12) n`,
      [ago(days)],
    );
  }
  await w.pool.query(`update probes set last_seen_at = case id when $1 then $2::timestamptz else $3 end`, [
    probe?.id,
    ago(0),
    ago(200),
  ]);
  await w.pool.query('delete from assignments');
  await w.pool.query(
    `insert into assignments (monitor_id, probe_id, region, supplement, started_at, ended_at, revision)
     select $1, p.id, 'r', a.supplement, $2, a.ended_at, 1 from probes p, unnest($3::boolean[], $4::timestamptz[]) as a (supplement, ended_at)`,
    [w.monitor, ago(300), [true, true, false, true], [ago(111), ago(109), ago(111), null]],
  );
  const { rows } = await removeByAge(work(w));
  t.match(rows, { cursors: 1, rejected_batches: 12, lost_results: 12, supplements: 1 });
  t.same(
    (await w.pool.query('select probe_id, epoch::integer, shard from cursors order by 1, 2, 3')).rows,
    [
      [probe?.id, 2, 0],
      [probe?.id, 3, 0],
      [probe?.id, 3, 1],
      [other?.id, 1, 0],
    ].map(([probe_id, epoch, shard]) => ({ probe_id, epoch, shard })),
    'the newest epoch stays, and one that moved lately',
  );
  t.equal(
    await w.count('assignments'),
    7,
    'seats stay, open ones stay, and those that their probe may not know to have ended',
  );
});

t.test('a stop waits for one batch', async (t) => {
  const { w } = await twoPlans(t);
  await w.pool.query(
    `insert into rejected_batches (at, subject, reason, digest) select $1, 's', 'malformed', '\\x00' from generate_series(1, 35)`,
    [ago(40)],
  );
  let asked = 0;
  const { rows } = await removeByAge(work(w, () => (asked += 1) > 5));
  t.ok((rows['rejected_batches'] ?? 0) <= 30 && (rows['rejected_batches'] ?? 0) > 0, JSON.stringify(rows));
  t.equal((await removeByAge(work(w))).rows['rejected_batches'], 35 - (rows['rejected_batches'] ?? 0));
});

t.test('what is removed is found by an index', async (t) => {
  const { w } = await twoPlans(t);
  const client = await w.pool.connect();
  await client.query('begin; set local enable_seqscan = off');
  for (const text of [
    `select ctid from result_evidence where e < now() order by e limit 10`,
    `select id from rejected_batches where at < now() order by at limit 10`,
    `select id from lost_results where received_at < now() order by received_at limit 10`,
    `select id from assignments a where supplement and ended_at < now() order by ended_at limit 10`,
  ]) {
    const plan = JSON.stringify((await client.query(`explain ${text}`)).rows);
    t.match(plan, /Index (Only )?Scan/, text);
    t.notMatch(plan, /Sort/, text);
  }
  await client.query('rollback');
  client.release();
});
