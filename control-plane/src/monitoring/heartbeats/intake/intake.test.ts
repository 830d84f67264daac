import t from 'tap';
import { heartbeatsApi } from '../testing.ts';
import type { HeartbeatsApi } from '../testing.ts';

const secret = (heartbeat: Record<string, unknown>, body?: string, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'x-secret': String(heartbeat['secret']), ...(body === undefined ? {} : { 'content-type': type }) },
  ...(body === undefined ? {} : { body }),
});

const statusOf = async (api: HeartbeatsApi, id: unknown): Promise<unknown> =>
  (await api.make('GET', `/api/v1/heartbeats/${String(id)}`)).body['status'];

void t.test('a ping by key and slug is kept and answered with OK', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat({ name: 'Nightly backup' });
  const path = `/api/v1/ping/${api.pingKey}/${String(made['slug'])}`;
  t.equal(made['slug'], 'nightly-backup');
  t.equal(made['ping_url'], `http://127.0.0.1${path}`);
  const answer = await api.ping(path);
  t.match(answer, { status: 200, text: 'OK' });
  t.equal(answer.headers.get('ping-body-limit'), '10000');
  t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.match(await api.ping(path, { method: 'HEAD' }), { status: 200, text: '' });
  t.match(await api.ping(path, { method: 'POST', body: 'all is well' }), { status: 200 });
  t.match(await api.ping(`/ping/${api.pingKey}/nightly-backup`), { status: 200 }, 'at the root too');
  t.match(await api.pings(made['id']), [
    { n: 4, method: 'GET' },
    { n: 3, kind: 'ping', method: 'POST', body: 'all is well', payload: null, body_truncated: false },
    { n: 2, method: 'HEAD' },
    { n: 1, kind: 'ping', method: 'GET', body: null, remote_address: /^198\.19\./, warnings: [] },
  ]);
  t.match((await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}`)).body, {
    status: 'up',
    last_ping_at: /Z$/,
    next_expected_at: /Z$/,
    is_running: false,
  });
});

void t.test('lifecycle signals need the secret, and a failure is told at once', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const base = `/api/v1/ping/${api.pingKey}/${String(made['slug'])}`;
  t.equal((await api.ping(`${base}/start`, secret(made))).status, 200);
  t.equal((await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}`)).body['is_running'], true);
  const body = JSON.stringify({ duration_ms: 1_500, payload: { rows: 3, nested: { a: [1] } } });
  t.equal((await api.ping(`${base}/success`, secret(made, body))).status, 200);
  t.equal((await api.ping(`${base}/fail`, secret(made, '{"payload":{"why":"disk full"}}'))).status, 200);
  t.equal((await api.ping(`${base}/0`, secret(made))).status, 200);
  t.equal((await api.ping(`${base}/255`, secret(made))).status, 200);
  t.equal((await api.ping(`${base}/log`, secret(made, 'halfway', 'text/plain'))).status, 200);
  t.match(
    (await api.pings(made['id'])).map(({ kind, exit_code: code, duration_ms: ms, payload, body: text }) => ({
      kind,
      code,
      ms,
      payload,
      text,
    })),
    [
      { kind: 'log', text: 'halfway' },
      { kind: 'fail', code: 255 },
      { kind: 'success', code: 0 },
      { kind: 'fail', code: null, payload: { why: 'disk full' } },
      { kind: 'success', ms: 1_500, payload: { rows: 3, nested: { a: [1] } }, text: body },
      { kind: 'start', code: null },
    ],
  );
  t.match(await api.told(made['id']), [
    {
      kind: 'heartbeat.failed',
      payload: { from: 'up', to: 'down', reason: 'failed', ping: 3, workspace_id: api.workspaceId },
    },
    { kind: 'heartbeat.recovered', payload: { from: 'down', to: 'up', ping: 4 } },
    { kind: 'heartbeat.failed', payload: { exit_code: 255, ping: 5, name: made['name'] } },
  ]);
});

