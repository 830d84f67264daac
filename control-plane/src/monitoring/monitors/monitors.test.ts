import { monitorSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { addMember, addProbe, defaultWorkspace, monitorsApi } from '../testing.ts';

const row = z.record(z.string(), z.unknown());

void t.test('a monitor is created with its history, answered whole and read again', async (t) => {
  const api = await monitorsApi(t);
  const made = await api.call('POST', '/api/v1/monitors', {
    token: api.token,
    body: {
      workspace_id: api.workspaceId,
      name: ' Shop ',
      url: 'https://example.com/health',
      tags: ['a', 'a', 'b'],
      method: 'HEAD',
    },
  });
  t.equal(made.status, 201, JSON.stringify(made.body));
  t.equal(made.headers.get('location'), `/api/v1/monitors/${String(made.body['id'])}`);
  t.equal(made.headers.get('etag'), '"1"');
  t.ok(monitorSchema.strict().safeParse(made.body).success, 'no field but those of the contract');
  t.match(made.body, {
    name: 'Shop',
    protocol: 'https',
    status: 'UNKNOWN',
    tags: ['a', 'b'],
    interval_seconds: 60,
    timeout_seconds: 10,
    is_active: true,
    paused_by: null,
    assigned_probes: [],
    uptime_24h: null,
    last_checked_at: null,
    version: 1,
    settings: { method: 'HEAD', verify_tls: true },
  });
  const read = await api.call('GET', `/api/v1/monitors/${String(made.body['id'])}`, { token: api.token });
  t.equal(read.status, 200);
  t.same(read.body, made.body);
  const history = await api.database.worker.any(sql.type(row)`select * from monitor_history`);
  t.match(history, [
    { monitor_id: made.body['id'], version: 1, probe_revision: 1, confirmations: 2, interval_seconds: 60 },
  ]);
  const audit = await api.database.worker.any(sql.type(row)`select * from audit_log where subject_type = 'monitor'`);
  t.match(audit, [{ action: 'monitor.created', subject_id: String(made.body['id']), workspace_id: api.workspaceId }]);
});

void t.test('probes in different regions are assigned and hinted after the commit', async (t) => {
  const api = await monitorsApi(t);
  for (const [name, region] of [
    ['a', 'eu'],
    ['b', 'eu'],
    ['c', 'us'],
    ['d', 'ap'],
  ] as const)
    await addProbe(api.database, name, region);
  const made = await api.monitor();
  const assigned = z.array(z.object({ probe_id: z.number(), region: z.string() })).parse(made['assigned_probes']);
  t.same(new Set(assigned.map((probe) => probe.region)), new Set(['eu', 'us', 'ap']));
  t.same(new Set(api.broker.hints), new Set(['config.0', ...assigned.map((probe) => `dispatch.${probe.probe_id}`)]));
  const named = await api.monitor({ probe_ids: [2], name: 'named' });
  t.match(named, { probe_ids: [2], assigned_probes: [{ probe_id: 2, name: 'b', region: 'eu', supplement: false }] });
  const moved = await api.call('PATCH', `/api/v1/monitors/${named.id}`, {
    token: api.token,
    body: { probe_ids: null, regions: ['us'] },
  });
  t.match(moved.body, {
    probe_ids: [],
    regions: ['us'],
    assigned_probes: [{ probe_id: 3 }],
    probe_revision: 1,
    version: 2,
  });
  const unknown = await api.call('POST', '/api/v1/monitors', {
    token: api.token,
    body: { workspace_id: api.workspaceId, url: 'https://example.com', name: 'x', probe_ids: [99] },
  });
  t.match(unknown, { status: 422, body: { errors: [{ path: '/probe_ids' }] } });
});

void t.test('a name is unique among all workspaces of one owner, and free again after deletion', async (t) => {
  const api = await monitorsApi(t);
  const first = await api.monitor({ name: 'Caf\u00e9' });
  const clash = await api.call('POST', '/api/v1/monitors', {
    token: api.token,
    body: { workspace_id: api.workspaceId, url: 'https://example.org', name: 'Cafe\u0301' },
  });
  t.match(clash, { status: 409, body: { code: 'name_taken' } }, 'compared in NFC');
  const other = await api.monitor({ name: 'other' });
  const renamed = await api.call('PATCH', `/api/v1/monitors/${other.id}`, {
    token: api.token,
    body: { name: 'Caf\u00e9' },
  });
  t.match(renamed, { status: 409, body: { code: 'name_taken' } });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${first.id}`, { token: api.token })).status, 204);
  await api.monitor({ name: 'Caf\u00e9' });
});

void t.test(
  'a monitor without a name is called after its host, with a number when that is taken, also in a race',
  async (t) => {
    const api = await monitorsApi(t);
    const made = await Promise.all([1, 2, 3].map(() => api.monitor()));
    t.same(new Set(made.map((each) => each['name'])), new Set(['example.com', 'example.com 2', 'example.com 3']));
  },
);

void t.test('the interval follows the plan of the owner of the workspace, not that of the caller', async (t) => {
  const api = await monitorsApi(t);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  await api.database.worker.query(sql.unsafe`update users set plan = 'free' where id = ${api.owner.id}`);
  const body = { workspace_id: api.workspaceId, url: 'https://example.com', interval_seconds: 59 };
  const refused = await api.call('POST', '/api/v1/monitors', { token: editor.accessToken, body });
  t.match(refused, { status: 422, body: { code: 'interval_below_plan', detail: /59.*60 seconds/ } });
  const made = await api.call('POST', '/api/v1/monitors', {
    token: editor.accessToken,
    body: { ...body, interval_seconds: 60 },
  });
  t.equal(made.status, 201);
  const path = `/api/v1/monitors/${String(made.body['id'])}`;
  t.match(await api.call('PATCH', path, { token: editor.accessToken, body: { interval_seconds: 30 } }), {
    status: 422,
    body: { code: 'interval_below_plan' },
  });
  t.equal((await api.call('PATCH', path, { token: editor.accessToken, body: { name: 'kept' } })).status, 200);
});

void t.test('secrets are sealed, never answered, and dropped when the destination changes', async (t) => {
  const api = await monitorsApi(t);
  const secret = 'canary-c0ffee';
  const made = await api.monitor({
    settings: { username: 'ada', password: secret },
    headers: { Authorization: `Token ${secret}`, Accept: '*/*' },
  });
  t.match(made['settings'], {
    username: 'ada',
    headers: { Accept: '*/*' },
    has_password: true,
    has_secret_headers: true,
  });
  const path = `/api/v1/monitors/${made.id}`;
  const stored = await api.database.worker.one(
    sql.type(row)`select to_jsonb(m)::text as all, sealed_secrets from monitors m`,
  );
  t.notOk(String(stored['all']).includes(secret));
  t.ok(stored['sealed_secrets']);
  const list = await api.call('GET', '/api/v1/monitors', { token: api.token });
  t.notOk(JSON.stringify([made, list.body]).includes(secret));
  const same = await api.call('PATCH', path, { token: api.token, body: { settings: made['settings'] } });
  t.match(
    same,
    { status: 200, body: { version: 1, settings: { has_password: true } } },
    'an answer sent back changes nothing',
  );
  const kept = await api.call('PATCH', path, { token: api.token, body: { url: 'https://example.com/other' } });
  t.match(kept.body, { settings: { has_password: true, has_secret_headers: true }, probe_revision: 2 });
  t.notOk('warnings' in kept.body, 'nothing was left behind');
  const moved = await api.call('PATCH', path, { token: api.token, body: { url: 'https://example.org/other' } });
  t.equal(moved.status, 200);
  t.notMatch(moved.body['settings'], { has_password: true });
  t.match(moved.body['warnings'], [
    { code: 'secret_dropped', path: '/settings/headers', message: /send it again/ },
    { code: 'secret_dropped', path: '/settings/password' },
  ]);
  t.equal(
    (await api.call('PATCH', path, { token: api.token, body: moved.body })).status,
    200,
    'an answer is sent back',
  );
  await api.call('PATCH', path, { token: api.token, body: { settings: { password: secret } } });
  const cleared = await api.call('PATCH', path, { token: api.token, body: { settings: { password: null } } });
  t.match(cleared, { status: 200, body: { settings: { has_password: undefined } } });
  t.notOk('warnings' in cleared.body, 'what was asked for needs no warning');
  await api.call('PATCH', path, { token: api.token, body: { settings: { password: secret } } });
  const resent = await api.call('PATCH', path, {
    token: api.token,
    body: { url: 'https://example.net/', settings: { password: secret } },
  });
  t.notOk('warnings' in resent.body, 'nor what was sent again');
  const other = await api.call('PATCH', path, {
    token: api.token,
    body: { url: 'tcp://example.net:80', protocol: 'tcp', settings: { username: null } },
  });
  t.match(other, { status: 200, body: { warnings: [{ code: 'secret_dropped', path: '/settings/password' }] } });
  const left = await api.database.worker.one(sql.type(row)`select sealed_secrets, secret_fields from monitors`);
  t.same(left, { sealed_secrets: null, secret_fields: [] });
});

void t.test('the password of a proxy is taken out of its URL, sealed, and kept while the proxy stays', async (t) => {
  const api = await monitorsApi(t);
  const secret = 'canary-pr0xy';
  const made = await api.monitor({
    settings: { proxy: `SOCKS5h://ann:${secret}@Proxy.Example`, resolver: ['192.0.2.53', '[2001:db8::53]:5353'] },
  });
  const shown = { proxy: 'socks5://ann@proxy.example:1080', has_proxy_password: true };
  t.match(made['settings'], { ...shown, resolver: ['192.0.2.53', '[2001:db8::53]:5353'] });
  t.notMatch(JSON.stringify(made), secret);
  const path = `/api/v1/monitors/${made.id}`;
  const change = async (settings: unknown) => {
    const answer = await api.call('PATCH', path, { token: api.token, body: { settings } });
    t.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body['settings'];
  };
  t.match(await change(made['settings']), shown, 'an answer sent back changes nothing');
  t.match(await change({ keyword: 'hello' }), shown, 'another setting leaves it');
  const stored = await api.database.worker.one(
    sql.type(row)`select to_jsonb(m)::text as all, secret_fields from monitors m`,
  );
  t.notOk(String(stored['all']).includes(secret));
  t.same(stored['secret_fields'], ['proxy_password']);
  t.notMatch(await change({ proxy: 'socks5://ann@proxy.example.org' }), { has_proxy_password: true }, 'another proxy');
  t.match(await change({ proxy: 'http://bob:other-secret@p.test' }), {
    proxy: 'http://bob@p.test:80',
    has_proxy_password: true,
  });
  t.notMatch(await change({ proxy: null, resolver: null }), { proxy: String }, 'null takes it away, with its password');
  const wrong = async (protocol: string, url: string, settings: object) => {
    const body = { workspace_id: made['workspace_id'], name: `wrong ${protocol}`, protocol, url, settings };
    const { status, body: answer } = await api.call('POST', '/api/v1/monitors', { token: api.token, body });
    return [status, answer['errors']];
  };
  for (const [protocol, url] of [
    ['udp', 'a.example:53'],
    ['icmp', 'a.example'],
    ['dns', 'a.example'],
  ] as const)
    t.match(await wrong(protocol, url, { proxy: 'http://p.test' }), [
      422,
      [{ path: '/settings/proxy', code: 'unrecognized_keys' }],
    ]);
  t.match(await wrong('http', 'http://a.example', { proxy: 'ftp://p.test' }), [422, [{ path: '/settings/proxy' }]]);
  t.match(await wrong('dns', 'a.example', { resolver: ['192.0.2.1'] }), [422, [{ path: '/settings/resolver' }]]);
  t.match(await wrong('icmp', 'a.example', { resolver: ['ns.example'] }), [422, [{ path: '/settings/resolver/0' }]]);
});

