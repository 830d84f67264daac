import { apiCheckSchema, createApiCheckSchema } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { openSecrets } from '../monitors/index.ts';
import { addMember, monitorsApi } from '../testing.ts';
import type { MonitorsApi } from '../testing.ts';
import { apiCheckRoutes } from './index.ts';

const path = '/api/v1/api-checks';
const resources = { monitors: { resources: [apiCheckRoutes] } };

type Body = Record<string, unknown>;

/** Calls as the owner. */
function callerOf(api: MonitorsApi) {
  return (method: string, below = '', body?: unknown, headers: Record<string, string> = {}) =>
    api.call(method, path + below, { token: api.token, headers, ...(body === undefined ? {} : { body }) });
}

/** What is sealed for a monitor, opened. */
async function storedSecrets(api: MonitorsApi, id: number): Promise<unknown> {
  const row = await api.database.worker.one(
    sql.type(z.object({ id: z.number(), sealed_secrets: z.instanceof(Buffer).nullable() }))`
      select id, sealed_secrets from monitors where id = ${id}`,
  );
  return openSecrets(api.context.sealer, row)['secrets'] ?? {};
}

const steps = [
  { name: 'log in', method: 'POST', url: 'https://{{host}}/login', json: { password: '{{password}}' } },
  { url: '/orders', headers: { 'X-Key': '{{key}}' } },
];
const check = { steps, variables: { host: 'shop.example.com' }, secrets: { password: 'hush-1', key: 'hush-2' } };