void t.test('what is unknown and what is wrong is answered alike', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const slug = String(made['slug']);
  const right = { headers: { 'x-secret': String(made['secret']) }, method: 'POST' };
  const cases: [string, string, RequestInit][] = [
    ['unknown key', `/api/v1/ping/${'k'.repeat(32)}/${slug}/start`, right],
    ['unknown slug', `/api/v1/ping/${api.pingKey}/nothing/start`, right],
    ['missing secret', `/api/v1/ping/${api.pingKey}/${slug}/start`, { method: 'POST' }],
    ['wrong secret', `/api/v1/ping/${api.pingKey}/${slug}/start`, { method: 'POST', headers: { 'x-secret': 'x' } }],
    [
      'doubled secret',
      `/api/v1/ping/${api.pingKey}/${slug}/start`,
      {
        method: 'POST',
        headers: [
          ['x-secret', String(made['secret'])],
          ['x-secret', String(made['secret'])],
        ] as unknown as Record<string, string>,
      },
    ],
    [
      'long secret',
      `/api/v1/ping/${api.pingKey}/${slug}/start`,
      { method: 'POST', headers: { 'x-secret': 'x'.repeat(10_000) } },
    ],
    ['unknown plain', `/api/v1/ping/${api.pingKey}/nothing`, {}],
    ['no signal', `/api/v1/ping/${api.pingKey}/${slug}/begin`, right],
    ['an exit code of 256', `/api/v1/ping/${api.pingKey}/${slug}/256`, right],
    ['a leading zero', `/api/v1/ping/${api.pingKey}/${slug}/00`, right],
    ['unknown uuid', '/ping/00000000-0000-4000-8000-000000000000', {}],
    ['no uuid', '/ping/nothing', {}],
    ['a word behind a uuid', `/ping/${String(made['uuid'])}/begin`, {}],
    ['unknown push token', '/api/push/aaaaaaaaaaaaaaaaaaaa', {}],
    ['a slug in capitals', `/api/v1/ping/${api.pingKey}/${slug.toUpperCase()}`, {}],
  ];
  const bodies = new Set<string>();
  for (const [name, path, init] of cases) {
    const headers = Array.isArray(init.headers)
      ? Object.fromEntries([['x-secret', (init.headers as string[][]).map(([, value]) => value).join(', ')]])
      : init.headers;
    const answer = await api.ping(path, { ...init, ...(headers === undefined ? {} : { headers }) });
    t.equal(answer.status, 404, name);
    const { request_id: _id, ...body } = JSON.parse(answer.text) as Record<string, unknown>;
    bodies.add(JSON.stringify(body));
  }
  t.equal(bodies.size, 1, 'one body');
  t.same(await api.pings(made['id']), [], 'nothing was recorded');
  const open = await api.heartbeat({ require_secret: false });
  t.equal(
    (await api.ping(`/api/v1/ping/${api.pingKey}/${String(open['slug'])}/fail`)).status,
    200,
    'without, where it may',
  );
});

void t.test('clients of Healthchecks work by uuid', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const uuid = String(made['uuid']);
  t.equal(made['ping_url_by_uuid'], `http://127.0.0.1/ping/${uuid}`);
  const rid = '728b3763-04b0-4e9a-b5b5-5b1a5b6f0f2a';
  for (const path of ['', '/start', '/log', '/0', '/fail', '/17']) {
    t.match(await api.ping(`/ping/${uuid}${path}?rid=${rid}`), { status: 200, text: 'OK' }, path);
  }
  t.equal((await api.ping(`/ping/${uuid.toUpperCase()}/success`, { method: 'POST', body: 'x' })).status, 200);
  t.match((await api.ping(`/ping/${uuid}/start?rid=not-a-uuid&rid=neither`)).status, 200);
  const pings = await api.pings(made['id']);
  t.same(
    pings.map(({ kind }) => kind),
    ['start', 'success', 'fail', 'fail', 'success', 'log', 'start', 'ping'],
  );
  t.match(pings, [{ rid: null, warnings: ['rid_ignored'] }, {}, { rid, exit_code: 17 }]);
});

