import t from 'tap';
import { z } from 'zod';
import { openDatabase, sql } from './pools.ts';
import { inScope } from './scope.ts';
import { testDatabase } from './testing.ts';

const { urls } = await testDatabase(t);
const backend = sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`;
const setting = sql.type(z.object({ value: z.string().nullable() }))`
  select current_setting('parallax.workspaces', true) as value`;

t.test('a connection carries nothing over to who takes it next', async (t) => {
  const database = await openDatabase(urls, { api: 1, worker: 1 });
  t.teardown(() => database.close());
  const { api } = database;
  const pid = await inScope(api, { userId: 1, workspaceIds: [7] }, async (transaction) => {
    t.equal(await transaction.oneFirst(setting), '7');
    return transaction.oneFirst(backend);
  });
  t.equal(await api.oneFirst(backend), pid, 'the same connection');
  t.equal(await api.oneFirst(setting), '', 'the scope ended with its transaction');
});

for (const statement of [
  sql.unsafe`select set_config('parallax.workspaces', '8', false), set_config('search_path', 'pg_temp', true)`,
  sql.unsafe`set parallax.workspaces = '8'`,
  sql.unsafe`
    SET SESSION parallax.workspaces TO '8'`,
]) {
  t.test(`what is set beyond a transaction does not outlast its use: ${statement.sql.trim()}`, async (t) => {
    const database = await openDatabase(urls, { api: 1, worker: 1 });
    t.teardown(() => database.close());
    const { api } = database;
    const pid = await api.oneFirst(backend);
    const within = await api.connect(async (connection) => {
      await connection.query(statement);
      return connection.oneFirst(setting);
    });
    t.equal(within, '8');
    t.equal(await api.oneFirst(backend), pid, 'the same connection');
    t.equal(await api.oneFirst(setting), '');
  });
}

// What a session prepared goes with the plans of its functions, which cannot be listed.
t.test('plans outlast the use of a connection', async (t) => {
  const database = await openDatabase(urls, { api: 1, worker: 1 });
  t.teardown(() => database.close());
  await database.api.query(sql.unsafe`prepare kept as select 1`);
  const names = await database.api.anyFirst(
    sql.type(z.object({ name: z.string() }))`select name from pg_prepared_statements`,
  );
  t.same(names, ['kept']);
});

t.test(
  'a backend that is killed while its connection is borrowed, and nobody listens to it, ends no process',
  async (t) => {
    const database = await openDatabase(urls, { api: 1, worker: 2 });
    t.teardown(() => database.close());
    const client = await database.raw.connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await database.raw.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    client.release();
    const next = await database.raw.query<{ pid: number }>('select pg_backend_pid() as pid');
    t.not(next.rows[0]?.pid, rows[0]?.pid);
  },
);