void t.test('an API check is a monitor in a flat shape', async (t) => {
  const api = await monitorsApi(t, resources);
  const call = callerOf(api);
  const made = await call('POST', '', {
    workspace_id: api.workspaceId,
    ...check,
    interval_seconds: 30,
    tags: ['shop'],
  });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.equal(made.headers.get('location'), `${path}/${id}`);
  t.equal(made.headers.get('etag'), '"1"');
  const parsed = apiCheckSchema.strict().safeParse(made.body);
  t.ok(parsed.success, String(parsed.error));
  t.match(made.body, {
    name: 'shop.example.com',
    url: 'https://shop.example.com',
    steps: [
      { name: 'log in', method: 'POST', url: 'https://{{host}}/login', verify_tls: true },
      { name: '', method: 'GET', url: '/orders' },
    ],
    variables: { host: 'shop.example.com' },
    secret_names: ['key', 'password'],
    interval_seconds: 30,
    confirmations: 2,
    tags: ['shop'],
    status: 'UNKNOWN',
    assertions: null,
    version: 1,
  });
  t.notMatch(made.text, 'hush', 'no secret is answered');
  t.same(await storedSecrets(api, id), check.secrets);
  const asMonitor = await api.call('GET', `/api/v1/monitors/${id}`, { token: api.token });
  t.match(asMonitor.body, { id, protocol: 'api', settings: { has_secrets: true, variables: check.variables } });
  t.equal(asMonitor.body['name'], made.body['name']);

  const other = await api.monitor({ name: 'another protocol' });
  const list = await call('GET', `?workspace_id=${api.workspaceId}&search=SHOP.&sort=name&tag=shop`);
  t.match(list.body, { total: 1, page: 1, page_size: 20, api_checks: [{ id, secret_names: ['key', 'password'] }] });
  t.notMatch(list.text, 'hush');
  t.match((await call('GET', '?search=another')).body, { total: 0, api_checks: [] });
  t.match((await call('GET', `/${id}`)).body, { id, version: 1 });

  for (const [method, below, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['PATCH', '', { interval_seconds: 60 }],
    ['DELETE', ''],
    ['POST', '/run'],
    ['GET', '/results'],
  ] as const)
    for (const missing of [other.id, 999_999])
      t.match(await call(method, `/${missing}${below}`, body), {
        status: 404,
        body: { code: 'not_found', detail: `there is no API check ${missing}` },
      });
  t.match(await call('POST', '/test', { ...check, api_check_id: other.id }), { status: 404 });
  t.match((await api.call('GET', `/api/v1/monitors/${other.id}`, { token: api.token })).body, { version: 1 });

  t.match(await call('PATCH', `/${id}`, { name: 'y' }, { 'if-match': '"7"' }), { status: 412 });
  t.match(await call('PATCH', `/${id}`, { is_active: false, name: 'shop' }), {
    status: 200,
    body: { name: 'shop', is_active: false, paused_by: 'self' },
  });
  t.equal((await call('POST', '', { workspace_id: api.workspaceId, ...check, name: 'shop' })).status, 409);
  t.equal((await call('DELETE', `/${id}`)).status, 204);
  t.equal((await call('GET', `/${id}`)).status, 404);
  const audit = await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where subject_type = 'monitor' and subject_id = ${String(id)} order by id`);
  t.same(audit, ['monitor.created', 'monitor.updated', 'monitor.paused', 'monitor.deleted']);
});

void t.test('secrets are merged by name, and stay at home', async (t) => {
  const api = await monitorsApi(t, resources);
  const call = callerOf(api);
  const made = await call('POST', '', { workspace_id: api.workspaceId, ...check });
  const id = Number(made.body['id']);
  let warnings: unknown;
  const patch = async (body: Body): Promise<unknown> => {
    const answer = await call('PATCH', `/${id}`, body);
    t.equal(answer.status, 200, answer.text);
    t.notMatch(answer.text, 'hush');
    warnings = answer.body['warnings'];
    t.same(answer.body['secret_names'], Object.keys((await storedSecrets(api, id)) as object).sort());
    return storedSecrets(api, id);
  };
  t.same(await patch({ name: 'renamed' }), { password: 'hush-1', key: 'hush-2' }, 'nothing said of them');
  t.same(await patch({ secrets: {} }), { password: 'hush-1', key: 'hush-2' }, 'none named');
  t.same(await patch({ secrets: { more: 'hush-3', key: 'hush-4' } }), {
    password: 'hush-1',
    key: 'hush-4',
    more: 'hush-3',
  });
  t.same(await patch({ secrets: { more: null, nobody: null } }), { password: 'hush-1', key: 'hush-4' });
  t.equal(warnings, undefined, 'what was asked for needs no warning');
  const elsewhere = [{ ...steps[0], url: 'https://evil.example.net/login' }, steps[1]];
  t.same(await patch({ steps: elsewhere, secrets: { key: 'hush-5' } }), { key: 'hush-5' }, 'sent again, so it is kept');
  t.match(warnings, [{ code: 'secret_dropped', path: '/secrets/password' }]);
  t.same(
    await patch({ variables: { host: 'shop.example.com' }, steps, secrets: { password: 'hush-6', key: 'hush-5' } }),
    {
      password: 'hush-6',
      key: 'hush-5',
    },
  );
  t.same(await patch({ variables: { host: 'evil.example.net' }, secrets: {} }), {}, 'a variable moves a step too');
  t.same(await patch({ secrets: { password: 'hush-7' } }), { password: 'hush-7' });
  t.same(await patch({ url: 'https://other.example.com' }), {}, 'another target');
  t.same(await patch({ secrets: { password: 'hush-7' } }), { password: 'hush-7' });
  t.same(await patch({ secrets: null }), {});
  const { version } = (await call('GET', `/${id}`)).body;
  await patch({ secrets: { nobody: null }, steps });
  t.equal((await call('GET', `/${id}`)).body['version'], version, 'what says nothing new is no change');
});

void t.test('a proxy and name servers are flat too, and the password of the proxy is never answered', async (t) => {
  const api = await monitorsApi(t, resources);
  const call = callerOf(api);
  const way = { proxy: 'http://ann:hush-9@proxy.example:3128', resolver: ['192.0.2.53'] };
  const made = await call('POST', '', { workspace_id: api.workspaceId, ...check, ...way });
  t.equal(made.status, 201, made.text);
  const shown = { proxy: 'http://ann@proxy.example:3128', has_proxy_password: true, resolver: ['192.0.2.53'] };
  t.match(made.body, shown);
  t.notMatch(made.text, 'hush-9');
  const id = Number(made.body['id']);
  t.match((await call('PATCH', `/${id}`, { name: 'renamed' })).body, shown, 'it is kept');
  const without = await call('PATCH', `/${id}`, { proxy: null, resolver: null });
  t.match(without.body, { proxy: null, has_proxy_password: false, resolver: null });
  t.match(await call('PATCH', `/${id}`, { proxy: 'ftp://p.test' }), {
    status: 422,
    body: { errors: [{ path: '/proxy' }] },
  });
});

void t.test('what is wrong is told by its place in the body', async (t) => {
  const api = await monitorsApi(t, resources);
  const call = callerOf(api);
  const good = { workspace_id: api.workspaceId, url: 'https://shop.example.com', steps: [{}, { url: '/b' }] };
  const { body: made } = await call('POST', '', good);
  const cases: [Body, string][] = [
    [{ steps: [{}, { url: 'b' }] }, '/steps/1/url'],
    [{ steps: [{}, { url: 'https://{{nobody}}/' }] }, '/steps/1/url'],
    [{ steps: [{ method: 'BREW' }] }, '/steps/0/method'],
    [{ steps: [{ no_such: 1 }] }, '/steps/0'],
    [{ steps: [{ headers: { Authorization: 'Bearer abc' } }] }, '/steps/0/headers/Authorization'],
    [{ steps: [{ body: 'a', json: {} }] }, '/steps/0/body'],
    [{ steps: [{ assertions: { subject: 'status' } }] }, '/steps/0/assertions/comparison'],
    [{ steps: [{ extract: [{ name: 'a', from: 'json' }] }] }, '/steps/0/extract/0/path'],
    [{ steps: [{ json: 'a'.repeat(70_000) }] }, '/steps/0/json'],
    [{ steps: [{ auth: { type: 'bearer', token: 'plain' } }] }, '/steps/0/auth/token'],
    [{ steps: [] }, '/steps'],
    [{ steps: Array.from({ length: 21 }, () => ({})) }, '/steps'],
    [{ variables: { 'a b': 'c' } }, '/variables/a b'],
    [{ variables: { a: 'x' }, secrets: { a: 'y' } }, '/variables/a'],
    [{ secrets: { a: '' } }, '/secrets/a'],
    [{ secrets: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, 'x'])) }, '/secrets'],
    [{ assertions: { all: [] } }, '/assertions/all'],
    [{ inverted: true, assertions: { subject: 'status', comparison: 'exists' } }, '/assertions'],
    [{ settings: {} }, '/settings'],
    [{ protocol: 'https' }, '/protocol'],
    [{ url: 'ftp://shop.example.com' }, '/url'],
    [{ interval_seconds: 0 }, '/interval_seconds'],
    [{ probe_ids: [77] }, '/probe_ids'],
  ];
  for (const [wrong, place] of cases)
    for (const [method, below, base] of [
      ['POST', '', good],
      ['POST', '/test', good],
      ['PATCH', `/${String(made['id'])}`, {}],
    ] as const) {
      const answer = await call(method, below, { ...base, ...wrong });
      const { errors = [] } = answer.body as { errors?: { path: string }[] };
      const shown = `${method} ${below} ${JSON.stringify(wrong).slice(0, 80)}`;
      t.equal(answer.status, 422, `${shown} ${answer.text.slice(0, 300)}`);
      t.ok(
        errors.some((error) => error.path === place || error.path.startsWith(`${place}/`)),
        `${shown}: ${JSON.stringify(errors).slice(0, 300)}`,
      );
      t.notMatch(answer.text, /\/settings\/|protocol api/, 'nothing of the monitor beneath');
    }
  t.match(await call('POST', '', { workspace_id: api.workspaceId, steps: [{ url: '/a' }] }), {
    status: 422,
    body: { errors: [{ path: '/url', code: 'required' }] },
  });
  t.match(await call('POST', '', { workspace_id: api.workspaceId, steps: [{ url: 'https://{{x}}/' }] }), {
    status: 422,
    body: { detail: /^body \/steps\/0\/url: /, errors: [{ path: '/steps/0/url' }] },
  });
  t.ok(createApiCheckSchema.safeParse(good).success);
});

void t.test('viewers read, editors write, and keys and strangers do nothing', async (t) => {
  const api = await monitorsApi(t, resources);
  const call = callerOf(api);
  const { body } = await call('POST', '', { workspace_id: api.workspaceId, ...check });
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const stranger = await api.account('stranger@example.com');
  const made = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'key' } });
  const own = `${path}/${String(body['id'])}`;
  const calls = [
    ['GET', path, 200, 200],
    ['GET', own, 200, 404],
    ['GET', `${own}/results`, 200, 404],
    ['PATCH', own, 403, 404],
    ['POST', `${own}/run`, 403, 404],
    ['DELETE', own, 403, 404],
    ['POST', path, 403, 404],
  ] as const;
  for (const [method, target, ofViewer, ofStranger] of calls) {
    const sent = method === 'PATCH' ? { body: { name: 'z' } } : {};
    const more = method === 'POST' && target === path ? { body: { workspace_id: api.workspaceId, ...check } } : sent;
    t.equal(
      (await api.call(method, target, { token: viewer.accessToken, ...more })).status,
      ofViewer,
      `viewer ${method} ${target}`,
    );
    t.equal(
      (await api.call(method, target, { token: stranger.accessToken, ...more })).status,
      ofStranger,
      `stranger ${method} ${target}`,
    );
    t.equal(
      (await api.call(method, target, { key: String(made.body['key']), ...more })).status,
      403,
      `key ${method} ${target}`,
    );
  }
  t.match((await api.call('GET', path, { token: stranger.accessToken })).body, { total: 0 });
});

void t.test(
  'patterns are judged for those who may edit, after they are counted, and never hold the event loop',
  async (t) => {
    const api = await monitorsApi(t, resources);
    const viewer = await api.account('viewer@example.com');
    await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
    const hostile = `(?i)[${'0-\u{1e942}'.repeat(60)}]`;
    const extract = (count: number, pattern: string) =>
      Array.from({ length: count }, (_, index) => ({ name: `v${index}`, from: 'regex', path: pattern }));
    const body = (steps: number, extracts: number, pattern: string) => ({
      workspace_id: api.workspaceId,
      url: 'https://example.com/',
      steps: Array.from({ length: steps }, () => ({ extract: extract(extracts, pattern) })),
    });
    const send = async (token: string, sent: unknown, below = '') => {
      const before = process.cpuUsage();
      const answer = await api.call('POST', path + below, { token, body: sent });
      const { user, system } = process.cpuUsage(before);
      return { answer, ms: (user + system) / 1_000 };
    };
    const small = body(1, 18, hostile);
    t.ok(JSON.stringify(small).length < 8_000);
    const asViewer = await send(viewer.accessToken, small);
    t.equal(asViewer.answer.status, 403, asViewer.answer.text);
    t.ok(asViewer.ms < 500, `${asViewer.ms} ms for a viewer`);
    for (const below of ['', '/test']) {
      const refused = await send(api.token, small, below);
      t.match(refused.answer, {
        status: 422,
        body: { errors: [{ path: '/steps/0/extract/0/path', message: /too long to prepare/ }] },
      });
      t.ok(refused.ms < 500, `${refused.ms} ms for an editor`);
    }

    const large = body(20, 20, '(x?){1000}'.repeat(25));
    const harmless = body(20, 20, 'x'.repeat(250));
    const many = body(1, 900, '(x?){1000}'.repeat(25));
    for (const [sent, message] of [
      [large, /16384 characters together/],
      [many, /<=20/],
    ] as const) {
      const first = await send(api.token, sent);
      t.match(first.answer, { status: 422, body: { errors: [{ message }] } });
      // The fastest of some: what else the machine does is nothing that the patterns cost.
      const worst: number[] = [];
      const plain: number[] = [];
      for (let round = 0; round < 4; round += 1) {
        worst.push((await send(api.token, sent)).ms);
        plain.push((await send(api.token, harmless)).ms);
      }
      t.ok(Math.min(...worst) - Math.min(...plain) <= 50, `${Math.min(...worst)} ms beside ${Math.min(...plain)} ms`);
    }
  },
);
