import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { target } from '../testing.ts';
import { noticeOfMany } from './notice-of.ts';
import { claimDeliveries, leaseMs } from './claim/queries.ts';
import type { ClaimedDelivery } from './claim/queries.ts';

const nowMs = Date.UTC(2026, 10, 23, 12);

/** A database in which one message is due. */
async function installation(t: TestContext) {
  const { database } = await testDatabase(t);
  const pool = database.worker;
  const user = await pool.oneFirst(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
  const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) values (${user}, 'w', 'key') returning id`);
  await pool.query(sql.unsafe`
    insert into deliveries (workspace_id, owner_id, target_key, target, channel, target_masked, kind, next_attempt_at)
    values (${workspaceId}, ${user}, 'a', ${JSON.stringify(target('a'))}::jsonb, 'email', 'a', 'digest', ${sql.timestamp(new Date(nowMs))})`);
  const claim = async (atMs: number): Promise<ClaimedDelivery> => {
    const shares = { underWay: new Map<number, number>(), mostOfWorkspace: 1, channelsInLanes: [] };
    const [claimed] = await claimDeliveries(pool, 'a process', atMs, 1, shares);
    if (claimed === undefined) throw new Error('nothing was due');
    return claimed;
  };
  return { pool, claim };
}

const noticeOf = (delivery: ClaimedDelivery) => noticeOfMany(delivery, [], 'https://monitor.example.com');

void t.test('a message has one name at each attempt, and another than those of other installations', async (t) => {
  const one = await installation(t);
  const other = await installation(t);
  const first = await one.claim(nowMs);
  const again = await one.claim(nowMs + leaseMs);
  const foreign = await other.claim(nowMs);
  t.equal(first.id, foreign.id, 'both count their messages from one');
  t.equal(again.attempts, 2);
  t.equal(noticeOf(again).id, noticeOf(first).id);
  t.match(noticeOf(first).id, new RegExp(`^delivery-${first.id}-[0-9a-f-]{36}$`));
  t.not(noticeOf(foreign).id, noticeOf(first).id);
  t.not(noticeOf(foreign).subjectKey, noticeOf(first).subjectKey, 'nor is a digest of one a digest of the other');
});

void t.test('a message that was sent before names were drawn keeps its name when it is sent again', async (t) => {
  const { pool, claim } = await installation(t);
  await pool.query(sql.unsafe`update deliveries set message_id = null`);
  const { id, ...rest } = await claim(nowMs);
  t.equal(noticeOf({ id, ...rest }).id, `delivery-${id}`);
});
