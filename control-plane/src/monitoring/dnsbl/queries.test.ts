import pg from 'pg';
import t from 'tap';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { explaining, nodesOf } from '../lasting-facts/testing/plans.ts';
import { changeRuns, latestRuns, removeOldRuns } from './queries.ts';

const minuteMs = 60_000;
const nowMs = Date.now();

void t.test('what is heard of a list reads its last run, however often it has changed', async (t) => {
  const { urls, database } = await testDatabase(t);
  const { worker } = database;
  // Three monitors, four lists each, a change a minute: the last one is open, but of the list that nobody has asked for a while.
  await worker.query(sql.unsafe`
    insert into dnsbl_runs (monitor_id, provider, started_at, ended_at, state, is_listed)
    select m, 'l' || l, ${sql.timestamp(new Date(nowMs))}::timestamptz - i * interval '1 minute',
      case when i > 1 or l = 4 then ${sql.timestamp(new Date(nowMs))}::timestamptz - (i - 1) * interval '1 minute' end, 'clean', l = 4
    from generate_series(1, 3) m, generate_series(1, 4) l, generate_series(1, 5000) i`);
  const owner = new pg.Client({ connectionString: urls.owner });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();
  const read: string[] = [];
  await worker.transaction(async (tx) => {
    const watched = explaining(tx, (plan) => {
      for (const { type, relation, rows } of nodesOf(plan))
        if (type === 'Seq Scan' ? rows > 0 : rows > 20) read.push(`${type} of ${relation}: ${rows} rows`);
    });
    t.same(await latestRuns(watched, 2, ['l1', 'l4', 'new']), [
      { provider: 'l1', state: 'clean', isListed: false, isOpen: true },
      { provider: 'l2', state: 'clean', isListed: false, isOpen: true },
      { provider: 'l3', state: 'clean', isListed: false, isOpen: true },
      { provider: 'l4', state: 'clean', isListed: true, isOpen: false },
    ]);
    await changeRuns(
      watched,
      2,
      [{ provider: 'l1', closes: true, opens: { state: 'listed', isListed: true }, news: 'dnsbl.listed' }],
      nowMs,
    );
    t.match(await latestRuns(tx, 2, ['l1']), [{ provider: 'l1', isListed: true, isOpen: true }, {}, {}]);
  });
  t.same(read, []);
  t.equal(await removeOldRuns(worker, nowMs - 4_000 * minuteMs), 5_000, 'a batch of what is too old');
});
