import { readdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { commandsStage } from '../testing/commands.ts';

const { api, run, file, folder, tokenOf } = await commandsStage(t);

/** The tables of Uptime Kuma 2.x as far as monitors are concerned, with what its migrations have added. */
const schema = `
  pragma journal_mode = wal;
  pragma foreign_keys = off;
  create table monitor (
    id integer primary key autoincrement, name varchar(150), active boolean not null default 1, user_id integer,
    interval integer not null default 20, url text, type varchar(20), weight integer default 2000, hostname varchar(255), port integer,
    keyword varchar(255), maxretries integer not null default 0, ignore_tls boolean not null default 0,
    upside_down boolean not null default 0, maxredirects integer not null default 10,
    accepted_statuscodes_json text not null default '["200-299"]', dns_resolve_type varchar(5), dns_resolve_server varchar(255),
    retry_interval integer not null default 0, push_token varchar(32), method text not null default 'GET', body text, headers text,
    basic_auth_user text, basic_auth_pass text, docker_container varchar(255), auth_method varchar(250), description text,
    parent integer references monitor (id), invert_keyword boolean not null default 0, timeout double not null default 0,
    conditions text not null default '[]', ping_count integer not null default 1);
  create table tag (id integer primary key, name varchar(255) not null, color varchar(255) not null);
  create table monitor_tag (
    id integer primary key, monitor_id integer not null references monitor (id), tag_id integer not null references tag (id), value text);
  create table heartbeat (id integer primary key, monitor_id integer not null, status smallint not null)`;

function kumaDb(name: string, statements: string): string {
  const place = path.join(folder, name);
  const database = new DatabaseSync(place);
  database.exec(schema);
  database.exec(statements);
  database.close();
  return place;
}

const kuma = kumaDb(
  'kuma.db',
  `insert into monitor (id, type, name, url, interval, maxretries, accepted_statuscodes_json, headers, basic_auth_user, basic_auth_pass, parent, timeout)
     values (1, 'http', 'Home', 'https://home.example', 60, 2, '["200-299","418"]', '{"x-key":"k-123456"}', 'watcher', 's3cret!', 9, 48);
   insert into monitor (id, type, name, url, interval, keyword, invert_keyword, ignore_tls, active)
     values (2, 'keyword', 'Clean', 'https://clean.example', 20, 'Fatal', 1, 1, 0);
   insert into monitor (id, type, name, url, hostname, port, parent) values (3, 'port', 'Database', 'https://', 'db.example', 5432, 9);
   insert into monitor (id, type, name, hostname, upside_down) values (4, 'ping', 'Must not answer', 'old.example', 1);
   insert into monitor (id, type, name, hostname, dns_resolve_type, dns_resolve_server, conditions)
     values (5, 'dns', 'Records', 'example.com', 'MX', '1.1.1.1', '[{"type":"expression"}]');
   insert into monitor (id, type, name, push_token, parent) values (6, 'push', 'Backup job', 'abc', 9);
   insert into monitor (id, type, name, docker_container) values (7, 'docker', 'Container', 'web');
   insert into monitor (id, type, name, url, auth_method, basic_auth_user, basic_auth_pass)
     values (8, 'http', 'Windows', 'https://win.example', 'ntlm', 'u', 's3cret!');
   insert into monitor (id, type, name) values (9, 'group', 'Everything'), (10, 'group', 'Nothing'), (12, 'group', 'Outer');
   update monitor set parent = 12 where id = 9;
   insert into monitor (id, type, name, url) values (11, 'http', char(27) || '[2J', 'https://esc.example');
   insert into tag values (1, 'prod', '#059669'), (2, 'web', '#000000');
   insert into monitor_tag values (1, 1, 2, ''), (2, 1, 1, 'a'), (3, 1, 1, 'b')`,
);

void t.test(
  'the database of Uptime Kuma 2.x is imported by the rules of its backup',
  { timeout: 110_000 },
  async (t) => {
    const before = readdirSync(folder).sort();
    const plan = await run(['import', kuma, '--dry-run']);
    t.match(plan, { code: 1, err: '' }, 'a name with control characters fails');
    t.match(plan.out, /\+ monitor "Home"\n {4}url: "https:\/\/home\.example"\n/);
    t.match(plan.out, / {4}tags: \["prod","web"\]\n/);
    t.match(plan.out, /= monitor "Backup job": a push monitor is a heartbeat/);
    t.match(plan.out, /= monitor "Container": monitors of the type "docker" cannot be translated/);
    t.match(plan.out, /= monitor "Nothing": a group without monitors/);
    t.match(
      plan.out,
      /\+ monitor "Everything"\n[^+=!]*settings: \{"monitors":\["Database","Home"\]\}\n {4}warning: left out of the group: row 6/,
    );
    t.match(plan.out, /\+ monitor "Outer"\n[^+=!]*settings: \{"monitors":\["Everything"\]\}/);
    t.match(plan.out, /warning: its conditions are left out/);
    t.match(plan.out, /warning: the authentication "ntlm" is left out/);
    t.match(plan.out, /to create: 8, skipped: 3, failed: 1\n$/);
    t.notMatch(plan.out, /s3cret|k-123456/);
    t.notOk(plan.out.includes('\u001b'), 'nothing steers the terminal');
    t.match((await api.call('GET', '/api/v1/monitors', { token: api.token })).body, { total: 0 }, 'nothing was done');
    t.same(readdirSync(folder).sort(), before, 'nothing is written beside the database');

    const done = await run(['import', kuma]);
    t.match(done, { code: 1, out: /created: 8, skipped: 3, failed: 1\n$/ });
    const list = await api.call('GET', '/api/v1/monitors?sort=name&page_size=100', { token: api.token });
    const { monitors } = list.body as { monitors: { id: number; name: string }[] };
    const idOf = (name: string) => monitors.find((monitor) => monitor.name === name)?.id ?? 0;
    t.match(list.body, {
      monitors: [
        {
          name: 'Clean',
          interval_seconds: 20,
          is_active: false,
          settings: { keyword_absent: 'Fatal', verify_tls: false },
        },
        { name: 'Database', url: 'db.example:5432', protocol: 'tcp', interval_seconds: 20 },
        { name: 'Everything', protocol: 'group', settings: { monitor_ids: [idOf('Home'), idOf('Database')] } },
        {
          name: 'Home',
          confirmations: 3,
          timeout_seconds: 48,
          tags: ['prod', 'web'],
          settings: {
            expected_status: ['200-299', 418],
            username: 'watcher',
            has_password: true,
            has_secret_headers: true,
          },
        },
        { name: 'Must not answer', protocol: 'ping', settings: { inverted: true } },
        { name: 'Outer', settings: { monitor_ids: [idOf('Everything')] } },
        { name: 'Records', protocol: 'dns', settings: { server: '1.1.1.1', record_type: 'MX' } },
        { name: 'Windows', settings: {} },
      ],
    });
    const again = await run(['import', kuma, '--dry-run']);
    t.match(again.out, /to create: 0, skipped: 11, failed: 1\n$/);
    t.match(again.out, /= monitor "Home": monitor \d+ of this workspace has this URL and protocol\n(?! {4}it differs)/);
  },
);

void t.test(
  'every file that the endpoint takes is taken, and goes where it is said',
  { timeout: 110_000 },
  async (t) => {
    const account = await api.account('files@example.com');
    const env = { PARALLAX_TOKEN: await tokenOf(account.accessToken) };
    const csv = file('list.csv', 'url;name\nhttps://a.example/;A\nhttps://b.example/;\n');
    t.match(await run(['import', csv], env), {
      code: 0,
      err: '',
      out: /\+ monitor "A"\n\+ monitor "b\.example"\ncreated: 2/,
    });
    t.match(await run(['import', csv], env), { code: 0, out: /created: 0, skipped: 2, failed: 0/ });
    t.match(await run(['import', csv, '--on-duplicate', 'create'], env), { code: 0, out: /created: 1, skipped: 1/ });
    const changed = file('changed.csv', 'url,name,interval_seconds\nhttps://a.example/,A,30\njavascript://a,C,60\n');
    t.match(await run(['import', changed, '--dry-run'], env), {
      code: 1,
      out: /it differs, and stays as it is:\n(.*\n)* {4}interval_seconds: 60 -> 30\n[^]*! monitor "C": /,
    });
    const json = file('backup.json', '\n{"monitorList":[{"type":"http","name":"J","url":"https://j.example"}]}');
    const made = await api.call('POST', '/api/v1/workspaces', {
      token: account.accessToken,
      body: { name: 'Elsewhere' },
    });
    t.match(await run(['import', json, '--workspace', 'Elsewhere'], env), { code: 0, out: /created: 1/ });
    const list = await api.call('GET', `/api/v1/monitors?workspace_id=${String(made.body['id'])}`, {
      token: account.accessToken,
    });
    t.match(list.body, { total: 1, monitors: [{ name: 'J' }] });
  },
);

void t.test('more monitors than a request may have go in parts', { timeout: 110_000 }, async (t) => {
  const many = kumaDb(
    'many.db',
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < 620)
       insert into monitor (type, name, url, interval) select 'http', 'm' || i, 'https://h' || i || '.example', 60 from n;
     insert into monitor (type, name, url, description) values ('http', 'nul', 'https://nul.example', 'a' || char(0));
     insert into monitor (type, name, url, body) values ('http', 'big', 'https://big.example', printf('%.*c', 2000000, 'x'))`,
  );
  const plan = await run(['import', many, '--dry-run']);
  t.match(plan.out, /! monitor "nul": it has a NUL/);
  t.match(plan.out, /! monitor "big": it has 2000\d+ bytes/);
  t.match(plan.out, /to create: 620, skipped: 0, failed: 2\n$/);
});

void t.test('what cannot be imported as a whole is said, and why', { timeout: 110_000 }, async (t) => {
  for (const [name, told] of [
    [path.join(folder, 'nowhere.db'), /cannot be read: .*no such file/],
    [kumaDb('empty.db', ''), /has no monitors/],
    [file('sheet.csv', 'PK\u0003\u0004'), /422 .*Excel/],
  ] as const) {
    const ended = await run(['import', name]);
    t.match(ended, { code: 1, err: told, out: '' }, path.basename(name));
    t.notMatch(ended.err, /\n {4}at |plx_/, 'no stack and no token');
  }
  t.match(await run(['import', kuma], { PARALLAX_TOKEN: '' }), { code: 1, err: /a token is needed/ });
  t.match(await run(['import', kuma, '--on-duplicate', 'replace']), {
    code: 1,
    err: /Allowed choices are skip, create/,
  });
});