void t.test('a change is held against If-Match and spends a version only when something changed', async (t) => {
  const api = await monitorsApi(t);
  const made = await api.monitor({ name: 'one', description: 'text' });
  const path = `/api/v1/monitors/${made.id}`;
  const patch = (body: unknown, match?: string) =>
    api.call('PATCH', path, {
      token: api.token,
      body,
      ...(match === undefined ? {} : { headers: { 'if-match': match } }),
    });
  t.match(await patch({ name: 'two' }, '"2"'), { status: 412, body: { code: 'version_mismatch' } });
  t.match(await patch({ name: 'two' }, '"1"'), { status: 200, body: { name: 'two', version: 2, probe_revision: 1 } });
  t.match(await patch({ name: 'two' }), { status: 200, body: { version: 2 } });
  t.match(await patch({ description: null, interval_seconds: 90 }, 'W/"2"'), {
    status: 200,
    body: { description: '', version: 3, probe_revision: 1 },
  });
  for (const match of ['"2", "7"', '"33"', 'x', ''])
    t.match(await patch({ name: 'three' }, match), { status: 412 }, `${match} names other versions`);
  for (const match of ['*', '"7" , W/"3"', '3'])
    t.match(await patch({ name: 'two' }, match), { status: 200, body: { version: 3 } }, `${match} names this one too`);
  for (const verb of ['pause', 'resume']) {
    const headers = { 'if-match': '"2"' };
    t.match(await api.call('POST', `${path}/${verb}`, { token: api.token, headers }), { status: 412 }, verb);
  }
  t.match(await patch({ url: 'https://example.com/x' }), { status: 200, body: { version: 4, probe_revision: 2 } });
  const history = await api.database.worker.any(
    sql.type(row)`select version, probe_revision, effective_at from monitor_history order by version`,
  );
  t.match(history, [{ version: 1 }, { version: 2 }, { version: 3 }, { version: 4, probe_revision: 2 }]);
  const times = history.map((each) => Number(each['effective_at']));
  t.same(
    [...times].sort((a, b) => a - b),
    times,
  );
});

