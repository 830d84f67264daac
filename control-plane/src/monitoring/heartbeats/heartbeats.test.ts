import t from 'tap';
import { authCapability } from '../../identity/auth/index.ts';
import { signInCapability } from '../../identity/sign-in/index.ts';
import { accessTokensCapability } from '../../identity/tokens/index.ts';
import { workspacesCapability } from '../../identity/workspaces/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { sweepOnce } from './history/queries.ts';
import { removeHeartbeatsOfWorkspace } from './queries.ts';
import { heartbeatsCapability } from './index.ts';
import { heartbeatsApi } from './testing.ts';

void t.test('a heartbeat is made with its address and a secret that is shown once', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ name: 'Größe & Maß: Nächtlich!', tags: ['a', 'a', 'b'] });
  t.match(made, {
    workspace_id: api.workspaceId,
    slug: 'gro-e-ma-nachtlich',
    tags: ['a', 'b'],
    schedule_type: 'period',
    schedule: null,
    timezone: 'UTC',
    expected_interval_seconds: 86_400,
    grace_period_seconds: 3_600,
    max_runtime_seconds: null,
    failures_before_alert: 1,
    require_secret: true,
    resume_on_ping: false,
    methods: 'any',
    status: 'new',
    is_running: false,
    next_expected_at: null,
    deadline_at: null,
    ping_key: api.pingKey,
    uuid: /^[0-9a-f-]{36}$/,
    secret: /^plb_\w{38}$/,
    version: 1,
  });
  const read = await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}`);
  t.notOk('secret' in read.body);
  t.equal(read.headers.get('etag'), '"1"');
  const { rows } = await api.database.raw.query('select heartbeats::text as text from heartbeats');
  const stored = JSON.stringify(rows);
  for (const name of ['secret', 'uuid']) t.notOk(stored.includes(String(made[name])), `${name} is not stored plainly`);
  const again = await api.heartbeat({ name: 'Größe & Maß: Nächtlich!' });
  t.equal(again['slug'], 'gro-e-ma-nachtlich-2', 'a slug that is taken gets a number');
  t.equal((await api.heartbeat({ name: 'start' }))['slug'], 'start-2', 'and so does the word of a signal');
  t.equal((await api.heartbeat({ name: '17' }))['slug'], '17-2');
  t.match((await api.heartbeat({ name: '日本' }))['slug'], /^heartbeat-\d{6}$/);
});

void t.test('what cannot be is refused by its field', async (t) => {
  const api = await heartbeatsApi(t);
  const path = `/api/v1/heartbeats?workspace_id=${api.workspaceId}`;
  const cases: [object, string][] = [
    [{}, '/name'],
    [{ name: 'x', slug: 'Capitals' }, '/slug'],
    [{ name: 'x', slug: 'start' }, '/slug'],
    [{ name: 'x', slug: '255' }, '/slug'],
    [{ name: 'x', slug: '-x' }, '/slug'],
    [{ name: 'x', slug: 'x'.repeat(101) }, '/slug'],
    [{ name: 'x', expected_interval_seconds: 0 }, '/expected_interval_seconds'],
    [{ name: 'x', expected_interval_seconds: 31_536_001 }, '/expected_interval_seconds'],
    [{ name: 'x', grace_period_seconds: -1 }, '/grace_period_seconds'],
    [{ name: 'x', max_runtime_seconds: 0 }, '/max_runtime_seconds'],
    [{ name: 'x', max_runtime_seconds: 10, min_runtime_seconds: 11 }, '/min_runtime_seconds'],
    [{ name: 'x', failures_before_alert: 101 }, '/failures_before_alert'],
    [{ name: 'x', schedule_type: 'cron' }, '/schedule'],
    [{ name: 'x', schedule_type: 'cron', schedule: '* * * *' }, '/schedule'],
    [{ name: 'x', schedule_type: 'cron', schedule: '0 0 30 2 *' }, '/schedule'],
    [{ name: 'x', schedule_type: 'on_calendar', schedule: '2001-01-01' }, '/schedule'],
    [{ name: 'x', schedule_type: 'on_calendar', schedule: 'nightly' }, '/schedule'],
    [{ name: 'x', schedule: 'daily' }, '/schedule'],
    [{ name: 'x', timezone: 'Mars/Olympus' }, '/timezone'],
    [{ name: 'x', schedule_type: 'cron', schedule: 'daily', timezone: '../etc' }, '/timezone'],
    [{ name: 'x', uuid: '00000000-0000-4000-8000-000000000000' }, '/uuid'],
    [{ name: 'x', workspace_id: 1 }, '/workspace_id'],
  ];
  for (const [body, place] of cases) {
    const answer = await api.call('POST', path, { token: api.token, body });
    t.match(answer, { status: 422, body: { errors: [{ path: place }] } }, JSON.stringify(body));
  }
  await api.heartbeat({ slug: 'taken' });
  t.match(await api.call('POST', path, { token: api.token, body: { name: 'x', slug: 'taken' } }), {
    status: 409,
    body: { code: 'slug_taken' },
  });
  t.equal(
    (await api.call('POST', '/api/v1/heartbeats', { token: api.token, body: { name: 'x' } })).status,
    422,
    'the workspace is named in the query',
  );
});

void t.test('a change is a version, moves the deadline and is recorded', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ slug: 'first' });
  const path = `/api/v1/heartbeats/${String(made['id'])}`;
  await api.ping(`/ping/${String(made['uuid'])}`);
  const before = (await api.make('GET', path)).body;
  const changed = await api.make('PATCH', path, {
    name: 'renamed',
    expected_interval_seconds: 60,
    grace_period_seconds: 30,
  });
  t.match(changed.body, { name: 'renamed', slug: 'first', version: 2 });
  t.equal(
    Date.parse(String(before['deadline_at'])) - Date.parse(String(changed.body['deadline_at'])),
    (86_400 + 3_600 - 60 - 30) * 1_000,
  );
  const cron = await api.make('PATCH', path, {
    schedule_type: 'cron',
    schedule: '30 2 * * *',
    timezone: 'Europe/Berlin',
  });
  t.match(cron.body['next_expected_at'], /T0[01]:30:00\.000Z$/);
  t.match((await api.make('PATCH', path, { schedule_type: 'period' })).body, { schedule: null, version: 4 });
  t.equal((await api.make('PATCH', path, { name: 'renamed' })).body['version'], 4, 'what changes nothing is no change');
  const stale = await api.call('PATCH', path, {
    token: api.token,
    body: { name: 'x' },
    headers: { 'if-match': '"3"' },
  });
  t.equal(stale.status, 412);
  await api.heartbeat({ slug: 'second' });
  t.match(await api.call('PATCH', path, { token: api.token, body: { slug: 'second' } }), {
    status: 409,
    body: { code: 'slug_taken' },
  });
  t.equal((await api.make('PATCH', path, { slug: 'other' })).body['slug'], 'other');
  t.equal((await api.ping(`/api/v1/ping/${api.pingKey}/first`)).status, 404, 'the old address is nobody’s');
  const secret = (await api.make('POST', `${path}/regenerate-secret`)).body['secret'];
  const signal = `/api/v1/ping/${api.pingKey}/other/log`;
  t.equal((await api.ping(signal, { headers: { 'x-secret': String(made['secret']) } })).status, 404, 'the old secret');
  t.equal((await api.ping(signal, { headers: { 'x-secret': String(secret) } })).status, 200, 'the new one');
  const log = (await api.make('GET', `/api/v1/audit-log?workspace_id=${api.workspaceId}`)).text;
  for (const action of ['created', 'updated', 'secret_regenerated']) t.match(log, `"heartbeat.${action}"`);
  t.notMatch(log, String(secret));
});

void t.test('pausing ends what is expected, and resuming begins anew; both are told', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const path = `/api/v1/heartbeats/${String(made['id'])}`;
  await api.ping(`/ping/${String(made['uuid'])}/fail`);
  t.match((await api.make('POST', `${path}/pause`)).body, {
    status: 'paused',
    next_expected_at: null,
    down_reason: null,
  });
  t.equal((await api.make('POST', `${path}/pause`)).body['version'], 2, 'twice is once');
  await api.ping(`/ping/${String(made['uuid'])}`);
  t.match(await api.pings(made['id']), [{ warnings: ['paused'] }, {}]);
  t.match((await api.make('GET', path)).body, { status: 'paused' });
  t.match((await api.make('POST', `${path}/resume`)).body, { status: 'up', next_expected_at: /Z$/, version: 3 });
  t.match(await api.told(made['id']), [
    { kind: 'heartbeat.failed' },
    { kind: 'heartbeat.paused', payload: { from: 'down' } },
    { kind: 'heartbeat.resumed', payload: { to: 'up' } },
  ]);
  t.match((await api.make('GET', `${path}/stats`)).body, { pings: { total: 2, ping: 1, fail: 1 }, outages: 1 });
});

void t.test('what is deleted is gone with its signals, and its address is free', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ slug: 'gone' });
  await api.ping(`/ping/${String(made['uuid'])}`, { method: 'POST', body: 'x' });
  await api.make('DELETE', `/api/v1/heartbeats/${String(made['id'])}`);
  t.equal((await api.ping(`/ping/${String(made['uuid'])}`)).status, 404);
  t.match(await api.told(made['id']), [{ kind: 'heartbeat.deleted', payload: { workspace_id: api.workspaceId } }]);
  for (const suffix of ['', '/pings', '/stats']) {
    const answer = await api.call('GET', `/api/v1/heartbeats/${String(made['id'])}${suffix}`, { token: api.token });
    t.equal(answer.status, 404);
  }
  await api.heartbeat({ slug: 'gone' });
  const other = await api.heartbeat();
  await api.ping(`/ping/${String(other['uuid'])}`);
  await removeHeartbeatsOfWorkspace(api.database.worker, api.workspaceId);
  t.equal((await api.make('GET', '/api/v1/heartbeats')).body['total'], 0, 'a workspace takes its heartbeats along');
  await api.database.worker.query(sql.unsafe`update heartbeats set deleted_at = now() - interval '2 minutes'`);
  while ((await sweepOnce(api.database.worker)) > 0);
  for (const table of ['heartbeats', 'heartbeat_pings', 'heartbeat_bodies', 'heartbeat_ranges']) {
    const { rows } = await api.database.raw.query(`select from ${table}`);
    t.equal(rows.length, 0, `${table} is empty`);
  }
});

void t.test('signals are kept for ninety days, and bodies of the last hundred', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const path = `/ping/${String(made['uuid'])}`;
  for (let n = 1; n <= 103; n += 1) {
    await api.ping(path, { method: 'POST', ...(n === 102 ? {} : { body: `body ${n}` }) });
    // Past what is taken in a minute.
    if (n % 50 === 0) await api.database.raw.query('update heartbeats set counted = 0');
  }
  const page = async (number: number) =>
    (await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}/pings?page=${number}&page_size=100`)).body[
      'pings'
    ] as { n: number; body: string | null }[];
  const bodies = [...(await page(1)), ...(await page(2))];
  t.equal(bodies.length, 103);
  for (const { n, body } of bodies) t.equal(body, n === 102 || n <= 3 ? null : `body ${n}`, `signal ${n}`);
  await api.database.raw.query(`update heartbeat_pings set at = now() - interval '91 days' where n <= 50`);
  await sweepOnce(api.database.worker);
  t.equal((await api.database.raw.query('select from heartbeat_pings')).rows.length, 53);
});

