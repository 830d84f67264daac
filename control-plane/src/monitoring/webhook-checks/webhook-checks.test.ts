import { mostWebhookChecks, webhookCheckSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { addMember } from '../testing.ts';
import { findCheck } from './queries.ts';
import { tidy } from './deadlines/job.ts';
import { removeWebhookChecksOfWorkspace } from './index.ts';
import { signStandard, webhookChecksApi } from './testing.ts';

const row = z.record(z.string(), z.unknown());

void t.test('a check is created, shows its secret once, is read, listed and audited', async (t) => {
  const api = await webhookChecksApi(t);
  const made = await api.checks('POST', '', {
    workspace_id: api.workspaceId,
    name: ' Cafe\u0301 ',
    description: 'payments',
    tags: ['x', 'x', 'y'],
    expected_interval_seconds: 3_600,
    rules: [{ op: 'contains', value: 'bad', status: 'down' }],
  });
  t.equal(made.status, 201, made.text);
  const { secret, ...check } = made.body;
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(made.headers.get('location'), `/api/v1/webhook-checks/${String(check['id'])}`);
  t.equal(made.headers.get('etag'), '"1"');
  t.match(check, {
    name: 'Caf\u00e9',
    tags: ['x', 'y'],
    signature: 'standard',
    custom_hmac: null,
    has_secret: true,
    status: 'new',
    grace_period_seconds: 300,
    rules: [{ path: null, op: 'contains', value: 'bad', status: 'down' }],
    next_expected_at: null,
    url: `${api.context.publicUrl}/api/v1/webhook-check/${String(check['slug'])}`,
    version: 1,
  });
  const read = await api.checks('GET', `/${String(check['id'])}`);
  t.same(read.body, check, 'without the secret');
  t.ok(webhookCheckSchema.strict().safeParse(read.body).success, 'no field but those of the contract');
  t.same((await api.checks('GET', '')).body, { webhook_checks: [check], total: 1, page: 1, page_size: 20 });
  const stored = await api.database.worker.any(sql.type(row)`select * from webhook_checks`);
  const text = stored
    .map((one) =>
      Object.values(one)
        .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
        .join(),
    )
    .join();
  t.notOk(text.includes(String(secret)) || text.includes(String(check['slug'])), 'neither stands in the table');
  t.match(
    await api.database.worker.any(
      sql.type(
        row,
      )`select action, subject_id, workspace_id, detail from audit_log where subject_type = 'webhook_check'`,
    ),
    [{ action: 'webhook_check.created', subject_id: String(check['id']), workspace_id: api.workspaceId }],
  );
});

void t.test('the same request under one key makes one check and shows the same secret', async (t) => {
  const api = await webhookChecksApi(t);
  const body = { workspace_id: api.workspaceId, name: 'once' };
  const more = { headers: { 'idempotency-key': 'k' } };
  const [first, again] = [await api.checks('POST', '', body, more), await api.checks('POST', '', body, more)];
  t.equal(first.status, 201);
  t.same(again.body, first.body);
  t.match((await api.checks('GET', '')).body, { total: 1 });
});

void t.test('a workspace has so many checks and no more, also when two are made at once', async (t) => {
  const api = await webhookChecksApi(t);
  const { body: made } = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'full' } });
  const workspaceId = Number(made['id']);
  await api.database.worker.query(sql.unsafe`
    insert into webhook_checks (workspace_id, name, slug_hash, sealed_slug, signature, grace_period_seconds)
    select ${workspaceId}, 'n', sha256(('n' || n)::bytea), 'x', 'none', 0 from generate_series(1, ${mostWebhookChecks - 1}) n`);
  const make = (place: number) => api.checks('POST', '', { workspace_id: place, name: 'one more', signature: 'none' });
  const both = await Promise.all([make(workspaceId), make(workspaceId)]);
  t.same(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  );
  t.match(both.find(({ status }) => status === 409)?.body, {
    code: 'too_many_webhook_checks',
    detail: new RegExp(String(mostWebhookChecks)),
  });
  t.equal((await make(api.workspaceId)).status, 201, 'another workspace has its own');
  const id = Number(both.find(({ status }) => status === 201)?.body['id']);
  t.equal((await api.checks('DELETE', `/${id}`)).status, 204);
  t.equal((await make(workspaceId)).status, 201, 'one that was deleted is not counted');
});

