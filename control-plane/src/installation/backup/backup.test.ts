import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cloneDatabase, databaseCluster } from '@parallax/testkit';
import type { DatabaseUrls, TestContext } from '@parallax/testkit';
import pg from 'pg';
import t from 'tap';
import { createSealer } from '../../platform/crypto/seal.ts';
import type { Keyring } from '../../platform/crypto/seal.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { readTables } from './catalog.ts';
import type { BackupHeader } from './format.ts';
import { BackupWriter } from './file-writer.ts';
import { createBackup, openBackup, restoreBackup, tablePlans, verifyBackup } from './index.ts';
import { columnList } from './create.ts';

/** An installation of the first released schema, with its key: what every later version must be able to take over. */
const fixture = path.resolve(import.meta.dirname, '../../../../test/fixtures/first-step');
const fixtureFile = path.join(fixture, 'installation.backup');
const sealer = createSealer(Buffer.from(readFileSync(path.join(fixture, 'key-encryption-key'), 'utf8'), 'base64'));
const nowMs = Date.UTC(2026, 11, 1);
/** Tables of which a restore changes something. */
const changed = ['installation', 'shards', 'outbox', 'probes'];

async function emptyDatabase(t: TestContext): Promise<DatabaseUrls> {
  return (await cloneDatabase(t, { templateKey: 'empty', build: () => Promise.resolve() })).urls;
}

function scratch(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function query<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

const tableCount = async (url: string): Promise<number> =>
  (await query(url, "select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')"))
    .length;

async function restore(file: string, ownerUrl: string, key: Keyring = sealer, atMs = nowMs) {
  const handle = await openBackup(file);
  try {
    return await restoreBackup({
      handle,
      name: path.basename(file),
      sealer: key,
      openDatabase: () => Promise.resolve(ownerUrl),
      nowMs: atMs,
      onProgress: () => undefined,
    });
  } finally {
    await handle.close();
  }
}

async function backUp(
  urls: DatabaseUrls,
  onBytes: (bytes: Buffer) => Promise<void> = () => Promise.resolve(),
): Promise<Buffer> {
  const parts: Buffer[] = [];
  await createBackup({
    workerUrl: urls.worker,
    sealer,
    productVersion: '1.2.3',
    nowMs,
    sink: async (bytes) => {
      parts.push(Buffer.from(bytes));
      await onBytes(bytes);
    },
    onProgress: () => undefined,
  });
  return Buffer.concat(parts);
}

/** Everything that a backup carries, as text in an order of its own. */
async function content(url: string, except: readonly string[] = []): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const texts: Record<string, string> = {};
    for (const { name, columns } of await readTables(client)) {
      if (tablePlans[name]?.kind === 'left out' || except.includes(name)) continue;
      const { rows } = await client.query<{ text: string }>(
        `select row(${columnList(columns)})::text as text from ${name} order by 1`,
      );
      texts[name] = rows.map((row) => row.text).join('\n');
    }
    return texts;
  } finally {
    await client.end();
  }
}

t.test('an installation of the first schema is restored, brought up to date and goes on', async (t) => {
  const urls = await emptyDatabase(t);
  const { header, rows, migrated } = await restore(fixtureFile, urls.owner);
  t.equal(header.migrations.length, 6);
  t.ok(rows > 100);
  t.ok(migrated.length >= 2);
  t.same(await migrate(urls.owner), [], 'there is nothing left to migrate');
  const [user] = await query<{ email: string }>(urls.owner, 'select email from users');
  t.equal(user?.email, 'first@example.org');
  const [monitor] = await query<{ tags: string[]; description: string }>(
    urls.owner,
    "select tags, description from monitors where name = 'web'",
  );
  t.same(monitor, { tags: ['a "quoted" tag', 'back\\slash', 'ünïcode'], description: 'two\nlines' });
  const [forced] = await query<{ count: string }>(
    urls.owner,
    "select count(*) as count from pg_class where relname in ('users', 'monitors', 'probes') and relforcerowsecurity",
  );
  t.equal(forced?.count, '3', 'row-level security is forced again');
  const [shard] = await query<{ owner: string | null; future: string }>(
    urls.owner,
    `select owner, (select count(*) from monitors where changed_xid >= pg_snapshot_xmax(pg_current_snapshot())) as future from shards`,
  );
  t.match(shard, { owner: null, future: '0' }, 'nothing of the old cluster: no owner, no transaction of the future');
});

