import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, monitorsApi } from '../../testing.ts';
import { exported, imported, upload } from './testing.ts';

const row = z.record(z.string(), z.unknown());

void t.test('a list of URLs becomes monitors with history, seats and audit, told once', async (t) => {
  const api = await monitorsApi(t);
  await addProbe(api.database, 'a', 'eu');
  await addProbe(api.database, 'b', 'us');
  const report = await imported(
    api,
    'url,name\r\nhttps://one.example/,One\r\ntwo.example,\r\n,nothing\r\nhttps://one.example/x,One\r\n',
  );
  t.match(report, { format: 'generic', total: 4, created: 2, skipped: 1, failed: 1 });
  t.match(report.rows, [
    { row: 1, status: 'created', name: 'One', workspace_id: api.workspaceId, warnings: [] },
    { row: 2, status: 'created', name: 'two.example', url: 'https://two.example', warnings: [/https:\/\//] },
    { row: 3, status: 'failed', name: 'nothing', url: null, code: 'url_missing' },
    { row: 4, status: 'skipped', code: 'name_taken_in_file' },
  ]);
  t.same([...api.broker.hints].sort(), ['config.0', 'dispatch.1', 'dispatch.2'], 'each once');
  const list = await api.call('GET', '/api/v1/monitors?sort=name', { token: api.token });
  t.match(list.body, { total: 2, monitors: [{ assigned_probes: [{ probe_id: 1 }, { probe_id: 2 }], version: 1 }, {}] });
  t.equal((await api.database.worker.any(sql.type(row)`select * from monitor_history`)).length, 2);
  const audit = await api.database.worker.any(sql.type(row)`
    select action, subject_id, detail from audit_log where action like 'monitor%' order by id`);
  t.match(audit, [
    { action: 'monitor.created' },
    { action: 'monitor.created' },
    { action: 'monitors.imported', subject_id: String(api.workspaceId), detail: { format: 'generic', created: 2 } },
  ]);
});

void t.test(
  'sent again, a file creates nothing; on_duplicate=create creates anew where the name is free',
  async (t) => {
    const api = await monitorsApi(t);
    const file = 'url;name\nhttps://one.example/;One\nhttps://two.example/;\n';
    const first = await imported(api, file);
    const again = await imported(api, file);
    t.match(again, { created: 0, skipped: 2, failed: 0 });
    t.match(again.rows, [
      { code: 'duplicate', monitor_id: first.rows[0]?.monitor_id },
      { code: 'duplicate', monitor_id: first.rows[1]?.monitor_id },
    ]);
    const twice = await imported(api, file, { query: '?on_duplicate=create' });
    t.match(twice.rows, [
      { status: 'skipped', code: 'name_taken' },
      { status: 'created', name: 'two.example 2' },
    ]);
    t.equal(api.broker.hints.filter((hint) => hint === 'config.0').length, 2);
  },
);

void t.test('duplicates are judged against the state before the file', async (t) => {
  const api = await monitorsApi(t);
  const report = await imported(api, 'url,name\nhttps://one.example/,a\nhttps://one.example/,b\n');
  t.match(report, { created: 2, skipped: 0 });
});

void t.test('a dry run answers the plan with differences and writes nothing', async (t) => {
  const api = await monitorsApi(t);
  await api.monitor({
    name: 'there',
    url: 'https://there.example/',
    tags: ['old'],
    settings: { keyword: 'a', password: 'p', username: 'u' },
  });
  const file =
    'name,url,protocol,interval_seconds,tags,settings\n' +
    'there,https://there.example/,https,30,new,"{""keyword"":""b"",""username"":""u"",""password"":""secret-1""}"\n' +
    'fresh,https://fresh.example/,https,45,,\n';
  const before = await exported(api);
  const report = await imported(api, file, { query: '?dry_run=true' });
  t.match(report, { dry_run: true, created: 1, skipped: 1 });
  t.same(report.rows[0]?.['differences'], [
    { field: 'interval_seconds', existing: 60, imported: 30 },
    { field: 'tags', existing: ['old'], imported: ['new'] },
    { field: 'settings.keyword', existing: 'a', imported: 'b' },
  ]);
  t.match(report.rows[1]?.['fields'], { interval_seconds: 45, timeout_seconds: 10, settings: { method: 'GET' } });
  t.notMatch(JSON.stringify(report), /secret-1/);
  t.equal(await exported(api), before);
  t.same(await api.database.worker.any(sql.type(row)`select 1 from audit_log where action = 'monitors.imported'`), []);
});

void t.test('rows go where they say, and who may only look is told so', async (t) => {
  const api = await monitorsApi(t);
  const guest = await api.account('guest@example.com');
  await api.database.worker.query(sql.unsafe`update workspaces set name = 'Shared' where id = ${api.workspaceId}`);
  await addMember(api.database, api.workspaceId, guest.id, 'viewer');
  const token = guest.accessToken;
  const file = 'url,workspace\nhttps://a.example/,Shared\nhttps://b.example/,\nhttps://c.example/,Nowhere\n';
  const report = await imported(api, file, { token });
  t.match(report.rows, [
    { status: 'failed', code: 'forbidden' },
    { status: 'created' },
    { status: 'failed', code: 'workspace_unknown' },
  ]);
  t.not(report.rows[1]?.['workspace_id'], api.workspaceId);
  const named = `?workspace_id=${api.workspaceId}`;
  t.match(await upload(api, file, { token, query: named }), { status: 403, body: { code: 'forbidden' } });
  await api.database.worker.query(sql.unsafe`
    update workspace_members set role = 'editor' where user_id = ${guest.id} and workspace_id = ${api.workspaceId}`);
  t.match((await imported(api, file, { token })).rows, [{ status: 'created', workspace_id: api.workspaceId }, {}, {}]);
  t.match(await upload(api, file, { token, query: '?workspace_id=999' }), { status: 404 });
});

void t.test('all rules of creation hold, and a bad row does not stop the others', async (t) => {
  const api = await monitorsApi(t);
  await api.database.worker.query(sql.unsafe`update users set plan = 'free' where id = ${api.owner.id}`);
  const rows = [
    'name,url,protocol,interval_seconds,timeout_seconds,settings,probes',
    'a,https://a.example/,https,30,,,',
    'b,https://b.example/,https,90000,,,',
    'c,ftp://c.example/,https,60,,,',
    'd,https://d.example/,https,60,,"{""nonsense"":1}",',
    'e,https://e.example/,nonsense,60,,,',
    'f,https://f.example/,https,60,,"{""keyword"":""\\u0000""}",',
    `${'g'.repeat(201)},https://g.example/,https,60,,,`,
    'h,https://h.example/,https,60,5,,elsewhere',
    'i,https://i.example/,https,60,,,,more',
    'j,https://j.example/,https,sixty,,,',
  ];
  const report = await imported(api, rows.join('\n'));
  t.match(report, { created: 1, skipped: 0, failed: 9 });
  t.same(
    report.rows.map((each) => each.code),
    [
      'interval_below_plan',
      'invalid_input',
      'invalid_cell',
      'unrecognized_keys',
      'type_unknown',
      'invalid_cell',
      'invalid_input',
      undefined,
      'too_many_cells',
      'invalid_cell',
    ],
  );
  t.match(report.rows[7], { status: 'created', warnings: [/elsewhere/] });
});

void t.test('a key imports and exports as its owner does', async (t) => {
  const api = await monitorsApi(t);
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  const key = String(made.body['key']);
  t.match(await imported(api, 'url\nhttps://a.example/\n', { key }), { created: 1 });
  t.match(await imported(api, 'url\nhttps://b.example/\n', { key, type: 'text/csv' }), { created: 1 });
  const file = await api.call('GET', '/api/v1/monitors/export/csv', { key });
  t.equal(file.status, 200);
  t.match(file.headers.get('content-disposition'), /^attachment; filename="monitors-\d{4}-\d\d-\d\d\.csv"$/);
  t.match(file.headers.get('content-type'), /^text\/csv; charset=utf-8/);
  t.equal(file.text.split('\r\n').length, 4);
});

void t.test('an export keeps to its filters', async (t) => {
  const api = await monitorsApi(t);
  await api.monitor({ name: 'on' });
  await api.monitor({ name: 'off', is_active: false });
  t.match(await exported(api, '?is_active=false'), /,off,/);
  t.notMatch(await exported(api, '?is_active=false'), /,on,/);
  t.notMatch(await exported(api, '?is_active=true'), /,off,/);
  t.match(await exported(api, `?workspace_id=${api.workspaceId}`), /,on,[^]*,off,/);
  const foreign = await api.call('GET', '/api/v1/monitors/export/csv?workspace_id=999', { token: api.token });
  t.equal(foreign.status, 404);
});