void t.test('lists are narrowed by workspace, status, tag and text', async (t) => {
  const api = await webhookChecksApi(t);
  const one = await api.check({ name: 'one', signature: 'none', tags: ['a'], expected_interval_seconds: 60 });
  const two = await api.check({ name: 'TWO', description: '100 %', tags: ['b'] });
  const found = async (query: string) =>
    z
      .array(z.object({ id: z.number() }))
      .parse((await api.checks('GET', query)).body['webhook_checks'])
      .map(({ id }) => id);
  t.same(await found(''), [one.id, two.id], 'by name, whatever the case');
  t.same(await found('?tag=b'), [two.id]);
  t.same(await found('?search=%25'), [two.id]);
  t.same(await found('?search=tw'), [two.id]);
  t.same(await found('?status=new'), [one.id, two.id]);
  t.equal((await api.send(one.slug, { body: '', headers: {} })).status, 202);
  t.same(await found('?status=up'), [one.id]);
  api.clock.aheadMs += 61_000;
  t.same(await found('?status=up'), []);
  t.same(await found('?status=late'), [one.id]);
  t.match((await api.checks('GET', `/${one.id}`)).body, { status: 'late' });
  t.equal((await api.checks('GET', '?workspace_id=2147483647')).status, 404);
  t.equal((await api.checks('GET', '?status=bad')).status, 422);
});

void t.test('PUT keeps what is absent, null clears, and nothing changed is no version', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await api.check({ description: 'old', tags: ['a'], expected_interval_seconds: 60 });
  const put = (body: Record<string, unknown>, headers = {}) => api.checks('PUT', `/${check.id}`, body, { headers });
  t.match((await put({ name: 'new' })).body, { name: 'new', description: 'old', version: 2, secret: null });
  t.match((await put({ description: null, tags: null, expected_interval_seconds: null })).body, {
    description: '',
    tags: [],
    expected_interval_seconds: null,
    version: 3,
  });
  t.match((await put({ name: 'new' })).body, { version: 3 });
  t.equal((await put({ name: 'other' }, { 'if-match': '"2"' })).status, 412);
  t.equal((await put({ name: 'other' }, { 'if-match': '"3"' })).status, 200);
  t.equal((await api.send(check.slug, signStandard(check.secret ?? '', 'x'))).status, 202, 'the secret stayed');
});

void t.test('signature and secret fit together, whatever is changed', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await api.check();
  const put = (body: Record<string, unknown>) => api.checks('PUT', `/${check.id}`, body);
  const github = await put({ signature: 'github' });
  t.match(github.body, { signature: 'github', secret: null, version: 2 }, 'the old one fits');
  t.match((await put({ secret: 'not base64 at all' })).body, { secret: null });
  const standard = await put({ signature: 'standard' });
  t.match(standard.body['secret'], /^whsec_/, 'one that does not is replaced, and the new one shown');
  t.match(standard.body['warnings'], [{ code: 'secret_dropped', path: '/secret' }]);
  t.notOk('warnings' in github.body, 'one that fits stays');
  const custom = { header: 'X-A', encoding: 'hex' };
  t.match(await put({ signature: 'custom_hmac' }), { status: 422, body: { errors: [{ path: '/custom_hmac' }] } });
  t.match((await put({ signature: 'custom_hmac', custom_hmac: custom })).body, {
    custom_hmac: { ...custom, algorithm: 'sha256', prefix: '', id_header: null },
  });
  t.match(await put({ signature: 'slack', custom_hmac: custom }), { status: 422 });
  t.match((await put({ signature: 'slack' })).body, { custom_hmac: null });
  t.match((await put({ signature: 'none' })).body, { has_secret: false, warnings: [{ code: 'secret_dropped' }] });
  t.match(await put({ secret: 'a long secret' }), { status: 422, body: { errors: [{ path: '/secret' }] } });
  t.match((await put({ signature: 'stripe', secret: 'whsec_of_stripe' })).body, { has_secret: true, secret: null });
  for (const wrong of [
    { signature: 'standard', secret: 'whsec_x' },
    { secret: 'short' },
    { secret: 'x'.repeat(257) },
    { secret: ' padded secret ' },
    { secret: null },
    { signature: 'md5' },
    { expected_interval_seconds: 0 },
    { expected_interval_seconds: 31_536_001 },
    { grace_period_seconds: -1 },
    ...['(', '(?=x)', '(x{100}){100}', 'x'.repeat(257)].map((value) => ({
      rules: [{ path: '$.a', op: 'matches', value, status: 'up' }],
    })),
    { status: 'up' },
    { slug: 'mine' },
  ]) {
    t.equal((await put(wrong)).status, 422, JSON.stringify(wrong).slice(0, 80));
  }
  for (const header of ['a b', '', 'x\n', 'ü']) {
    t.equal((await put({ signature: 'custom_hmac', custom_hmac: { header, encoding: 'hex' } })).status, 422, header);
  }
});

