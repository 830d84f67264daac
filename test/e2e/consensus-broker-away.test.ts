import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { compareTimelines } from '../../control-plane/src/monitoring/check-results/ingest/testing/compare-timelines.ts';
import { openDatabaseOf } from '../faults/oracle.ts';
import { signalChild } from '../harness/children.ts';
import { eventually } from '../harness/processes.ts';
import { threeAgents } from '../harness/three-agents.ts';

const monitors = 6;
/** Longer than a vote lasts, and so long after the outage that every result of it is late. */
const awayMs = 36_000;
const outageMs = 10_000;

type Row = { monitor_id: number; from: string; to: string };
type Range = { status: string; revised: boolean; started_ms: number; ended_ms: number | null };

t.test('the broker stands still while a target fails and recovers', { timeout: 180_000 }, async (t) => {
  const { product, api, target, agents, monitor, statuses } = await threeAgents(t, [
    '127.0.0.37',
    '127.0.0.38',
    '127.0.0.39',
  ]);
  const pool = openDatabaseOf(product);
  t.teardown(() => pool.end());
  const paths: string[] = [];
  for (let number = 1; number <= monitors; number += 1)
    paths.push(await monitor(`monitor ${number}`, { interval_seconds: 2 }));
  const areAllUp = () =>
    eventually('all UP', async () => (await statuses()).every((status) => status === 'UP'), {
      timeoutMs: 60_000,
      everyMs: 250,
    });
  await areAllUp();
  await delay(3_000);

  const stoppedMs = Date.now();
  signalChild(product, 'nats-server', 'SIGSTOP');
  await delay(awayMs / 9);
  target.everybody('fail');
  await delay(outageMs);
  target.everybody('answer');
  await delay(awayMs - awayMs / 9 - outageMs);
  signalChild(product, 'nats-server', 'SIGCONT');
  const backMs = Date.now();
  await areAllUp();

  // Every probe has sent what it kept: each has a vote without a gap over the whole time.
  const probeIds = agents.map((agent) => agent.probeId);
  await eventually(
    'the past to be told',
    async () => {
      const { rows } = await pool.query<{ n: number }>(
        `select count(*)::integer as n from check_results
         where e between to_timestamp($1 / 1000.0) and to_timestamp($2 / 1000.0)`,
        [stoppedMs, backMs],
      );
      const expected = ((backMs - stoppedMs) / 2_000) * monitors * probeIds.length;
      if ((rows[0]?.n ?? 0) < 0.8 * expected) throw new Error(`${rows[0]?.n} of some ${expected}`);
      const { rows: incidents } = await pool.query<{ n: number }>(
        `select count(distinct subject_id)::integer as n from incident_members where resolution = 'auto'`,
      );
      return incidents[0]?.n === monitors;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  for (const path of paths) await api.call('POST', `${path}/pause`, 200);
  await eventually(
    'the timelines to agree',
    async () => {
      const complaints = await compareTimelines(pool, probeIds);
      if (complaints.length > 0) throw new Error(complaints.slice(0, 3).join('\n'));
      return true;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );

  const { rows: ranges } = await pool.query<Range>(
    `select status, revised_at is not null as revised, extract(epoch from started_at)::float8 * 1000 as started_ms,
       extract(epoch from ended_at)::float8 * 1000 as ended_ms from status_ranges`,
  );
  const down = ranges.filter(({ status }) => status === 'DOWN');
  t.equal(down.length, monitors, 'the outage of each is in the timeline');
  for (const range of down) {
    t.ok(range.started_ms > stoppedMs && (range.ended_ms ?? Infinity) < backMs, 'it lies in the time without a broker');
    t.ok(range.revised, 'and is marked as found later');
  }
  const { rows: told } = await pool.query<Row>(
    `select (payload->>'monitor_id')::integer as monitor_id, payload->>'from' as from, payload->>'to' as to
     from outbox where kind = 'monitor.transition' order by id`,
  );
  const isOutage = (status: string) => status === 'DOWN' || status === 'TIMEOUT';
  t.same(
    told.filter(({ to }) => isOutage(to)),
    [],
    'nobody was told of what was over',
  );
  const { incidents } = await api.call<{ incidents: { monitor_id: number; detected_late: boolean }[] }>(
    'GET',
    '/api/v1/incidents',
    200,
  );
  t.equal(incidents.length, monitors, 'each outage is one incident');
  t.ok(
    incidents.every((one) => !one.detected_late),
    'found within a quarter of an hour',
  );
});
