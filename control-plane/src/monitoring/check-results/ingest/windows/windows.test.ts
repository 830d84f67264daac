import { packFlags } from '@parallax/wire';
import pg from 'pg';
import t from 'tap';
import type { Outcome } from '@parallax/checks';
import { dayMs, hourMs } from '../../packing/hours.ts';
import { moveAndDrop } from '../../packing/job.ts';
import { packingWorld } from '../../packing/testing/world.ts';
import type { IngestRow } from '../rows.ts';
import { fromLastVerdicts } from '../../../consensus/index.ts';
import { readWindows } from './queries.ts';
import type { StoredWindow, WindowWanted } from './queries.ts';
import { outcomes, random, windowsSeed } from './testing/random.ts';

const seed = windowsSeed();

function row(monitorId: number, voter: number, eUs: number, next: () => number): IngestRow {
  const kind = next() < 0.1 ? 'manual' : next() < 0.3 ? 'recheck' : 'scheduled';
  const outcome = outcomes[Math.floor(next() * outcomes.length)] ?? 'ok';
  const phases = { dnsUs: undefined, connectUs: 7, tlsUs: undefined, firstByteUs: undefined, transferUs: undefined };
  const flags = packFlags(kind, outcome, undefined);
  const rest = { error: Math.floor(next() * 9), freshS: 200_000, probeRevision: 1 + Math.floor(next() * 3) };
  return {
    ...phases,
    ...rest,
    monitorId,
    voter,
    eUs,
    receivedUs: eUs + 7,
    kind,
    outcome,
    flags,
    totalUs: 9,
    evidence: undefined,
  };
}

function told(windows: ReadonlyMap<number, StoredWindow>): string {
  const lines = (rows: StoredWindow['results']): string[] =>
    rows.map((one) => JSON.stringify(one, Object.keys(one).sort())).sort();
  return JSON.stringify(
    [...windows].map(([id, { before, results }]) => [id, lines(before), lines(results)]),
    null,
    1,
  );
}

t.test(`windows are the same whether their results are rows, packed, or both (seed ${seed})`, async (t) => {
  const next = random(seed);
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs;
  const endMs = startMs + 5 * dayMs;
  const w = await packingWorld(t, { atMs: endMs, count: 8, probeCount: 2 });
  const rows = w.monitors.flatMap((monitorId, index) =>
    [0, ...w.probes.map(({ id }) => id)].flatMap((voter) => {
      const gapMs = (0.5 + 3 * (index % 6)) * hourMs * (0.5 + next());
      const own: IngestRow[] = [];
      for (let atMs = startMs + next() * gapMs; atMs < endMs; atMs += gapMs * (0.3 + 1.4 * next())) {
        const eUs = Math.floor(atMs * 1_000);
        own.push(row(monitorId, voter, eUs, next));
        if (next() < 0.2) own.push(row(monitorId, voter, eUs, next));
      }
      return own;
    }),
  );
  await w.store(rows);
  const wanted = (): WindowWanted[] =>
    w.monitors.map((monitorId) => ({
      monitorId,
      horizonUs: Math.floor((startMs + next() * (endMs - startMs)) * 1_000),
      // Now and then so far that each is read on its own.
      backUs: Math.floor(next() * 4 * dayMs * (next() < 0.2 ? 100 : 1)) * 1_000,
      voters: Array.from({ length: 20 }, (_, voter) => voter),
    }));
  const asked = Array.from({ length: 8 }, wanted);
  const allHot = [];
  for (const one of asked) allHot.push(told(await readWindows(w.pool, one)));

  await w.foldUntil(endMs + hourMs);
  await w.pack();
  for (let days = 2; days <= 4; days += 2) {
    const boundaryMs = startMs + days * dayMs;
    await w.pool.query(`update result_storage set hot_from = $1, moved_at = now()`, [new Date(boundaryMs)]);
    for (const [index, one] of asked.entries()) {
      t.equal(told(await readWindows(w.pool, one)), allHot[index], `before ${days} days are dropped`);
    }
    await w.pool.query(`update result_storage set moved_at = now() - interval '2 minutes'`);
    await moveAndDrop({ database: w.database, now: () => boundaryMs }, w.log, () => false);
    for (const [index, one] of asked.entries()) {
      t.equal(told(await readWindows(w.pool, one)), allHot[index], `after ${days} days were dropped`);
    }
  }
  t.ok(w.lines.filter((line) => String(line['msg']).includes('a day of results was dropped')).length >= 4);
  await w.pool.query(`update result_hours set chunk = '\\x01'`);
  t.equal((await readWindows(w.pool, asked[0] ?? [])).size, 8, 'a damaged chunk keeps nobody from going on');
});