t.test('a backup of what was restored holds the same, to the byte of every row', async (t) => {
  const one = await emptyDatabase(t);
  const other = await emptyDatabase(t);
  await restore(fixtureFile, one.owner);
  await query(one.owner, "select ensure_result_partitions('2027-02-01', '2027-02-02')");
  await query(
    one.owner,
    `insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, error)
     select '2027-02-01T12:00:00Z'::timestamptz + n * interval '1 microsecond', '2027-02-02', 1, 1, 1, 0, 5, n, 0 from generate_series(1, 30000) n`,
  );
  await query(one.owner, "update outbox set lease_until = now() + interval '1 hour' where id = 1");
  // Packed hours of two weeks, days of two quarters, and a boundary whose days are not dropped yet.
  for (const hour of [494_000, 480_000]) {
    await query(one.owner, 'select ensure_packed_partitions($1, $1)', [hour]);
    await query(
      one.owner,
      `insert into result_hours select m, $1::integer - n, p, 1 + n, 1_000 * n, nullif(n, 3), p,
         decode(md5(n::text), 'hex'), decode(repeat(md5(m::text), 90), 'hex')
       from generate_series(1, 9) m, generate_series(0, 5) n, generate_series(0, 2) p`,
      [hour],
    );
    await query(one.owner, `insert into result_days values (1, $1, 2, 3, '\\x00ff'), (2, $1, 2, 3, '\\x')`, [
      Math.floor(hour / 24),
    ]);
  }
  await query(one.owner, "update result_storage set hot_from = '2027-02-02', moved_at = now()");
  await query(one.owner, "insert into packing_jobs values ('hour', 0, 494000, 77), ('day', 0, 20583, 0)");
  await query(one.owner, 'insert into stale_hours (monitor_id, hour) values (1, 494000)');
  await query(one.owner, "update shards set closed_until = '2026-12-01'");
  const file = path.join(scratch(t), 'other.backup');
  writeFileSync(file, await backUp(one));
  await restore(file, other.owner, sealer, nowMs + 60_000);
  const [before, after] = [await content(one.owner, changed), await content(other.owner, changed)];
  for (const name of Object.keys(before)) t.ok(before[name] === after[name], name);
  t.equal(after['check_results']?.split('\n').length, 30_040, 'several blocks of rows, and days of their own');
  t.equal(after['result_hours']?.split('\n').length, 324);
  t.match(after['result_storage'], /2027-02-02/);
  const partitions = `select relname as name from pg_class where relispartition and relkind = 'r' order by 1`;
  t.same(await query(other.owner, partitions), await query(one.owner, partitions), 'the same partitions');
  t.same(
    await query(other.worker, `update result_hours set results = 9 where hour = 494000 returning hour`).then(
      ({ length }) => length,
    ),
    27,
    'which the worker may write',
  );
  t.same(await query(other.owner, 'select id from outbox where lease_until is not null'), []);
  for (const [name, plan] of Object.entries(tablePlans)) {
    if (plan.kind !== 'left out' || name === 'schema_migrations') continue;
    t.same(await query(other.owner, `select 1 from ${name} limit 1`), [], `${name} is left out`);
  }
});

t.test('numbers and revisions that were given out after the backup are not given out again', async (t) => {
  const urls = await emptyDatabase(t);
  await restore(fixtureFile, urls.owner);
  const [made] = await query<{ id: number }>(
    urls.owner,
    "insert into workspaces (owner_id, name, ping_key) values (1, 'new', 'new') returning id",
  );
  t.ok((made?.id ?? 0) > 1_000);
  const [probe] = await query<{ assignment_revision: string; restored_revision: string }>(
    urls.owner,
    'select assignment_revision, restored_revision from probes, installation',
  );
  t.match(probe, { assignment_revision: String(nowMs), restored_revision: String(nowMs) });
});

