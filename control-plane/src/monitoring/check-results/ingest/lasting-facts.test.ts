import t from 'tap';
import { eventually, world } from './testing/world.ts';
import { result } from './testing/fixture.ts';

void t.test('what lasts of a good result is stored with it, and its evidence is not', async (t) => {
  const w = await world(t);
  w.start();
  const us = (Date.now() - 60_000) * 1_000;
  const evidence = (facts: object) => ({ message: '', json: JSON.stringify(facts) });
  const ends = '2027-01-01T00:00:00.000Z';
  const failing = { outcome: 'fail', source: 'target', error: 10 } as const;
  await w.send(
    w.probe,
    w.batch(w.probe, {}, [
      result(w.monitor, us, { evidence: evidence({ certificate: { not_after: '2026-12-01T00:00:00.000Z' } }) }),
      result(w.monitor, us + 1, {
        evidence: evidence({ certificate: { not_after: ends }, details: { expires: ends } }),
      }),
      result(w.monitor, us + 2, { ...failing, evidence: evidence({ listings: { 'a.test': 'listed' } }) }),
    ]),
  );
  await eventually(async () => (await w.count('check_results')) === 3, 'the results are stored');
  t.equal(await w.count('result_evidence'), 1, 'of the failure only');
  const outbox = await w.pool.query<{ kind: string; payload: object }>(
    `select kind, payload from outbox where kind = 'dnsbl.seen'`,
  );
  t.match(outbox.rows, [
    { payload: { monitor_id: w.monitor, probe_id: w.probe.id, listings: { 'a.test': 'listed' } } },
  ]);
  await w.send(w.probe, w.batch(w.probe, { firstSeq: 4 }, [result(w.monitor, us + 3)]));
  await eventually(async () => (await w.count('check_results')) === 4, 'the next is stored');
  const known = await w.pool.query(
    `select kind, probe_id, probe_revision, not_after = '${ends}' as is_latest from monitor_expiries order by kind`,
  );
  const seen = { probe_id: w.probe.id, probe_revision: 1, is_latest: true };
  t.same(known.rows, [
    { kind: 'certificate', ...seen },
    { kind: 'domain', ...seen },
  ]);
});
