import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { makeProbes } from '../../../testing/probes.ts';
import { sweepSessionHistory } from './job.ts';

const { database } = await testDatabase(t);
const pool = database.worker;
const [probeId = 0, other = 0] = await makeProbes(database, [
  { name: 'one', region: 'eu' },
  { name: 'two', region: 'us' },
]);

async function makeSessions(name: string, count: number, openedAgo: string, closedAgo: string | null): Promise<void> {
  await pool.query(sql.unsafe`
    insert into probe_sessions (probe_id, boot_id, replica, opened_at, closed_at)
    select ${name === 'open' ? other : probeId}, ${name}, 'replica', now() - ${openedAgo}::interval, now() - ${closedAgo}::interval
    from generate_series(1, ${count}::int)`);
}

async function kept(): Promise<Record<string, number>> {
  const rows = await pool.any(sql.type(z.object({ name: z.string(), count: z.number() }))`
    select boot_id as name, count(*)::int as count from probe_sessions group by boot_id`);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

t.test('sessions that ended more than a week ago go in batches; younger and open ones stay', async (t) => {
  await makeSessions('open', 1, '30 days', null);
  await makeSessions('long ago', 25, '9 days', '8 days');
  await makeSessions('lasted long', 3, '30 days', '6 days');
  await makeSessions('young', 2, '2 days', '1 day');
  let asked = 0;
  const stopAfterOne = () => (asked += 1) > 1;
  t.equal(
    await sweepSessionHistory(pool, { batchSize: 10, isStopped: stopAfterOne }),
    10,
    'a stop waits for one batch',
  );
  t.equal(await sweepSessionHistory(pool, { batchSize: 10, isStopped: () => false }), 15);
  t.same(await kept(), { open: 1, 'lasted long': 3, young: 2 });
  t.equal(await sweepSessionHistory(pool, { batchSize: 10, isStopped: () => false }), 0);
});