void t.test('a signal may make its heartbeat, for whoever has the ping key', async (t) => {
  const api = await heartbeatsApi(t);
  t.match(await api.ping(`/ping/${api.pingKey}/new-job/start?create=1`), { status: 201, text: 'Created' });
  t.match(await api.ping(`/ping/${api.pingKey}/new-job?create=1`), { status: 200, text: 'OK' });
  t.equal((await api.ping(`/ping/${'k'.repeat(32)}/new-job?create=1`)).status, 404);
  t.equal((await api.ping(`/ping/${api.pingKey}/No_Slug?create=1`)).status, 404);
  t.equal((await api.ping(`/ping/${api.pingKey}/start?create=1`)).status, 404, 'a word of a signal is no slug');
  const list = (await api.make('GET', '/api/v1/heartbeats')).body as {
    total: number;
    heartbeats: Record<string, unknown>[];
  };
  t.match(list, {
    total: 1,
    heartbeats: [
      { name: 'new-job', expected_interval_seconds: 86_400, grace_period_seconds: 3_600, require_secret: false },
    ],
  });
  t.equal((await api.pings(list.heartbeats[0]?.['id'])).length, 2);
  const log = (await api.make('GET', `/api/v1/audit-log?workspace_id=${api.workspaceId}`)).text;
  t.match(log, /"action":"heartbeat\.created"/);
  const both = await Promise.all([1, 2, 3, 4].map(() => api.ping(`/ping/${api.pingKey}/at-once?create=1`)));
  t.ok(both.every(({ status }) => status === 200 || status === 201));
  t.equal((await api.make('GET', '/api/v1/heartbeats')).body['total'], 2, 'of several at once one makes it');
});

void t.test('bodies of any kind count, with what is wrong as a warning', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const path = `/ping/${String(made['uuid'])}`;
  const json = { 'content-type': 'application/json' };
  const cases: [string, RequestInit, object][] = [
    ['10,000 bytes', { body: 'a'.repeat(10_000) }, { body: 'a'.repeat(10_000), body_truncated: false, warnings: [] }],
    [
      '10,001 bytes',
      { body: 'a'.repeat(10_001) },
      { body: 'a'.repeat(10_000), body_truncated: true, warnings: ['body_truncated'] },
    ],
    ['cut in a character', { body: `${'a'.repeat(9_999)}é` }, { body: 'a'.repeat(9_999), body_truncated: true }],
    ['broken JSON', { body: '{"duration_ms":', headers: json }, { warnings: ['body_not_json'], duration_ms: null }],
    ['a list', { body: '[1]', headers: json }, { warnings: ['body_not_json'] }],
    [
      'duration −1',
      { body: '{"duration_ms":-1}', headers: json },
      { warnings: ['duration_ignored'], duration_ms: null },
    ],
    [
      'duration 1e18',
      { body: '{"duration_ms":1e18}', headers: json },
      { warnings: ['duration_ignored'], duration_ms: null },
    ],
    ['duration as text', { body: '{"duration_ms":"1"}', headers: json }, { warnings: ['duration_ignored'] }],
    [
      'a payload that is none',
      { body: '{"payload":7}', headers: json },
      { warnings: ['payload_ignored'], payload: null },
    ],
    ['JSON that is not said to be', { body: '{"duration_ms":7}' }, { warnings: [], duration_ms: 7 }],
    ['NUL', { body: 'a\u0000b' }, { body: 'a\uFFFDb', warnings: ['body_not_text'] }],
    [
      'NUL in JSON',
      { body: '{"payload":{"a":"\\u0000"}}', headers: json },
      { warnings: ['body_not_json'], payload: null },
    ],
    ['no UTF-8', { body: new Uint8Array([0xff, 0xfe, 0x41]) }, { warnings: ['body_not_text'] }],
    ['a form', { body: new URLSearchParams({ a: 'b' }) }, { body: 'a=b', warnings: [] }],
    ['a prototype', { body: '{"__proto__":{"x":1}}', headers: json }, { warnings: ['body_not_json'] }],
    ['nothing', { body: '' }, { body: null, warnings: [] }],
  ];
  for (const [name, init, expected] of cases) {
    const answer = await api.ping(path, { method: 'POST', ...init });
    t.equal(answer.status, 200, name);
    t.match((await api.pings(made['id']))[0], expected, name);
  }
  t.equal(await statusOf(api, made['id']), 'up');
});