void t.test('what is wrong with a body is said with its place', async (t) => {
  const api = await monitorsApi(t);
  const base = { workspace_id: api.workspaceId, url: 'https://example.com' };
  const cases: [Record<string, unknown>, string][] = [
    [{ url: '' }, '/url'],
    [{ url: 'https://user:pass@example.com' }, '/url'],
    [{ url: 'https://' }, '/url'],
    [{ url: 'example.com' }, '/protocol'],
    [{ protocol: 'gopher' }, '/protocol'],
    [{ name: '' }, '/name'],
    [{ name: 'a\u0007b' }, '/name'],
    [{ interval_seconds: 0 }, '/interval_seconds'],
    [{ interval_seconds: 86_401 }, '/interval_seconds'],
    [{ interval_seconds: 1.5 }, '/interval_seconds'],
    [{ timeout_seconds: 61 }, '/timeout_seconds'],
    [{ confirmations: 6 }, '/confirmations'],
    [{ consensus_policy: 'most' }, '/consensus_policy'],
    [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, '/tags'],
    [{ tags: [''] }, '/tags/0'],
    [{ certificate_thresholds_days: [0] }, '/certificate_thresholds_days/0'],
    [{ description: 'x'.repeat(2_001) }, '/description'],
    [{ settings: { method: 'BREW' } }, '/settings/method'],
    [{ method: 'BREW' }, '/method'],
    [{ unknown_field: 1 }, '/unknown_field'],
    [{ workspace_id: '1' }, '/workspace_id'],
  ];
  for (const [more, path] of cases) {
    const answer = await api.call('POST', '/api/v1/monitors', { token: api.token, body: { ...base, ...more } });
    t.match(answer, { status: 422, body: { errors: [{ in: 'body', path }] } }, JSON.stringify(more).slice(0, 80));
  }
  t.equal(
    await api.database.worker.oneFirst(sql.type(z.object({ n: z.bigint() }))`select count(*) as n from monitors`),
    0n,
  );
});