void t.test('a secret is replaced at once, or with a time in which both are taken', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await api.check();
  const send = async (secret: unknown) =>
    (
      await api.send(
        check.slug,
        signStandard(String(secret), 'x', { seconds: Math.floor((Date.now() + api.clock.aheadMs) / 1_000) }),
      )
    ).status;
  const first = check.secret;
  const second = (await api.checks('POST', `/${check.id}/regenerate-secret`)).body['secret'];
  t.same([await send(first), await send(second)], [404, 202]);
  const answer = await api.checks('POST', `/${check.id}/regenerate-secret`, { grace_seconds: 600 });
  const third = answer.body['secret'];
  t.type(answer.body['previous_secret_valid_until'], 'string');
  t.same([await send(second), await send(third)], [202, 202]);
  api.clock.aheadMs += 600_001;
  t.same([await send(second), await send(third)], [404, 202]);
  t.match((await api.checks('GET', `/${check.id}`)).body, { previous_secret_valid_until: null });
  t.match(
    (await api.checks('POST', `/${check.id}/regenerate-secret`, { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }))
      .body,
    { secret: null },
  );
  t.equal(await send('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'), 202);
  for (const body of [{ grace_seconds: -1 }, { grace_seconds: 604_801 }, { secret: 'x' }]) {
    t.equal((await api.checks('POST', `/${check.id}/regenerate-secret`, body)).status, 422);
  }
  const open = await api.check({ signature: 'none' });
  t.match(await api.checks('POST', `/${open.id}/regenerate-secret`), { status: 409, body: { code: 'conflict' } });
  const log = JSON.stringify(await api.database.worker.any(sql.type(row)`select detail from audit_log`));
  t.notOk(log.includes('whsec_'), 'no secret in the audit log');
});