void t.test('a long body is read for its duration and payload, and its beginning is kept', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const path = `/ping/${String(made['uuid'])}`;
  const json = { 'content-type': 'application/json' };
  const mebibyte = 1_048_576;
  const log = (length: number) => 'a "quoted\\\\" line\\n'.repeat(length / 20);
  const body = (bytes: number, tail = '"duration_ms":1500,"payload":{"rows":3,"text":"} ] \\" ,"}') => {
    const head = '{ "log": "';
    return `${head}${'a'.repeat(bytes - head.length - tail.length - 4)}" ,${tail}}`.padEnd(bytes);
  };
  const told = { duration_ms: 1_500, payload: { rows: 3, text: '} ] " ,' } };
  const kept = { body_truncated: true, warnings: ['body_truncated'] };
  const cases: [string, string, object][] = [
    ['20,000 bytes', body(20_000), { ...told, ...kept }],
    ['a mebibyte', body(mebibyte), { ...told, ...kept }],
    [
      'one more',
      body(mebibyte + 1),
      { duration_ms: null, payload: null, warnings: ['body_truncated', 'body_not_json'] },
    ],
    [
      'after nested values',
      `{"log":[${JSON.stringify(log(20_000))},{"payload":[{}]}],"duration_ms":7}`,
      { duration_ms: 7, payload: null, ...kept },
    ],
    [
      'a payload of 10,000 bytes',
      `{"payload":{"a":"${'a'.repeat(9_992)}"}, "duration_ms":7}`,
      { duration_ms: 7, payload: { a: 'a'.repeat(9_992) } },
    ],
    [
      'a longer payload',
      `{"payload":{"a":"${'a'.repeat(9_993)}"}, "duration_ms":7}`,
      { duration_ms: 7, payload: null, warnings: ['body_truncated', 'payload_too_large'] },
    ],
    [
      'a payload that is none',
      body(20_000, '"payload":7,"duration_ms":-1'),
      { duration_ms: null, warnings: ['body_truncated', 'duration_ignored', 'payload_ignored'] },
    ],
    [
      'a duration twice',
      body(20_000, '"duration_ms":7,"duration_ms":8'),
      { duration_ms: null, warnings: ['body_truncated', 'body_not_json'] },
    ],
    [
      'not closed',
      body(20_000).trimEnd().slice(0, -1),
      { duration_ms: null, warnings: ['body_truncated', 'body_not_json'] },
    ],
    ['something behind it', `${body(20_000)}x`, { duration_ms: null, warnings: ['body_truncated', 'body_not_json'] }],
    [
      'NUL in the payload',
      body(20_000, '"payload":{"a":"\\u0000"}'),
      { payload: null, warnings: ['body_truncated', 'body_not_json'] },
    ],
    ['only brackets', '{"a":'.repeat(100_000), { duration_ms: null, warnings: ['body_truncated', 'body_not_json'] }],
  ];
  for (const [name, text, expected] of cases) {
    t.equal((await api.ping(path, { method: 'POST', body: text, headers: json })).status, 200, name);
    const [ping] = await api.pings(made['id']);
    t.match(ping, expected, name);
    t.ok(String(ping?.['body']).length <= 10_000, `${name}: what is kept stays 10,000 bytes`);
  }
});