void t.test('viewers read, editors write, strangers see nothing', async (t) => {
  const api = await monitorsApi(t);
  const made = await api.monitor();
  const viewer = await api.account('viewer@example.com');
  const stranger = await api.account('stranger@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const path = `/api/v1/monitors/${made.id}`;
  const writes: [string, string, unknown?][] = [
    ['PATCH', path, { name: 'x' }],
    ['POST', `${path}/pause`],
    ['POST', `${path}/resume`],
    ['POST', `${path}/check`],
    ['DELETE', path],
    ['POST', '/api/v1/monitors', { workspace_id: api.workspaceId, url: 'https://example.com' }],
  ];
  const reads = [
    path,
    `${path}/results`,
    `${path}/status-ranges`,
    `${path}/timeline`,
    `/api/v1/monitors?workspace_id=${api.workspaceId}`,
  ];
  for (const read of reads) {
    t.equal((await api.call('GET', read, { token: viewer.accessToken })).status, 200, `viewer ${read}`);
    t.equal((await api.call('GET', read, { token: stranger.accessToken })).status, 404, `stranger ${read}`);
  }
  for (const [method, url, body] of writes) {
    const call = (token: string) => api.call(method, url, { token, ...(body === undefined ? {} : { body }) });
    t.equal((await call(viewer.accessToken)).status, 403, `viewer ${method} ${url}`);
    t.equal((await call(stranger.accessToken)).status, 404, `stranger ${method} ${url}`);
  }
  t.match((await api.call('GET', '/api/v1/monitors', { token: stranger.accessToken })).body, {
    monitors: [],
    total: 0,
  });
  t.not(await defaultWorkspace(api, stranger.accessToken), api.workspaceId);
});
