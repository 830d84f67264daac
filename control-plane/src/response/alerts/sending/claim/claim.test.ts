import t from 'tap';
import { sql } from '../../../../platform/database/pools.ts';
import { testDatabase } from '../../../../platform/database/testing.ts';
import { target } from '../../testing.ts';
import { claimDeliveries } from './queries.ts';

const nowMs = Date.UTC(2026, 10, 23, 12);
const shares = { underWay: new Map<number, number>(), mostOfWorkspace: 16, channelsInLanes: [] };

const { database } = await testDatabase(t);
const pool = database.worker;
const user = await pool.oneFirst(sql.typeAlias('id')`
  insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
  insert into workspaces (owner_id, name, ping_key) values (${user}, 'w', 'key') returning id`);

async function queue(key: string, count: number, atMs: number): Promise<void> {
  await pool.query(sql.unsafe`
    insert into deliveries (workspace_id, owner_id, target_key, target, channel, target_masked, kind, next_attempt_at)
    select ${workspaceId}, ${user}, ${key}, ${JSON.stringify(target(key))}::jsonb, 'email', ${key}, 'digest', ${sql.timestamp(new Date(atMs))}
    from generate_series(1, ${count})`);
}

const keysOf = async (atMs: number): Promise<string[]> =>
  (await claimDeliveries(pool, 'a process', atMs, 10, shares)).map((one) => one.target_key).toSorted();

void t.test('nothing is claimed before it is due, and then one of each target', async (t) => {
  t.same(await keysOf(nowMs), []);
  await queue('a', 2, nowMs);
  await queue('b', 1, nowMs);
  t.same(await keysOf(nowMs - 1), []);
  t.same(await keysOf(nowMs), ['a', 'b']);
  t.same(await keysOf(nowMs), [], 'the other one of a target waits for the first');
});

void t.test('a target is found behind a thousand messages that have waited longer for another', async (t) => {
  await pool.query(sql.unsafe`delete from deliveries`);
  await queue('flooded', 1_000, nowMs - 1_000);
  await queue('calm', 1, nowMs);
  t.same(await keysOf(nowMs), ['calm', 'flooded']);
});