void t.test('viewers see everything but where to deliver to, and change nothing', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await api.check();
  const viewer = await api.account('viewer@example.com');
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${api.workspaceId}, ${viewer.id}, 'viewer')`);
  const as = (method: string, path: string, body?: unknown) =>
    api.checks(method, path, body, { token: viewer.accessToken });
  t.match((await as('GET', `/${check.id}`)).body, { slug: null, url: null, has_secret: true });
  t.notOk((await as('GET', '')).text.includes(check.slug));
  t.equal((await as('GET', `/${check.id}/events`)).status, 200);
  t.equal((await as('GET', `/${check.id}/stats`)).status, 200);
  for (const [method, suffix, body] of [
    ['PUT', '', {}],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/regenerate-secret'],
  ] as const) {
    t.equal((await as(method, `/${check.id}${suffix}`, body)).status, 403, `${method} ${suffix}`);
  }
  const stranger = await api.account('stranger@example.com');
  for (const suffix of ['', '/events', '/stats']) {
    t.equal((await api.checks('GET', `/${check.id}${suffix}`, undefined, { token: stranger.accessToken })).status, 404);
  }
});

void t.test('pausing and deleting are told to others, once', async (t) => {
  const api = await webhookChecksApi(t);
  const check = await api.check({ name: 'mine' });
  for (let count = 0; count < 2; count += 1) {
    t.match((await api.checks('POST', `/${check.id}/pause`)).body, { status: 'paused', version: 2 });
  }
  for (let count = 0; count < 2; count += 1) {
    t.match((await api.checks('POST', `/${check.id}/resume`)).body, { status: 'new', version: 3 });
  }
  t.equal((await api.checks('DELETE', `/${check.id}`, undefined, { headers: { 'if-match': '"1"' } })).status, 412);
  t.equal((await api.checks('DELETE', `/${check.id}`)).status, 204);
  t.equal((await api.checks('DELETE', `/${check.id}`)).status, 404);
  t.match(await api.told(), [
    { kind: 'webhook_check.paused', payload: { from: 'new', to: 'paused' } },
    { kind: 'webhook_check.resumed', payload: { from: 'paused', to: 'new' } },
    {
      kind: 'webhook_check.deleted',
      payload: { webhook_check_id: check.id, workspace_id: api.workspaceId, name: 'mine' },
    },
  ]);
});

void t.test('of what is deleted nothing stays, and of the rest what is old goes', async (t) => {
  const api = await webhookChecksApi(t);
  const [gone, stays, ofWorkspace] = [
    await api.check({ signature: 'none' }),
    await api.check({ signature: 'none' }),
    await api.check({ signature: 'none' }),
  ];
  for (const { slug } of [gone, stays, stays, ofWorkspace]) {
    t.equal((await api.send(slug, { body: 'x', headers: {} })).status, 202);
  }
  t.equal((await api.checks('DELETE', `/${gone.id}`)).status, 204);
  const { worker } = api.database;
  await worker.query(sql.unsafe`
    update webhook_check_events set received_at = received_at - interval '91 days'
    where id = (select min(id) from webhook_check_events where check_id = ${stays.id})`);
  const counts = async () => {
    const per = (table: string) =>
      sql.fragment`array(select check_id from ${sql.identifier([table])} order by check_id)`;
    return worker.one(sql.type(
      z.object({ checks: z.array(z.number()), events: z.array(z.number()), ranges: z.array(z.number()) }),
    )`
      select array(select id from webhook_checks order by id) as checks, ${per('webhook_check_events')} as events, ${per('webhook_check_ranges')} as ranges`);
  };
  await tidy(api.context, () => true);
  t.same(
    await counts(),
    {
      checks: [gone.id, stays.id, ofWorkspace.id],
      events: [stays.id, ofWorkspace.id],
      ranges: [gone.id, stays.id, ofWorkspace.id],
    },
    'a delivery under way may still bring something',
  );
  await worker.query(
    sql.unsafe`update webhook_checks set deleted_at = deleted_at - interval '1 hour' where deleted_at is not null`,
  );
  await tidy(api.context, () => true);
  t.same(await counts(), {
    checks: [stays.id, ofWorkspace.id],
    events: [stays.id, ofWorkspace.id],
    ranges: [stays.id, ofWorkspace.id],
  });
  await removeWebhookChecksOfWorkspace(worker, api.workspaceId);
  await worker.query(sql.unsafe`update webhook_checks set deleted_at = deleted_at - interval '1 hour'`);
  await tidy(api.context, () => true);
  t.same(await counts(), { checks: [], events: [], ranges: [] });
});

void t.test('rules and forms of signatures are parsed when they are read', async (t) => {
  const api = await webhookChecksApi(t);
  const { id } = await api.check();
  const scope = { userId: api.owner.id, workspaceIds: [api.workspaceId] };
  const read = () => findCheck(scope, api.database.worker, id);
  t.ok(await read());
  for (const damage of [
    sql.fragment`rules = '[5]'`,
    sql.fragment`rules = '[{"path": null, "op": "less", "value": 1, "status": "up"}]'`,
    sql.fragment`rules = '[]', signature = 'custom_hmac', custom_hmac = '{"header": 5}'`,
  ]) {
    await api.database.worker.query(sql.unsafe`update webhook_checks set ${damage} where id = ${id}`);
    await t.rejects(read(), { message: /do not conform with the schema/ });
  }
});

void t.test('rules are judged for those who may edit, and refused with their place', async (t) => {
  const api = await webhookChecksApi(t);
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const rules = Array.from({ length: 8 }, () => ({ op: 'matches', value: '(x?){1000}'.repeat(25), status: 'down' }));
  const body = { workspace_id: api.workspaceId, name: 'hostile', rules };
  const { id } = await api.check();
  for (const [method, path, sent] of [
    ['POST', '/api/v1/webhook-checks', body],
    ['PUT', `/api/v1/webhook-checks/${id}`, { rules }],
  ] as const) {
    const asViewer = await api.call(method, path, { token: viewer.accessToken, body: sent });
    t.equal(asViewer.status, 403, asViewer.text);
    const before = process.cpuUsage();
    const refused = await api.call(method, path, { token: api.token, body: sent });
    const { user, system } = process.cpuUsage(before);
    t.match(refused, { status: 422, body: { errors: [{ path: '/rules/0/value', message: /too large/ }] } });
    t.ok(user + system < 300_000, 'it took eight times a tenth of a second');
  }
});
