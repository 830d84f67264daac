import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';
import { testDatabase } from '../../platform/database/testing.ts';

type Row = Record<string, unknown>;

/**
 * Runs a statement in a transaction that stays open, the same one beside it, and commits the first only when the second waits for
 * it or is done: the closest that two requests can come.
 */
async function race(t: Test, apiUrl: string, ownerUrl: string, first: string, second: string): Promise<[Row, Row]> {
  const clients = [apiUrl, apiUrl, ownerUrl].map((url) => new pg.Client({ connectionString: url }));
  const [one, other, observer] = clients as [pg.Client, pg.Client, pg.Client];
  await Promise.all(clients.map((client) => client.connect()));
  t.teardown(() => Promise.all(clients.map((client) => client.end())));
  const { rows: backend } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
  await one.query('begin');
  const taken = await one.query<Row>(first);
  const progress = { isDone: false };
  const pending = other.query<Row>(second).finally(() => {
    progress.isDone = true;
  });
  const waits = async (): Promise<boolean> => {
    const { rows } = await observer.query<{ waits: boolean }>('select cardinality(pg_blocking_pids($1)) > 0 as waits', [
      backend[0]?.pid,
    ]);
    return rows[0]?.waits === true;
  };
  while (!progress.isDone && !(await waits()));
  await one.query('commit');
  const late = await pending;
  return [taken.rows[0] ?? {}, late.rows[0] ?? {}];
}

function register(name: string): string {
  return `select * from identity_register('${name}@example.com', 'hash', 'free', 'key-${name}', true, true, '::1', 'request')`;
}

void t.test('two accounts that could be the first wait for each other', async (t) => {
  const { urls, database } = await testDatabase(t);
  const [first, second] = await race(t, urls.api, urls.owner, register('a'), register('b'));
  t.match([first, second], [{ outcome: 'created' }, { outcome: 'created' }]);
  const { rows } = await database.raw.query<Row>('select email from users where is_administrator');
  t.same(rows, [{ email: 'a@example.com' }]);
});

void t.test('the second of two refreshes repeats what the first has made', async (t) => {
  const { urls, database } = await testDatabase(t);
  await database.raw.query(`insert into users (email, password_hash, plan) values ('a@example.com', 'hash', 'free')`);
  const made = await database.raw.query<{ id: string }>(
    `insert into sessions (user_id, salt, idle_until, absolute_until) values (1, '', now() + '1 day', now() + '1 day') returning id`,
  );
  const refresh = `select * from identity_refresh('${made.rows[0]?.id}', 1, '10 seconds', '14 days', 30, '::1', 'request')`;
  const [first, second] = await race(t, urls.api, urls.owner, refresh, refresh);
  t.match(first, { outcome: 'rotated', counter: 2 });
  t.match(second, { outcome: 'repeated', counter: 2 });
  t.same(second['rotated_at'], first['rotated_at'], 'the same pair is made from it');
});

void t.test('a refresh that waits for a reuse to be punished is refused', async (t) => {
  const { urls, database } = await testDatabase(t);
  await database.raw.query(`insert into users (email, password_hash, plan) values ('a@example.com', 'hash', 'free')`);
  const made = await database.raw.query<{ id: string }>(
    `insert into sessions (user_id, salt, counter, idle_until, absolute_until) values (1, '', 5, now() + '1 day', now() + '1 day') returning id`,
  );
  const refresh = (counter: number): string =>
    `select * from identity_refresh('${made.rows[0]?.id}', ${counter}, '10 seconds', '14 days', 30, '::1', 'request')`;
  const [reuse, present] = await race(t, urls.api, urls.owner, refresh(2), refresh(5));
  t.match([reuse, present], [{ outcome: 'reused' }, { outcome: 'ended' }]);
});
