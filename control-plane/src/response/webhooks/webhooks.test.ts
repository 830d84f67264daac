import t from 'tap';
import { defaultWebhookEvents } from '@parallax/api-contract';
import { addMember } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { storeEvents, webhooksApi } from './testing.ts';

void t.test('a webhook is made, read, changed and deleted, and shows its secret once', async (t) => {
  const api = await webhooksApi(t);
  const url = 'https://hooks.example/in/key?token=hush';
  const made = await api.webhooks('POST', '', {
    workspace_id: api.workspaceId,
    name: 'Ops',
    url,
    headers: { Authorization: 'Bearer hush' },
  });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.match(made.body, {
    url,
    events: [...defaultWebhookEvents],
    scope: { all: true },
    header_names: ['Authorization'],
    signature: 'v1',
    content: 'full',
    is_active: true,
    disabled_reason: null,
    secret: /^whsec_/,
    public_key: /^whpk_/,
    queued: 0,
  });
  const read = await api.webhooks('GET', `/${id}`);
  t.notOk('secret' in read.body);
  t.notMatch(read.text, 'Bearer hush');
  const elsewhere = await api.webhooks('PATCH', `/${id}`, { url: 'https://other.example/', name: 'Night' });
  t.match(elsewhere.body, { name: 'Night', header_names: [], version: 2 }, 'another host gets no header of the first');
  t.match((await api.webhooks('PATCH', `/${id}`, { name: 'Night' })).body, { version: 2 });
  t.equal((await api.webhooks('PATCH', `/${id}`, { name: 'x' }, { headers: { 'if-match': '"1"' } })).status, 412);
  t.match((await api.webhooks('GET', '?search=night')).body, { webhooks: [{ id }], total: 1 });
  t.equal((await api.webhooks('DELETE', `/${id}`)).status, 204);
  t.equal((await api.webhooks('GET', `/${id}`)).status, 404);
});

void t.test('what cannot be is refused by its place', async (t) => {
  const api = await webhooksApi(t);
  const base = { workspace_id: api.workspaceId, name: 'x', url: 'https://hooks.example/' };
  for (const [more, path] of [
    [{ url: 'ftp://hooks.example/' }, '/url'],
    [{ url: 'https://user:pw@hooks.example/' }, '/url'],
    [{ events: ['monitor.sideways'] }, '/events/0'],
    [{ events: [] }, '/events'],
    [{ headers: { 'webhook-id': 'x' } }, '/headers/webhook-id'],
    [{ headers: { 'X-Key': 'a\r\nb' } }, '/headers/X-Key'],
    [{ secret: 'whsec_c2hvcnQ=' }, '/secret'],
    [{ max_per_second: 0 }, '/max_per_second'],
    [{ scope: {} }, '/scope'],
  ] as const) {
    const answer = await api.webhooks('POST', '', { ...base, ...more });
    t.equal(answer.status, 422, JSON.stringify(more));
    t.match(answer.body, { errors: [{ path }] }, answer.text);
  }
});

void t.test('viewers see the origin and change nothing, others see nothing', async (t) => {
  const api = await webhooksApi(t);
  const { id } = await api.webhook({ url: 'https://hooks.example/in/key' });
  await storeEvents(api.database.worker, api.workspaceId, [{}]);
  const [delivery] = (await api.webhooks('GET', `/${id}/deliveries`)).body['deliveries'] as { id: number }[];
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const asViewer = { token: viewer.accessToken };
  const seen = await api.webhooks('GET', `/${id}`, undefined, asViewer);
  t.match(seen, { status: 200, body: { url: 'https://hooks.example' } });
  t.equal((await api.webhooks('PATCH', `/${id}`, { name: 'x' }, asViewer)).status, 403);
  t.equal((await api.webhooks('POST', `/${id}/test`, {}, asViewer)).status, 403);
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['POST', '/secret'],
    ['GET', '/deliveries'],
    ['GET', `/deliveries/${delivery?.id}`],
    ['POST', `/deliveries/${delivery?.id}/redeliver`],
    ['GET', '/stats'],
    ['GET', '/dlq'],
    ['POST', `/dlq/${delivery?.id}/retry`],
    ['POST', `/dlq/${delivery?.id}/resolve`],
  ] as const) {
    const body = method === 'PATCH' ? { name: 'x' } : undefined;
    t.equal((await api.webhooks(method, `/${id}${path}`, body, stranger)).status, 404, `${method} ${path}`);
  }
});

void t.test('events are queued by type, scope and maintenance, once, and missed while it is off', async (t) => {
  const api = await webhooksApi(t);
  const { worker } = api.database;
  const [one, other] = [await api.monitor(), await api.monitor()];
  const url = 'https://hooks.example/';
  const all = await api.webhook({ url });
  const scoped = await api.webhook({
    url,
    events: ['monitor.*', 'incident.*'],
    scope: { subjects: [{ type: 'monitor', id: one.id }] },
    during_maintenance: 'skip',
  });
  const off = await api.webhook({ url, is_active: false });
  await storeEvents(worker, api.workspaceId, [
    { subjectId: one.id },
    { subjectId: other.id },
    { subjectId: one.id, data: { in_maintenance: true } },
    { type: 'probe.offline' },
    {
      type: 'incident.opened',
      subjectId: 9,
      data: {
        members: [
          { type: 'monitor', id: other.id },
          { type: 'monitor', id: one.id },
        ],
      },
    },
  ]);
  const counts = async (id: number) => {
    const { queued, missed } = (await api.webhooks('GET', `/${id}`)).body;
    return { queued, missed };
  };
  t.same(await counts(all.id), { queued: 4, missed: 0 });
  t.same(await counts(scoped.id), { queued: 2, missed: 0 });
  t.same(await counts(off.id), { queued: 0, missed: 4 });
  await api.webhooks('PATCH', `/${all.id}`, { is_active: false });
  t.same(await counts(all.id), { queued: 0, missed: 4 });
  t.match(await api.webhooks('POST', `/${all.id}/redeliver`, { since: '2020-01-01T00:00:00Z', only: 'missed' }), {
    status: 409,
    body: { code: 'webhook_inactive' },
  });
  await api.webhooks('PATCH', `/${all.id}`, { is_active: true });
  t.same(await counts(all.id), { queued: 0, missed: 4 }, 're-enabling tells what was missed and sends nothing');
  const caught = await api.webhooks('POST', `/${all.id}/redeliver`, { since: '2020-01-01T00:00:00Z', only: 'missed' });
  t.match(caught, { status: 202, body: { queued: 4 } }, caught.text);
  t.equal(
    (await api.webhooks('POST', `/${all.id}/redeliver`, { since: '2020-01-01T00:00:00Z', only: 'all' })).status,
    409,
    'one replay at a time',
  );
  const late = await api.webhook({ url });
  const replayed = await api.webhooks('POST', `/${late.id}/redeliver`, { since: '2020-01-01T00:00:00Z', only: 'all' });
  t.match(replayed, { status: 202, body: { queued: 4 } }, 'also what was before it');
  await api.call('DELETE', `/api/v1/monitors/${one.id}`, { token: api.token });
  t.match((await api.webhooks('GET', `/${scoped.id}`)).body, { disabled_reason: 'scope_empty' });
  t.ok(await worker.exists(sql.unsafe`select from webhook_deliveries`));
});