t.test('a boundary that moves while a window is read makes it be read again', async (t) => {
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs;
  const w = await packingWorld(t, { atMs: startMs, count: 1, probeCount: 1 });
  const next = random(7);
  await w.store(
    [1, 30, 55].map((hours) => row(w.monitor, w.probes[0]?.id ?? 0, (startMs + hours * hourMs) * 1_000, next)),
  );
  await w.foldUntil(startMs + 5 * dayMs);
  await w.pack();
  const wanted = [{ monitorId: w.monitor, horizonUs: startMs * 1_000, backUs: 0, voters: [] }];
  const expected = told(await readWindows(w.pool, wanted));
  let moves = 0;
  const reader = {
    query: async (...given: unknown[]) => {
      const text = JSON.stringify(given[0]);
      if (text.includes('from check_results') && moves < 2) {
        moves += 1;
        await w.pool.query(`update result_storage set hot_from = $1, moved_at = now() - interval '2 minutes'`, [
          new Date(startMs + moves * dayMs),
        ]);
        await moveAndDrop({ database: w.database, now: () => startMs }, w.log, () => false);
      }
      return (w.pool.query as (...all: unknown[]) => unknown)(...given);
    },
  };
  t.equal(told(await readWindows(reader as typeof w.pool, wanted)), expected);
  t.equal(moves, 2);
});

t.test('results of many monitors are found by their index, however many others there are', async (t) => {
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 2 * dayMs;
  const w = await packingWorld(t, { atMs: startMs, count: 300, probeCount: 1 });
  const endMs = startMs + 2 * dayMs - 1;
  await w.pool.query('select ensure_result_partitions($1, $2)', [new Date(startMs), new Date(endMs)]);
  await w.pool.query(
    `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
     select at, at, m, 1, 1, 0, 160, 1000, 0
     from generate_series($1::timestamptz, $2::timestamptz, interval '15 minutes') as at, unnest($3::integer[]) as m`,
    [new Date(startMs), new Date(endMs), w.monitors],
  );
  const owner = new pg.Client({ connectionString: w.urls.owner });
  await owner.connect();
  t.teardown(() => owner.end());
  await owner.query('analyze check_results');
  const plans: string[] = [];
  const reader = {
    query: async (given: string | { text: string; values: unknown[] }) => {
      if (typeof given !== 'string') {
        const found = await owner.query<{ 'QUERY PLAN': string }>(`explain ${given.text}`, given.values);
        plans.push(...found.rows.map((line) => line['QUERY PLAN']));
      }
      return w.pool.query(given as string);
    },
  };
  const wanted = w.monitors.slice(0, 60).map((monitorId) => ({
    monitorId,
    horizonUs: (endMs - hourMs) * 1_000,
    backUs: hourMs * 1_000,
    voters: [1],
  }));
  t.equal((await readWindows(reader as typeof w.pool, wanted)).get(w.monitor)?.results.length, 4);
  t.ok(plans.some((line) => line.includes('Index Scan using check_results')));
  t.same(
    plans.filter((line) => line.includes('Seq Scan on check_results')),
    [],
  );
});

t.test('rows of one instant are read together, and one with an error of the probe is no verdict', async (t) => {
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - 20 * dayMs;
  const w = await packingWorld(t, { atMs: startMs, count: 1, probeCount: 1 });
  const next = random(5);
  const voter = w.probes[0]?.id ?? 0;
  const at = (minute: number, outcome: Outcome): IngestRow => {
    const flags = packFlags('scheduled', outcome, undefined);
    return { ...row(w.monitor, voter, (startMs + minute * 60_000) * 1_000, next), kind: 'scheduled', outcome, flags };
  };
  const twins = [at(6, 'probe_error'), at(6, 'fail'), at(9, 'fail'), at(9, 'timeout')];
  const singles = [1, 2, 3].map((m) => at(m, 'ok')).concat([7, 8, 10, 11].map((m) => at(m, 'timeout')));
  await w.store([...twins, ...singles]);
  const wanted = [
    { monitorId: w.monitor, horizonUs: (startMs + hourMs) * 1_000, backUs: hourMs * 1_000, voters: [voter] },
  ];
  const minutes = async (): Promise<number[]> =>
    [...((await readWindows(w.pool, wanted)).get(w.monitor)?.before ?? [])]
      .map(({ eUs }) => (eUs / 1_000 - startMs) / 60_000)
      .sort((a, b) => a - b);
  t.same(await minutes(), [3, 6, 6, 7, 8, 9, 9, 10, 11]);
});

t.test('of a voter its last six verdicts are taken, and the errors between them', (t) => {
  const next = random(3);
  const at = (eUs: number, outcome: Outcome, voter = 1) => ({ ...row(1, voter, eUs, next), outcome });
  const outcomesOf = [
    'probe_error',
    'ok',
    'ok',
    'probe_error',
    'fail',
    'ok',
    'probe_error',
    'ok',
    'fail',
    'ok',
    'probe_error',
  ] as const; // prettier-ignore
  const rows = outcomesOf.map((outcome, index) => at(index, outcome));
  const other = at(0, 'fail', 2);
  t.same(
    fromLastVerdicts([other, ...rows].reverse())
      .map(({ voter, eUs }) => `${voter} ${eUs}`)
      .sort(),
    ['1 10', '1 2', '1 3', '1 4', '1 5', '1 6', '1 7', '1 8', '1 9', '2 0'],
  );
  t.end();
});