void t.test('whoever asks for JSON is answered in JSON', async (t) => {
  const api = await heartbeatsApi(t);
  const made = await api.heartbeat();
  const ask = (path: string, accept: string, method = 'GET') => api.ping(path, { method, headers: { accept } });
  const path = `/ping/${String(made['uuid'])}`;
  const answer = await ask(path, 'application/json');
  t.match(answer, { status: 200, text: '{"ok":true,"created":false}' });
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  t.equal(answer.headers.get('vary'), 'Accept');
  t.match(await ask(`${path}/fail`, 'application/json, text/plain, */*', 'POST'), { text: /^\{"ok":true/ });
  t.match(await ask(`/ping/${api.pingKey}/asked?create=1`, 'application/json'), {
    status: 201,
    text: '{"ok":true,"created":true}',
  });
  t.match(await ask('/ping/nothing', 'application/json'), { status: 404, text: /"code":"not_found"/ });
  for (const accept of [
    '*/*',
    'text/plain',
    'text/plain, application/json;q=0.5',
    'application/json;q=0, */*',
    'image/png',
  ]) {
    t.match(await ask(path, accept), { status: 200, text: 'OK' }, accept);
  }
});

void t.test(
  'only so many signals of one heartbeat are taken in a minute, and so many that are wrong from one address',
  async (t) => {
    // In the middle of a minute, so that all signals fall into one.
    const frozenMs = Math.floor(Date.now() / 60_000) * 60_000 + 90_000;
    const api = await heartbeatsApi(t, { context: { now: () => frozenMs } });
    const made = await api.heartbeat();
    const other = await api.heartbeat();
    const path = (one: Record<string, unknown>) => `/ping/${String(one['uuid'])}`;
    const answers = await Promise.all(Array.from({ length: 70 }, () => api.ping(path(made))));
    t.equal(answers.filter(({ status }) => status === 200).length, 60);
    const refused = answers.filter(({ status }) => status === 429);
    t.equal(refused.length, 10);
    t.equal(refused[0]?.headers.get('retry-after'), '30');
    t.equal((await api.ping(path(other))).status, 200, 'another one is not concerned');
    t.equal((await api.make('GET', `/api/v1/heartbeats/${String(made['id'])}/pings`)).body['total'], 60);
    const from = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    const wrong = await Promise.all(Array.from({ length: 125 }, () => api.ping('/ping/none', from)));
    // More than two minutes take, should they fall into two.
    t.ok(wrong.some(({ status }) => status === 429));
    t.ok(wrong.some(({ status }) => status === 404));
    t.equal((await api.ping(path(other), from)).status, 200, 'what is right is taken from there all the same');
  },
);

void t.test('a signal that changes the state counts, however many pings came before it', async (t) => {
  const minuteMs = Math.floor(Date.now() / 60_000) * 60_000 + 60_000;
  let nowMs = minuteMs + 1_000;
  const api = await heartbeatsApi(t, { context: { now: () => nowMs } });
  const made = await api.heartbeat({ expected_interval_seconds: 10, failures_before_alert: 2 });
  const path = `/ping/${String(made['uuid'])}`;
  const many = (suffix: string, count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await api.ping(path + suffix)).status));
  const taken = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length;
  t.equal(taken(await many('', 70)), 60);
  t.equal((await api.ping(`${path}/log`)).status, 429, 'what changes nothing is above the rate');
  t.equal((await api.ping(`${path}/fail`)).status, 200, 'a failure counts');
  t.equal(await statusOf(api, made['id']), 'up', 'of the two that make an alarm it is the first');
  t.equal((await api.ping(`${path}/fail`)).status, 200);
  t.equal(await statusOf(api, made['id']), 'down');
  t.equal((await api.ping(`${path}/success`)).status, 200, 'the first success after it counts');
  t.equal((await api.ping(`${path}/success`)).status, 429, 'the second one changes nothing');
  t.equal((await api.ping(`${path}/start`)).status, 200, 'a run begins');
  t.equal((await api.ping(path)).status, 200, 'and ends');
  t.match(
    (await api.told(made['id'])).map(({ kind }) => kind),
    ['heartbeat.failed', 'heartbeat.recovered'],
  );
  nowMs = minuteMs + 11_500;
  t.equal((await api.ping(path)).status, 200, 'a ping that was expected counts, so that the rate makes no miss');
  t.equal((await api.ping(path)).status, 429);
  t.equal(taken(await many('/fail', 70)), 54, 'as many changes as signals: 60 of each in a minute');
  nowMs = minuteMs + 60_000;
  t.equal((await api.ping(path)).status, 200, 'the next minute is another one');
});

void t.test('push monitors answer as those of Uptime Kuma do', async (t) => {
  const api = await heartbeatsApi(t);
  const token = 'Abcdef0123456789Abcdef0123456789';
  const file = { monitorList: [{ type: 'push', name: 'pushed', interval: 60, pushToken: token, active: 1 }] };
  await api.make('POST', `/api/v1/heartbeats/import?workspace_id=${api.workspaceId}`, file);
  t.match(await api.ping(`/api/push/${token}?status=up&msg=OK&ping=12.4`), { status: 200, text: '{"ok":true}' });
  t.match(await api.ping(`/api/push/${token}?status=down&msg=broken&ping=`), { status: 200 });
  const [made] = (await api.make('GET', '/api/v1/heartbeats')).body['heartbeats'] as Record<string, unknown>[];
  t.match(made, { status: 'down', down_reason: 'failed', expected_interval_seconds: 60, grace_period_seconds: 0 });
  t.match(await api.pings(made?.['id']), [
    { kind: 'fail', body: 'broken', duration_ms: null },
    { kind: 'success', body: 'OK', duration_ms: 12 },
  ]);
});
