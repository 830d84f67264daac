import t from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTableSignals } from './table-signals.ts';
import type { TableSignals } from './table-signals.ts';
import { testDatabase } from './testing.ts';
import { untilFirstDue } from './first-due.queries.ts';
import { sql } from './pools.ts';

async function until(holds: () => boolean): Promise<void> {
  for (const endMs = performance.now() + 8_000; !holds(); await sleep(5))
    if (performance.now() > endMs) throw new Error('it did not come');
}

/** Resolves when changes are heard and whoever registered was woken for that. */
async function heard({ signals }: { readonly signals: TableSignals }): Promise<void> {
  await until(() => signals.isHeard());
  await sleep(300);
}

const addToOutbox = "insert into outbox (key, kind, payload) select 'a', 'test', '{}' from generate_series(1, 10)";

void t.test('a commit that wrote a table wakes who waits for it, once, and nobody else', async (t) => {
  const { database } = await testDatabase(t);
  let outbox = 0;
  let mails = 0;
  const outboxSignal = database.signals.on(['outbox'], () => (outbox += 1));
  database.signals.on(['mails'], () => (mails += 1));
  await heard(database);
  t.ok(outbox > 0 && mails > 0, 'each is woken at the beginning');
  [outbox, mails] = [0, 0];
  const client = await database.raw.connect();
  await client.query('begin');
  await client.query(addToOutbox);
  await client.query(addToOutbox);
  await sleep(50);
  t.equal(outbox, 0, 'not before the commit');
  await client.query('commit');
  await until(() => outbox > 0);
  await client.query('begin');
  await client.query(addToOutbox);
  await client.query('rollback');
  client.release();
  await sleep(50);
  t.equal(outbox, 1, 'once for twenty rows, and not for what was undone');
  t.equal(mails, 0);
  outboxSignal.stop();
  await database.raw.query(addToOutbox);
  await sleep(50);
  t.equal(outbox, 1);
});

void t.test('whoever waits is woken when the connection was lost, and heard again after that', async (t) => {
  const { database } = await testDatabase(t);
  let woken = 0;
  database.signals.on(['outbox'], () => (woken += 1));
  await heard(database);
  const before = woken;
  await database.raw.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'parallax signals' and datname = current_database()",
  );
  await until(() => woken > before);
  t.notOk(database.signals.isHeard(), 'something may have been missed');
  await heard(database);
  const after = woken;
  await database.raw.query(addToOutbox);
  await until(() => woken > after);
});

void t.test('a database that is away harms nobody, and a close ends it', async () => {
  const signals = createTableSignals('postgres://nobody@127.0.0.1:1/none');
  let woken = 0;
  signals.on(['outbox'], () => (woken += 1));
  await until(() => woken > 0);
  t.notOk(signals.isHeard());
  await signals.close();
});

void t.test(
  'a deadline is signalled when it is new or comes sooner, a probe when more than its last sign of life changes',
  async (t) => {
    const { database } = await testDatabase(t);
    let heartbeats = 0;
    let probes = 0;
    database.signals.on(['heartbeats'], () => (heartbeats += 1));
    database.signals.on(['probes'], () => (probes += 1));
    await until(() => database.signals.isHeard());
    const { rows } = await database.raw.query<{ heartbeats: string[]; probes: string[] }>(
      `select array_agg(tgname::text order by tgname) filter (where c.relname = 'heartbeats') as heartbeats,
       array_agg(tgname::text order by tgname) filter (where c.relname = 'probes') as probes
     from pg_trigger join pg_class c on c.oid = tgrelid where tgname like 'signal%'`,
    );
    t.match(rows, [{ heartbeats: ['signal_change', 'signal_new'], probes: ['signal_change', 'signal_new'] }]);
    [heartbeats, probes] = [0, 0];
    await database.raw.query(
      "insert into probes (name, region, signing_public_key) values ('one', 'eu', decode(repeat('00', 32), 'hex'))",
    );
    await until(() => probes === 1);
    await database.raw.query('update probes set last_seen_at = now()');
    await until(() => probes === 2);
    await database.raw.query("update probes set last_seen_at = now() + interval '1 second'");
    await database.raw.query('update probes set is_paused = true');
    await until(() => probes === 3);
    await sleep(30);
    t.equal(probes, 3);
    t.equal(heartbeats, 0);
  },
);

void t.test(
  'the time until the first due is that of the database, and what is overdue is looked at again',
  async (t) => {
    const { database } = await testDatabase(t);
    const pool = database.worker;
    t.equal(await untilFirstDue(pool, sql.fragment`select min(due_at) from mails`, 500), undefined);
    const soonMs = await untilFirstDue(pool, sql.fragment`select clock_timestamp() + interval '10 seconds'`, 500);
    t.ok(soonMs !== undefined && soonMs > 9_000 && soonMs <= 10_000, String(soonMs));
    t.equal(await untilFirstDue(pool, sql.fragment`select now() - interval '1 hour'`, 500), 500);
  },
);
