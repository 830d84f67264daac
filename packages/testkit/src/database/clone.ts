import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestContext } from '../test-context.ts';
import { databaseCluster } from './cluster.ts';

/** One URL per role: `parallax_owner`, `parallax_api`, `parallax_worker`. */
export type DatabaseUrls = { readonly owner: string; readonly api: string; readonly worker: string };

export type ClonedDatabase = { readonly name: string; readonly urls: DatabaseUrls };

export type Template = {
  /** Names what `build` makes, such as a hash over all migrations: same key, same content. */
  readonly templateKey: string;
  /** Fills an empty database, as its owner, and closes its connections before it resolves. Runs once per key and test run. */
  readonly build: (urls: DatabaseUrls) => Promise<void>;
};

const lockClass = 0x70_6c_78;

/** A database of its own for a test (or a test file), cloned from a template; dropped when the test ends. */
export async function cloneDatabase(t: TestContext, template: Template): Promise<ClonedDatabase> {
  const cluster = await databaseCluster();
  const urlsOf = (database: string): DatabaseUrls => ({
    owner: cluster.url(database),
    api: cluster.url(database, 'parallax_api'),
    worker: cluster.url(database, 'parallax_worker'),
  });
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  await withAdmin(cluster.url('postgres'), async (admin) => {
    const source = await templateDatabase(admin, template, urlsOf);
    // Copied as files, without the write-ahead log: the cluster is thrown away after a crash, and this takes a third of the time.
    await admin.query(`create database ${name} template ${source} strategy file_copy`);
  });
  t.teardown(() =>
    withAdmin(cluster.url('postgres'), async (admin) => {
      await admin.query(`drop database if exists ${name} with (force)`);
    }),
  );
  return { name, urls: urlsOf(name) };
}

/** Built under another name and renamed when whole, one builder at a time; the others wait for it. */
async function templateDatabase(
  admin: pg.Client,
  template: Template,
  urlsOf: (database: string) => DatabaseUrls,
): Promise<string> {
  const digest = createHash('sha256').update(template.templateKey).digest();
  const name = `template_${digest.toString('hex').slice(0, 24)}`;
  const lock = [lockClass, digest.readInt32BE(0)];
  await admin.query('select pg_advisory_lock($1, $2)', lock);
  try {
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      const scratch = `building_${randomBytes(8).toString('hex')}`;
      await admin.query(`create database ${scratch} template template0`);
      await template.build(urlsOf(scratch));
      await admin.query(`alter database ${scratch} rename to ${name}`);
    }
  } finally {
    await admin.query('select pg_advisory_unlock($1, $2)', lock);
  }
  return name;
}

async function withAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client(url);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