t.test('every table of the schema has a plan for backups', async (t) => {
  const urls = await emptyDatabase(t);
  await migrate(urls.owner);
  const client = new pg.Client({ connectionString: urls.owner });
  await client.connect();
  t.teardown(() => client.end());
  const tables = await readTables(client);
  t.same(tables.map(({ name }) => name).sort(), Object.keys(tablePlans).sort());
  await client.query('create table stray (id integer)');
  await client.query('insert into installation (shards, key_check) values (1, $1)', [
    sealer.seal('parallax', 'key check'),
  ]);
  await client.query('grant select on stray to parallax_worker');
  await t.rejects(backUp(urls), /the table stray is not one of Parallax/);
});

t.test('a backup holds one moment, whatever is written meanwhile', async (t) => {
  const urls = await emptyDatabase(t);
  await restore(fixtureFile, urls.owner);
  const before = await content(urls.owner, changed);
  let isFirst = true;
  const bytes = await backUp(urls, async () => {
    if (!isFirst) return;
    isFirst = false;
    await query(
      urls.owner,
      "insert into audit_log (actor, action, subject_type) values ('system', 'meanwhile', 'none')",
    );
    await query(urls.owner, "insert into workspaces (owner_id, name, ping_key) values (1, 'meanwhile', 'meanwhile')");
  });
  const file = path.join(scratch(t), 'moment.backup');
  writeFileSync(file, bytes);
  const other = await emptyDatabase(t);
  await restore(file, other.owner);
  t.same(await content(other.owner, changed), before);
});

t.test('partitions are not dropped while a backup runs', async (t) => {
  const urls = await emptyDatabase(t);
  await restore(fixtureFile, urls.owner);
  await query(urls.owner, `update result_storage set hot_from = '2100-01-01', moved_at = now() - interval '1 hour'`);
  const days = async () => (await query(urls.owner, `select from pg_class where relname ~ '^check_results_'`)).length;
  const before = await days();
  t.ok(before > 0);
  let refused: unknown;
  const bytes = await backUp(urls, async () => {
    refused ??= await query(urls.worker, `set lock_timeout = '50ms'; select drop_packed_day()`).catch(
      (error: unknown) => error,
    );
  });
  t.match(String(refused), /lock timeout/, 'from its first byte on');
  t.equal(await days(), before);
  const file = path.join(scratch(t), 'dropping.backup');
  writeFileSync(file, bytes);
  const other = await emptyDatabase(t);
  await restore(file, other.owner);
  t.same((await content(other.owner))['check_results'], (await content(urls.owner))['check_results']);
});

t.test('a backup that is damaged, cut off or altered is refused before the database is asked for', async (t) => {
  const folder = scratch(t);
  const whole = readFileSync(fixtureFile);
  const cases: [string, Buffer, RegExp][] = [
    ['empty', Buffer.alloc(0), /is not a backup/],
    ['something else', Buffer.from('PK\u0003\u0004 and so on and so on'), /is not a backup/],
    ['followed by something', Buffer.concat([whole, Buffer.of(0)]), /something follows its end/],
  ];
  for (const length of [20, 600, 5_000, whole.length - 65, whole.length - 64, whole.length - 1]) {
    cases.push([`cut off after ${length} bytes`, whole.subarray(0, length), /cut off/]);
  }
  for (let at = 0; at < whole.length; at += 997) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ 0x10;
    cases.push([`a bit at ${at}`, flipped, /is not a backup|damaged or was altered|cut off|altered by somebody/]);
  }
  // By somebody who knows the format but not the key.
  const forged = Buffer.from(whole);
  forged.write('9', forged.indexOf('"shards":1') + 9);
  createHash('sha256')
    .update(forged.subarray(0, -64))
    .digest()
    .copy(forged, forged.length - 64);
  cases.push(['forged', forged, /altered by somebody without the key/]);
  for (const [name, bytes, message] of cases) {
    const file = path.join(folder, 'bad.backup');
    writeFileSync(file, bytes);
    const handle = await openBackup(file);
    const restoring = restoreBackup({
      handle,
      name,
      sealer,
      openDatabase: () => Promise.reject(new Error('the database was asked for')),
      nowMs,
      onProgress: () => undefined,
    });
    await t.rejects(restoring, { name: 'BackupError', message }, name);
    await handle.close();
  }
});

