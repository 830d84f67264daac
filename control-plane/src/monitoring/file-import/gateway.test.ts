import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { readImportFile } from './gateway.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'parallax-import-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const place = (name: string) => path.join(folder, name);

function database(name: string, statements: string): string {
  const made = new DatabaseSync(place(name));
  made.exec(statements);
  made.close();
  return place(name);
}

function text(name: string, content: string): string {
  writeFileSync(place(name), content);
  return place(name);
}

void t.test('a file is told by what it begins with', async (t) => {
  t.match(readImportFile(text('a.db', '\ufeff \n{"monitorList":[]}')), { kind: 'text', type: 'application/json' });
  t.match(readImportFile(text('a.json', 'url\nhttps://a.example/')), { kind: 'text', type: 'text/csv' });
  const older = database(
    'older.csv',
    'create table monitor (id integer, name text); insert into monitor values (1, null)',
  );
  t.same(readImportFile(older), { kind: 'kuma', monitors: [{ id: 1, accepted_statuscodes: [], tags: [] }] });
});

void t.test('a monitor comes with the proxy that it goes through', async (t) => {
  const file = database(
    'proxies.db',
    `create table monitor (id integer, name text, proxy_id integer);
     create table proxy (id integer, user_id integer, protocol text, host text, port integer, auth integer, username text,
                         password text, active integer);
     insert into proxy values (3, 1, 'http', 'p.test', 3128, 1, 'ann', 'secret', 1);
     insert into monitor values (1, 'through', 3), (2, 'direct', null)`,
  );
  t.match(readImportFile(file), {
    monitors: [
      {
        proxyId: 3,
        proxy: { protocol: 'http', host: 'p.test', port: 3128, auth: 1, username: 'ann', password: 'secret' },
      },
      { proxy: undefined },
    ],
  });
});

void t.test('while Uptime Kuma runs, what it has not written back yet is read too', async (t) => {
  const running = new DatabaseSync(place('running.db'));
  running.exec('pragma journal_mode = wal; create table monitor (id integer, name text)');
  running.exec("insert into monitor values (1, 'new')");
  t.match(readImportFile(place('running.db')), { monitors: [{ name: 'new' }] });
  running.close();
});

void t.test('what is no file of monitors is refused with its reason', async (t) => {
  const endless = 'with recursive n (id) as (select 1 union all select id + 1 from n) select * from n';
  const cases: readonly (readonly [string, RegExp])[] = [
    [place('nowhere.db'), /cannot be read: .*no such file/],
    [folder, /cannot be read/],
    [database('other.db', 'create table t (a)'), /without a table "monitor"/],
    [database('trap.db', `create view monitor as ${endless}`), /without a table "monitor"/],
    [
      database(
        'huge.db',
        'create table monitor (id integer, port integer); insert into monitor values (1, 9223372036854775807)',
      ),
      /cannot be read/,
    ],
    [text('broken.db', `SQLite format 3\0${'x'.repeat(5_000)}`), /cannot be read/],
    [text('large.csv', `url\n${'x'.repeat(1_048_577)}`), /at most 1048576/],
    [text('nothing.csv', ''), /is empty/],
  ];
  for (const [file, told] of cases) t.throws(() => readImportFile(file), told, path.basename(file));
});
