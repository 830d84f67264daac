import { existsSync } from 'node:fs';
import pg from 'pg';
import t from 'tap';
import { cloneDatabase, type Template } from './clone.ts';
import { databaseCluster, keeperFolder } from './cluster.ts';

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

let builds = 0;
const template: Template = {
  templateKey: `clone.test ${process.pid}`,
  build: async (urls) => {
    builds++;
    await query(urls.owner, 'create table thing (id int); insert into thing values (1)');
  },
};

t.test('databases of one template are made side by side, from one build, and do not see each other', async (t) => {
  const [a, b] = await Promise.all([cloneDatabase(t, template), cloneDatabase(t, template)]);
  t.equal(builds, 1);
  await query(a.urls.owner, 'insert into thing values (2)');
  t.same(await query(a.urls.owner, 'select count(*)::int as n from thing'), [{ n: 2 }]);
  t.same(await query(b.urls.owner, 'select count(*)::int as n from thing'), [{ n: 1 }]);
});

t.test(
  'a database is dropped with its test, and a template that could not be built is not taken for one',
  async (t) => {
    const cluster = await databaseCluster();
    t.same(
      await query(
        cluster.url('postgres'),
        `select datname from pg_database where datname like 'test_${process.pid}_%'`,
      ),
      [],
    );
    const failing: Template = { templateKey: `failing ${process.pid}`, build: () => Promise.reject(new Error('no')) };
    await t.rejects(cloneDatabase(t, failing), { message: 'no' });
    await t.rejects(cloneDatabase(t, failing), { message: 'no' });
  },
);

t.test('the cluster listens on a socket only and lives in one folder', async (t) => {
  const cluster = await databaseCluster();
  t.same(
    await query(
      cluster.url('postgres'),
      "select current_setting('listen_addresses') as l, current_setting('fsync') as f",
    ),
    [{ l: '', f: 'off' }],
  );
  t.ok(existsSync(keeperFolder()));
});
