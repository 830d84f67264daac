import { readRangeEvidenceRoute } from '@parallax/api-contract';
import type { RangeReplay } from '@parallax/api-contract';
import type { Outcome } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { ranges, timeline } from '../../consensus/index.ts';
import type { StoredResult } from '../../consensus/index.ts';
import { arbitraryHistory } from '../../consensus/test-histories.ts';
import { at, inputsOf, seats, three } from '../../consensus/test-support.ts';
import { addProbe, addResults, monitorsApi } from '../../testing.ts';
import { evidenceDifferences, rangeDifferences, readWindowOf, replay, resultsBehind } from './replay.ts';
import type { ReplayedRange, TimedResult } from './replay.ts';
import { readStored } from './votes.ts';

const timed = (rows: readonly StoredResult[]): TimedResult[] =>
  rows.map((row) => ({ ...row, totalUs: 1_000 })).sort((a, b) => a.eUs - b.eUs || a.voter - b.voter);

void t.test('ranges that are what the results say are found to be so, whatever the history', async (t) => {
  const seen = { whole: 0, beginnings: 0 };
  fc.assert(
    fc.property(arbitraryHistory, ({ inputs, arrivals }) => {
      const rows = timed(arrivals.map(({ row }) => row));
      const foldedUs = at(1_000);
      const all = ranges(timeline(inputs, rows, at(-10), foldedUs + 1).segments);
      for (const run of all.slice(0, 4)) {
        const range: ReplayedRange = {
          startedUs: run.fromUs,
          endedUs: run.toUs > foldedUs ? null : run.toUs,
          status: run.status,
        };
        const limits = { longestFreshUs: 100_000_000, foldedUs };
        const window = readWindowOf(range, { ...limits, resultsPerHour: 360 });
        const read = rows.filter((row) => row.eUs >= window.fromUs && row.eUs < window.toUs);
        const replayed = replay(range, inputs, read, limits);
        const differences = rangeDifferences(range, replayed);
        if (differences.length > 0) throw new Error(JSON.stringify({ range, differences }));
        const stored = readStored(JSON.parse(JSON.stringify(run.evidence)));
        const others = evidenceDifferences(stored, replayed);
        if (others.length > 0) throw new Error(JSON.stringify({ range, others }));
        if (replayed.isWhole) seen.whole += 1;
        else seen.beginnings += 1;
      }
    }),
    { numRuns: Math.ceil(Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 500) / 5) },
  );
  t.ok(seen.whole > 20, `${seen.whole} whole`);
});

const inputs = inputsOf({ assignments: seats('eu', 'us', 'ap') });
const limits = { longestFreshUs: 160_000_000, foldedUs: at(100_000) };

void t.test('of a long range the beginning is replayed, at a bounded cost', async (t) => {
  const rows = timed([
    ...Array.from({ length: 200 }, (_, minute) => three(minute * 60 - 6_000, 'ok')).flat(),
    ...Array.from({ length: 1_000 }, (_, minute) => three(6_000 + minute * 60, 'fail', { error: 20 })).flat(),
  ]);
  const old = inputsOf({
    createdUs: at(-10_000),
    assignments: inputs.assignments.map((row) => ({ ...row, fromUs: at(-10_000) })),
  });
  const range: ReplayedRange = { startedUs: at(6_000), endedUs: null, status: 'DOWN' };
  const window = readWindowOf(range, { ...limits, resultsPerHour: 180 });
  t.ok(window.fromUs <= at(6_000 - 7 * 160) && window.toUs < at(20_000));
  const replayed = replay(range, old, rows, limits);
  t.notOk(replayed.isWhole);
  t.ok(replayed.results <= 2 * 100 + 3 * 30, `${replayed.results} results`);
  t.same(rangeDifferences(range, replayed), []);
  t.same(rangeDifferences({ ...range, endedUs: at(7_000) }, replayed), [], 'its end was not looked at');
  const vote = replayed.evidence.voters[1];
  t.match(vote, { voter: 2, vote: 'DOWN', sinceUs: at(6_000) });
  if (vote === undefined) return;
  t.same(
    resultsBehind(vote, range.startedUs, replayed).map((row) => (row.eUs - at(0)) / 1e6),
    [5_940, 6_000, 6_060, 6_120, 6_180, 6_240],
    'the last good one, and those that confirmed it',
  );
});

void t.test('what is stored otherwise is told', async (t) => {
  const rows = timed([
    ...three(0, 'ok'),
    ...three(60, 'ok'),
    ...three(120, 'fail', { error: 20 }),
    ...three(125, 'fail', { error: 20 }),
    ...three(180, 'ok'),
  ]);
  const range: ReplayedRange = { startedUs: at(120), endedUs: at(180), status: 'DOWN' };
  const of = (changed: Partial<ReplayedRange>) => {
    const stored = { ...range, ...changed };
    return rangeDifferences(stored, replay(stored, inputs, rows, { ...limits, foldedUs: at(200) })).map(
      ({ field }) => field,
    );
  };
  t.same(of({}), []);
  t.same(of({ status: 'TIMEOUT' }), ['status']);
  t.same(of({ startedUs: at(121) }), ['started_at']);
  t.same(of({ startedUs: at(119) }), ['status', 'started_at', 'ended_at']);
  t.same(of({ endedUs: at(181) }), ['ended_at']);
  t.same(of({ endedUs: null }), ['ended_at']);
  t.same(of({ startedUs: at(-50), endedUs: at(-40) }), ['status'], 'there is nothing at that time');
  const replayed = replay(range, inputs, rows, { ...limits, foldedUs: at(200) });
  const evidence = readStored({ rule: 'quorum_failing', quorum: 2, voters: replayed.evidence.voters, missing: [] });
  t.same(evidenceDifferences(evidence, replayed), []);
  const other = readStored({
    rule: 'some_failing',
    quorum: 3,
    voters: [
      { voter: 1, vote: 'DOWN', sinceUs: at(119), error: 20 },
      { voter: 2, vote: 'UP', sinceUs: at(0), error: 0 },
    ],
    missing: [3],
  });
  t.same(
    evidenceDifferences(other, replayed).map(({ field }) => field),
    ['rule', 'quorum', 'missing', 'votes.1.since', 'votes.2.vote', 'votes.2.error', 'votes.2.since', 'votes.3.vote'],
  );
});