t.test('a backup of another key-encryption key, a newer schema or a changed migration is refused', async (t) => {
  const urls = await emptyDatabase(t);
  await t.rejects(restore(fixtureFile, urls.owner, createSealer(randomBytes(32))), {
    name: 'BackupError',
    message: /another key-encryption key/,
  });
  const handle = await openBackup(fixtureFile);
  const { header } = await verifyBackup(handle, 'fixture', undefined);
  await handle.close();
  const extra = (number: number) => ({ number, name: `${number}_future.sql`, checksum: '0'.repeat(64) });
  const folder = scratch(t);
  const written = async (changes: Partial<BackupHeader>, table?: [string, string[], string]): Promise<string> => {
    const file = path.join(folder, 'made.backup');
    const parts: Buffer[] = [];
    const writer = new BackupWriter((bytes) => Promise.resolve(void parts.push(bytes)));
    await writer.begin({ ...header, ...changes });
    if (table !== undefined)
      await writer.table({ name: table[0], columns: table[1] }, [
        Buffer.from(table[2]),
      ] as unknown as AsyncIterable<Buffer>);
    await writer.end([], sealer);
    writeFileSync(file, Buffer.concat(parts));
    return file;
  };
  const future = Array.from({ length: 2_000 }, (_, index) => header.migrations[index] ?? extra(index + 1));
  await t.rejects(
    restore(await written({ migrations: future, product_version: '9.9.9' }), urls.owner),
    /has schema 2000 and this program knows \d+: restore it with Parallax 9\.9\.9 or newer/,
  );
  await t.rejects(
    restore(await written({ migrations: [...header.migrations.slice(0, 5), extra(6)] }), urls.owner),
    /migration 6_future\.sql differs/,
  );
  await t.rejects(restore(await written({}, ['of_the_future', ['id'], '1\n']), urls.owner), /does not know/);
  await t.rejects(restore(await written({ format: 2 } as unknown as BackupHeader), urls.owner), /has format 2/);
  t.equal(await tableCount(urls.owner), 0);
  await t.rejects(
    restore(await written({}, ['users', ['id', 'email'], 'no number\tno address\n']), urls.owner),
    /invalid input/,
  );
  t.equal(await tableCount(urls.owner), 0, 'what fails in the middle leaves nothing');
});

t.test('a database that is not empty is left alone', async (t) => {
  const urls = await emptyDatabase(t);
  await restore(fixtureFile, urls.owner);
  const before = await content(urls.owner);
  await t.rejects(restore(fixtureFile, urls.owner), /the database is not empty/);
  t.same(await content(urls.owner), before);
});

t.test('an owner who is no superuser restores too', async (t) => {
  const cluster = await databaseCluster();
  const name = `plain_${randomBytes(4).toString('hex')}`;
  await query(cluster.url('postgres'), `create role ${name} login nosuperuser nobypassrls`);
  await query(cluster.url('postgres'), `create database ${name} owner ${name} template template0`);
  t.teardown(async () => {
    await query(cluster.url('postgres'), `drop database ${name} with (force)`);
    await query(cluster.url('postgres'), `drop role ${name}`);
  });
  await restore(fixtureFile, cluster.url(name, name));
  const bytes = await backUp({ owner: '', api: '', worker: cluster.url(name, 'parallax_worker') });
  t.ok(bytes.length > 10_000);
  const [count] = await query<{ count: string }>(
    cluster.url(name, 'parallax_worker'),
    'select count(*) as count from monitors',
  );
  t.equal(count?.count, '4');
  const [probe] = await query<{ assignment_revision: string }>(
    cluster.url(name, 'parallax_worker'),
    'select assignment_revision from probes',
  );
  t.equal(probe?.assignment_revision, String(nowMs), 'and no row is missed');
});
