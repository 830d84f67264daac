import { Socket } from 'node:net';
import pg from 'pg';
import t from 'tap';
import { openTransaction } from './open-transaction.ts';
import type { Opening } from './open-transaction.ts';
import { testDatabase } from './testing.ts';

const { urls, database } = await testDatabase(t);
const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client(urls.worker);
  client.on('error', () => undefined);
  await client.connect();
  return client;
};
const client = await connect();
t.teardown(() => client.end());
await client.query('create temporary table kept (n integer not null)');

const statement = { name: 'sum', text: 'select $1::integer + 1, $2::text', values: ['41', null] };
const rows = (text: string): Opening['copy'] => ({ text: 'copy kept from stdin', data: Buffer.from(text) });
const count = async (): Promise<number> => (await client.query('select from kept')).rows.length;

t.test('a statement and rows in one transaction, also the second time, when the statement is prepared', async (t) => {
  for (const wanted of [2, 4]) {
    t.same(await openTransaction(client, { statement, copy: rows('1\n2\n') }), ['42', null]);
    t.equal(client.getTransactionStatus(), 'T', 'the transaction is open');
    await client.query('commit');
    t.equal(await count(), wanted);
  }
});

t.test('all of it goes to the server in one piece, and is waited for once', async (t) => {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const pieces: string[] = [];
  const watched: Partial<Pick<Socket, '_write' | '_writev'>> = {
    _write: (...given) => (pieces.push('one'), Socket.prototype._write.apply(stream, given)),
    _writev: (...given) => (pieces.push('several'), Socket.prototype._writev?.apply(stream, given)),
  };
  Object.assign(stream, watched);
  try {
    await openTransaction(client, { statement, copy: rows('1\n') });
  } finally {
    for (const name of ['_write', '_writev'] as const) Reflect.deleteProperty(stream, name);
  }
  t.same(pieces, ['several']);
  await client.query('rollback');
});

t.test('more rows than the socket takes at once', async (t) => {
  await openTransaction(client, { statement, copy: rows('7\n'.repeat(1_000_000)) });
  t.equal((await client.query('select count(*)::integer as n from kept where n = 7')).rows[0].n, 1_000_000);
  await client.query('rollback');
});

t.test('without rows', async (t) => {
  t.same(await openTransaction(client, { statement, copy: undefined }), ['42', null]);
  await client.query('rollback');
});

t.test('whatever fails is told, nothing is kept, and the connection goes on', async (t) => {
  const before = await count();
  const failing: [string, Opening][] = [
    ['22P02', { statement: { ...statement, values: ['no number', null] }, copy: rows('5\n') }],
    [
      '22P02',
      { statement: { name: 'first seen', text: 'select $1::integer', values: ['no number'] }, copy: undefined },
    ],
    ['42601', { statement: { name: 'wrong', text: 'selec', values: [] }, copy: rows('5\n') }],
    ['22P02', { statement, copy: rows('5\nno number\n') }],
    ['22P02', { statement, copy: rows(`5\nno number\n${'6\n'.repeat(200_000)}`) }],
    ['42P01', { statement, copy: { text: 'copy nowhere from stdin', data: Buffer.from('5\n') } }],
  ];
  // Each twice: a statement that the server has prepared stays prepared whatever failed after it.
  for (const [code, opening] of [...failing, ...failing]) {
    await t.rejects(openTransaction(client, opening), { code });
    await client.query('rollback');
    t.equal(await count(), before);
  }
  t.same(await openTransaction(client, { statement, copy: rows('1\n') }), ['42', null]);
  await client.query('rollback');
});

t.test('a connection that ends fails it', async (t) => {
  const other = await connect();
  const { rows: pids } = await other.query('select pg_backend_pid() as pid');
  const opened = openTransaction(other, {
    statement: { name: 'slow', text: 'select pg_sleep(30)', values: [] },
    copy: rows('1\n'),
  });
  const failed = t.rejects(opened);
  await database.raw.query('select pg_terminate_backend($1)', [pids[0].pid]);
  await failed;
});
