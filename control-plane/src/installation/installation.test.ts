import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes, X509Certificate } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { z } from 'zod';
import { migrate } from '../platform/database/migrate.ts';
import { testDatabase } from '../platform/database/testing.ts';
import { sql } from '../platform/database/pools.ts';
import { keyFileName, openInstallation, prepareInstallation } from './index.ts';

const nowMs = Date.now();

async function fresh(t: Parameters<typeof testDatabase>[0]) {
  const { urls, database } = await testDatabase(t);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-installation-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const options = { dataDir, databaseUrls: urls, shards: 2, serverNames: ['127.0.0.1', 'broker.example.org'], nowMs };
  return { options, database };
}

t.test('the first start makes everything and the next one finds it; starters at the same time agree', async (t) => {
  const { options, database } = await fresh(t);
  const [one, two] = await Promise.all([prepareInstallation(options), prepareInstallation(options)]);
  const again = await prepareInstallation(options);
  for (const other of [two, again]) {
    t.equal(other.authorityPem, one.authorityPem);
    t.same(other.keyEncryptionKey, one.keyEncryptionKey);
    t.equal(other.nats.operator.systemAccount, one.nats.operator.systemAccount);
    t.same(Object.keys(other.nats.operator.accounts), Object.keys(one.nats.operator.accounts));
  }
  const file = path.join(options.dataDir, keyFileName);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(Buffer.from(readFileSync(file, 'utf8'), 'base64'), one.keyEncryptionKey);
  const shards = await database.worker.any(
    sql.type(z.object({ shard: z.number() }))`select shard from shards order by shard`,
  );
  t.same(shards, [{ shard: 0 }, { shard: 1 }]);
  const server = new X509Certificate(one.nats.tls.certificatePem);
  t.ok(server.checkIP('127.0.0.1'));
  t.ok(server.checkHost('broker.example.org'));
  t.ok(server.checkIssued(new X509Certificate(one.authorityPem)));
  const opened = await openInstallation({ dataDir: options.dataDir, pool: database.worker, nowMs });
  t.equal(opened.authority.fingerprint, one.authorityFingerprint);
  t.equal(opened.shards, 2);
});

t.test('nothing secret of the installation stands in the database in the clear', async (t) => {
  const { options, database } = await fresh(t);
  const prepared = await prepareInstallation(options);
  const rows = await database.worker.any(sql.type(
    z.object({ sealed: z.instanceof(Buffer), public_part: z.string().nullable() }),
  )`
    select sealed, public_part from sealed_keys`);
  t.equal(rows.length, 3);
  for (const row of rows) {
    const text = `${row.sealed.toString('latin1')} ${row.public_part ?? ''}`;
    t.notMatch(text, /PRIVATE KEY|"SO|"SA/u);
    t.notMatch(text, prepared.keyEncryptionKey.toString('base64'));
  }
});

t.test(
  'another or a missing key-encryption key and another number of shards are refused and change nothing',
  async (t) => {
    const { options, database } = await fresh(t);
    const prepared = await prepareInstallation(options);
    await t.rejects(
      prepareInstallation({ ...options, keyEncryptionKey: randomBytes(32) }),
      /not the one that this database was set up with/,
    );
    await t.rejects(prepareInstallation({ ...options, shards: 3 }), /has 2 shards and PARALLAX_SHARDS is 3/);
    await t.rejects(
      openInstallation({ dataDir: options.dataDir, keyEncryptionKey: randomBytes(32), pool: database.worker, nowMs }),
      /not the one/,
    );
    await rm(path.join(options.dataDir, keyFileName));
    await t.rejects(prepareInstallation(options), /restore that file from a backup/);
    t.throws(() => statSync(path.join(options.dataDir, keyFileName)), 'no new key was made');
    const given = await prepareInstallation({ ...options, keyEncryptionKey: prepared.keyEncryptionKey });
    t.equal(given.authorityPem, prepared.authorityPem);
  },
);

t.test('a database that was not prepared is not opened', async (t) => {
  const { options, database } = await fresh(t);
  await t.rejects(openInstallation({ dataDir: options.dataDir, pool: database.worker, nowMs }), /not set up yet/);
});

t.test('a newer, an older and a changed schema are refused by whoever starts, and nothing is changed', async (t) => {
  const { options, database } = await fresh(t);
  await prepareInstallation(options);
  const open = () => openInstallation({ dataDir: options.dataDir, pool: database.worker, nowMs });
  await open();
  const noted = () =>
    database.worker.any(sql.type(z.object({ number: z.number(), checksum: z.string() }))`
    select number, checksum from schema_migrations order by number`);
  const whole = await noted();
  const next = whole.length + 1;
  const owner = new pg.Client({ connectionString: options.databaseUrls.owner });
  await owner.connect();
  t.teardown(() => owner.end());

  await owner.query("insert into schema_migrations (number, name, checksum) values ($1, $2, 'x')", [
    next,
    `${next}_future.sql`,
  ]);
  const newer = new RegExp(
    `has schema ${next} \\(up to ${next}_future\\.sql\\) and this program knows ${whole.length}: start the newer version`,
  );
  await t.rejects(open(), newer);
  await t.rejects(prepareInstallation(options), newer);
  await t.rejects(migrate(options.databaseUrls.owner), newer);
  t.equal((await noted()).length, next);

  await owner.query('delete from schema_migrations where number = $1', [next]);
  await owner.query("update schema_migrations set checksum = 'other' where number = 2");
  await t.rejects(open(), /0002_installation\.sql was changed after it ran/);
  await t.rejects(prepareInstallation(options), /0002_installation\.sql was changed after it ran/);

  await owner.query('delete from schema_migrations where number > 5');
  await owner.query('update schema_migrations set checksum = $1 where number = 2', [whole[1]?.checksum]);
  await t.rejects(open(), new RegExp(`has schema 5 and this program needs ${whole.length}: run control-plane prepare`));
});