void t.test('a viewer sees everything but what signals are sent to', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const eve = await api.account('eve@example.com');
  await api.database.worker.query(
    sql.unsafe`insert into workspace_members (workspace_id, user_id, role) values (${api.workspaceId}, ${eve.id}, 'viewer')`,
  );
  const path = `/api/v1/heartbeats/${String(made['id'])}`;
  const hidden = { ping_key: null, uuid: null, ping_url: null, ping_url_by_uuid: null };
  t.match(await api.call('GET', path, { token: eve.accessToken }), {
    status: 200,
    body: { slug: made['slug'], ...hidden },
  });
  const list = await api.call('GET', `/api/v1/heartbeats?workspace_id=${api.workspaceId}`, { token: eve.accessToken });
  t.match(list.body, { total: 1, heartbeats: [hidden] });
  t.notMatch(list.text, String(made['uuid']));
  for (const [method, suffix] of [
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/regenerate-secret'],
  ] as const) {
    const answer = await api.call(method, path + suffix, {
      token: eve.accessToken,
      ...(method === 'PATCH' ? { body: { name: 'x' } } : {}),
    });
    t.equal(answer.status, 403, `${method} ${suffix}`);
  }
});

void t.test('a limited token sees no ping key, and a read-only one nothing that takes signals', async (t) => {
  const capabilities = [authCapability, accessTokensCapability, workspacesCapability, heartbeatsCapability];
  const api = await heartbeatsApi(t, { capabilities: [...capabilities, signInCapability] });
  await api.heartbeat();
  const seenBy = async (body: object) => {
    const made = await api.make('POST', '/api/v1/auth/tokens', { name: 'ci', ...body });
    const list = await api.call('GET', '/api/v1/heartbeats', { token: String(made.body['token']) });
    return { text: list.text, ...(list.body['heartbeats'] as Record<string, unknown>[])[0] };
  };
  t.match(await seenBy({}), { ping_key: api.pingKey, ping_url: api.pingKey, ping_url_by_uuid: /\/ping\// });
  const limited = await seenBy({ workspace_ids: [api.workspaceId] });
  t.match(limited, { ping_key: null, ping_url: null, ping_url_by_uuid: /\/ping\// });
  t.notMatch(limited.text, api.pingKey);
  const reader = await seenBy({ read_only: true });
  t.match(reader, { ping_key: null, ping_url: null, uuid: null, ping_url_by_uuid: null });
  t.notMatch(reader.text, api.pingKey);
});

void t.test('the list is filtered and told by pages', async (t) => {
  const api = await heartbeatsApi(t);
  const late = await api.heartbeat({ name: 'Émile', tags: ['night'], expected_interval_seconds: 1 });
  await api.heartbeat({ name: 'b 100%', description: 'x' });
  await api.ping(`/ping/${String(late['uuid'])}`);
  await api.database.raw.query(`update heartbeats set next_expected_at = now() - interval '1 second' where id = $1`, [
    late['id'],
  ]);
  const names = async (query: string) =>
    ((await api.make('GET', `/api/v1/heartbeats?${query}`)).body['heartbeats'] as { name: string }[]).map(
      ({ name }) => name,
    );
  t.same(await names(''), ['b 100%', 'Émile']);
  t.same(await names('status=late'), ['Émile']);
  t.same(await names('status=new'), ['b 100%']);
  t.same(await names('status=up'), []);
  t.same(await names('tag=night'), ['Émile']);
  t.same(await names('search=%C3%A9MI'), ['Émile']);
  t.same(await names('search=%25'), ['b 100%']);
  t.same(await names('page=2&page_size=1'), ['Émile']);
});
