import t from 'tap';
import { openWorld } from './world.ts';

/* What clients of many languages write differently and mean alike is taken. */

const world = await openWorld(t);
const { token } = world;
const id = await world.monitor();
const get = (path: string) => world.call('GET', path, { token });

void t.test('booleans of a query are words in any case, or 1 and 0', async (t) => {
  for (const [value, total] of [
    ['True', 1],
    ['1', 1],
    ['FALSE', 0],
    ['0', 0],
  ] as const) {
    t.match(await get(`/api/v1/monitors?is_active=${value}`), { status: 200, body: { total } }, value);
  }
  t.equal((await get('/api/v1/monitors?is_active=2')).status, 422);
});

void t.test('a slash at the end of a path is one too many, and nothing else', async (t) => {
  t.match(await get(`/api/v1/monitors/${id}/`), { status: 200, body: { id } });
  t.match(await get('/api/v1/monitors/?page_size=1'), { status: 200, body: { total: 1 } });
  t.equal((await get('/health/')).status, 200);
  t.equal((await get(`/api/v1/monitors/${id}//`)).status, 404);
  t.equal((await get('/')).status, (await get('')).status);
  t.equal((await world.call('PUT', '/api/v1/monitors/', { token, body: {} })).status, 405);
  t.equal((await get('/docs/')).status, 200);
});

void t.test('words of lists and protocols are taken in any case', async (t) => {
  const words = 'protocol=HTTP&order=DESC&sort=Name&status_filter=Unknown';
  t.match(await get(`/api/v1/monitors?${words}`), { status: 200, body: { total: 1 } });
  const body = { workspace_id: world.workspaceId, name: 'in capitals', url: world.target, protocol: 'HTTP' };
  const made = await world.make('POST', '/api/v1/monitors', body);
  t.match(made.body, { protocol: 'http' });
  const changed = await world.call('PATCH', `/api/v1/monitors/${String(made.body['id'])}`, {
    token,
    body: { protocol: 'Http' },
  });
  t.match(changed, { status: 200, body: { protocol: 'http', version: 1 } });
  t.equal((await get('/api/v1/monitors?order=down')).status, 422);
});

void t.test('a language with a region is the language', async (t) => {
  for (const [locale, stored] of [
    ['ru-RU', 'ru'],
    ['en_GB', 'en'],
    ['en-US', 'en'],
  ] as const) {
    const changed = await world.call('PATCH', '/api/v1/auth/me', { token, body: { locale } });
    t.match(changed, { status: 200, body: { locale: stored } }, locale);
  }
  t.equal((await world.call('PATCH', '/api/v1/auth/me', { token, body: { locale: 'de-DE' } })).status, 422);
  t.equal((await world.call('PATCH', '/api/v1/auth/me', { token, body: { locale: 'english' } })).status, 422);
});

void t.test('a time without a zone is told what it lacks', async (t) => {
  const path = `/api/v1/monitors/${id}/results?start_time=`;
  const message = 'needs a zone, such as Z or +02:00';
  for (const time of ['2026-03-01T10:00:00', '2026-03-01T10:00:00.123', '2026-03-01T10:00']) {
    t.match(await get(path + time), { status: 422, body: { errors: [{ path: '/start_time', message }] } }, time);
  }
  t.notMatch((await get(`${path}yesterday`)).text, /zone/);
  t.equal((await get(`${path}2026-03-01T10:00:00Z`)).status, 200);
});

void t.test('availability has one form for monitors, heartbeats and webhook checks', async (t) => {
  const workspace = { workspace_id: world.workspaceId, name: 'measured' };
  const beat = await world.make('POST', `/api/v1/heartbeats?workspace_id=${world.workspaceId}`, { name: 'measured' });
  const check = await world.make('POST', '/api/v1/webhook-checks', workspace);
  for (const path of [
    `monitors/${id}`,
    `heartbeats/${String(beat.body['id'])}`,
    `webhook-checks/${String(check.body['id'])}`,
  ]) {
    const { body } = await get(`/api/v1/${path}/stats?hours=24`);
    t.match(body, { hours: 24, uptime_percent: null, seconds: { up: 0, down: 0 } }, path);
  }
});