void t.test('since when a vote lasts is not held against what is not known', async (t) => {
  const rows = timed(Array.from({ length: 60 }, (_, minute) => three(minute * 60, minute > 40 ? 'slow' : 'ok')).flat());
  const range: ReplayedRange = { startedUs: at(41 * 60), endedUs: null, status: 'DEGRADED' };
  const replayed = replay(range, inputs, rows.slice(60), { ...limits, foldedUs: at(3_600) });
  const stored = readStored({
    rule: 'half_slow',
    quorum: 2,
    missing: [],
    voters: replayed.evidence.voters.map((vote) => (vote.vote === 'UP' ? { ...vote, sinceUs: at(0) } : vote)),
  });
  t.same(evidenceDifferences(stored, replayed), []);
});

void t.test('the route answers a replay, and says when the results are gone', async (t) => {
  const api = await monitorsApi(t);
  const { worker } = api.database;
  const probes = [await addProbe(api.database, 'probe a', 'eu'), await addProbe(api.database, 'probe b', 'us')];
  const { id } = await api.monitor();
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
  const made = sql.timestamp(new Date(startMs - 600_000));
  const age = () =>
    worker.query(sql.unsafe`
      with m as (update monitors set created_at = ${made} where id = ${id}),
      h as (update monitor_history set effective_at = ${made} where monitor_id = ${id})
      update assignments set started_at = ${made} where monitor_id = ${id}`);
  await age();
  await worker.query(sql.unsafe`insert into shards (shard, folded_until) values (0, now())`);
  const minutes: readonly Outcome[] = ['ok', 'ok', 'fail', 'fail', 'fail', 'ok'];
  await addResults(
    api.database,
    minutes.flatMap((outcome, minute) =>
      probes.map((probeId, index) => ({
        monitorId: id,
        probeId,
        atMs: startMs + minute * 60_000 + index * 1_000,
        outcome,
        ...(outcome === 'fail' ? { code: 'connect_refused' as const } : {}),
      })),
    ),
  );
  const onsetMs = startMs + 121_000;
  const rangeId = await worker.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into status_ranges (monitor_id, started_at, ended_at, status, evidence)
    values (${id}, ${sql.timestamp(new Date(onsetMs))}, ${sql.timestamp(new Date(startMs + 300_000))}, 'DOWN', '{"rule": "quorum_failing", "quorum": 2}')
    returning id`);
  const path = `/api/v1/monitors/${id}/status-ranges/${rangeId}/evidence`;
  t.match((await api.call('GET', path, { token: api.token })).body, { replay: null });
  t.equal((await api.call('GET', `${path}?replay=yes`, { token: api.token })).status, 422);
  const replayed = async () => {
    const { status, body } = await api.call('GET', `${path}?replay=true`, { token: api.token });
    t.equal(status, 200, JSON.stringify(body));
    t.ok(readRangeEvidenceRoute.success.answer?.safeParse(body).success);
    return body['replay'] as RangeReplay;
  };
  t.match(await replayed(), {
    state: 'replayed',
    is_whole: true,
    matches: true,
    differences: [],
    evidence_matches: false,
    segments: [
      { status: 'UNKNOWN' },
      { status: 'UP' },
      { status: 'PARTIAL' },
      { status: 'DOWN', from: new Date(onsetMs).toISOString() },
      { status: 'PARTIAL' },
      { status: 'UP' },
    ],
    votes: [
      {
        probe_id: probes[0],
        probe_name: 'probe a',
        region: 'eu',
        vote: 'DOWN',
        error_code: 'connect_refused',
        results: [
          { outcome: 'ok', response_time_ms: 20 },
          { outcome: 'fail', response_time_ms: null, error_code: 'connect_refused' },
          {},
          {},
          { outcome: 'ok' },
        ],
      },
      { probe_id: probes[1], vote: 'DOWN' },
    ],
  });
  await worker.query(
    sql.unsafe`update status_ranges set status = 'TIMEOUT', ended_at = ended_at + interval '1 second' where id = ${rangeId}`,
  );
  t.match(await replayed(), {
    matches: false,
    differences: [{ field: 'status', stored: 'TIMEOUT', recomputed: 'DOWN' }, { field: 'ended_at' }],
  });
  await worker.query(sql.unsafe`delete from check_results`);
  t.match(await replayed(), { state: 'results_gone', matches: null, votes: [] });
  await worker.query(sql.unsafe`
    update status_ranges set started_at = started_at - interval '100 days', ended_at = ended_at - interval '100 days' where id = ${rangeId}`);
  await worker.query(sql.unsafe`update monitors set created_at = now() - interval '1 year'`);
  t.match(await replayed(), { state: 'results_gone', message: /not kept/ });
});
