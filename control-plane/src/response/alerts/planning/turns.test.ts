import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { beginning } from '../occasions/change.ts';
import { writeChanges } from '../occasions/queries.ts';
import { claimOccasions } from './queries.ts';

const nowMs = Date.UTC(2026, 10, 23, 12);

void t.test('what is due of one workspace in a flood of another is looked at in turn', async (t) => {
  const { database } = await testDatabase(t);
  const pool = database.worker;
  const owner = await pool.oneFirst(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
  const workspace = (name: string) =>
    pool.oneFirst(sql.typeAlias('id')`
      insert into workspaces (owner_id, name, ping_key) values (${owner}, ${name}, ${name}) returning id`);
  const [flooded, calm, third] = [await workspace('flooded'), await workspace('calm'), await workspace('third')];
  const fail = (workspaceId: number, count: number, atMs: number) =>
    pool.transaction((tx) =>
      writeChanges(
        tx,
        Array.from({ length: count }, (_, id) =>
          beginning({
            workspaceId,
            key: `degraded:${id + 1}:x`,
            event: 'monitor.degraded',
            subject: { type: 'monitor', id: id + 1 },
            title: `monitor ${id + 1}`,
            severity: 'minor',
            startedMs: atMs,
          }),
        ),
        atMs,
      ),
    );
  await fail(flooded, 300, nowMs - 9_000);
  await fail(calm, 2, nowMs - 1_000);
  await fail(third, 1, nowMs + 1_000);

  const claimed = pool.transaction(async (tx) => {
    const rows = await claimOccasions(tx, nowMs, 100);
    const meanwhile = await pool.transaction((other) => claimOccasions(other, nowMs, 100));
    return { own: rows, meanwhile };
  });
  const { own, meanwhile } = await claimed;
  t.same(
    own.slice(0, 4).map((row) => row.workspace_id),
    [flooded, calm, flooded, calm],
    'the oldest of each, then the second',
  );
  t.equal(own.filter((row) => row.workspace_id === flooded).length, 98);
  t.equal(meanwhile.length, 100, 'another replica gets as many');
  const ids = new Set(own.map(({ id }) => id));
  t.notOk(
    meanwhile.some(({ id }) => ids.has(id)),
    'and others',
  );
  t.notOk(
    [...own, ...meanwhile].some((row) => row.workspace_id === third),
    'what is not due yet waits',
  );
});
