import t from 'tap';
import { statusPageLimits } from '@parallax/api-contract';
import { z } from 'zod';
import { limitsWith } from '../../../identity/plans/index.ts';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { pagesApi } from './testing.ts';

void t.test('a page is made, listed, read, changed and deleted', async (t) => {
  const api = await pagesApi(t);
  const made = await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'Shop' });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.match(made.body, {
    workspace_id: api.workspaceId,
    public_id: /^[a-z0-9]{12}$/,
    name: 'Shop',
    description: '',
    slug: 'shop',
    url: 'https://parallax.example/status/shop',
    is_published: false,
    is_empty: true,
    noindex: false,
    items: [],
    locale: 'en',
    locales: ['en', 'ru'],
    timezone: 'UTC',
    days: 90,
    theme: null,
    links: [],
    announcement: null,
    embed_origins: [],
    automatic_incidents: true,
    delay_minutes: 0,
    notify_automatic: true,
    version: 1,
  });
  t.equal(made.headers.get('location'), `/api/v1/status-pages/${id}`);
  const read = await api.pages('GET', `/${id}`);
  t.equal(read.headers.get('etag'), '"1"');
  t.same(read.body, made.body);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const changes = {
    name: 'Shop and more',
    description: 'What we sell',
    is_published: true,
    noindex: true,
    locale: 'ru',
    timezone: 'Europe/Berlin',
    days: 30,
    theme: {
      scheme: 'dark',
      light: { background: null, surface: null, text: null, accent: null },
      dark: { background: '#000000', surface: null, text: null, accent: '#ff8800' },
      font: 'serif',
      radius: 0,
    },
    links: [
      { label: 'Help', url: 'https://shop.example/help' },
      { label: 'Mail', url: 'mailto:help@shop.example' },
    ],
    announcement: { text: 'We move.\n\nSoon.', until },
    embed_origins: ['https://shop.example', 'http://localhost:3000'],
    automatic_incidents: false,
    delay_minutes: 5,
    notify_automatic: false,
  };
  const changed = await api.pages('PUT', `/${id}`, changes);
  t.equal(changed.status, 200, changed.text);
  const { updated_at: updatedAt, ...rest } = changed.body;
  t.same(rest, { ...without(made.body, 'updated_at'), ...changes, version: 2 });
  t.ok(String(updatedAt) > String(made.body['updated_at']));
  t.match((await api.pages('GET', '?search=MORE')).body, { status_pages: [{ id }], total: 1 });
  t.match((await api.pages('GET', `?search=none&workspace_id=${api.workspaceId}`)).body, { total: 0 });
  t.equal((await api.pages('DELETE', `/${id}`)).status, 204);
  t.equal((await api.pages('GET', `/${id}`)).status, 404);
  t.equal((await api.pages('DELETE', `/${id}`)).status, 404);
  t.match((await api.pages('GET', '')).body, { total: 0 });
  t.same(
    await api.database.worker.anyFirst(sql.type(z.object({ action: z.string() }))`
      select action from audit_log where subject_type = 'status_page' and subject_id = ${id} order by id`),
    ['status_page.created', 'status_page.updated', 'status_page.deleted'],
  );
  t.same(await api.changed(), [id, id, id]);
});

void t.test(
  'an answer may be sent back, null goes back to the default, and what changes nothing is no version',
  async (t) => {
    const api = await pagesApi(t);
    const { monitor, group } = await api.subjects();
    const page = await api.page({
      items: [
        { type: 'monitor', id: monitor, display_name: 'Checkout', group: 'Shop' },
        { type: 'group', id: group },
      ],
      theme: { light: { accent: '#224488' } },
      announcement: { text: 'soon', until: '2099-01-01T00:00:00Z' },
      locales: ['ru'],
      links: [{ label: 'x', url: 'https://x.example/' }],
      embed_origins: ['https://X.example/'],
      days: 60,
      delay_minutes: 3,
    });
    t.match(page, { locale: 'ru', embed_origins: ['https://x.example'] });
    await api.changed();
    t.match(await api.pages('PUT', `/${page.id}`, page), { status: 200, body: { version: 1 } });
    t.same(await api.changed(), [], 'nobody is told of nothing');
    await api.database.worker.query(sql.unsafe`update status_pages set announcement_until = now() - interval '1 day'`);
    const later = await api.read(page.id);
    t.match(
      await api.pages('PUT', `/${page.id}`, later),
      { status: 200 },
      'an announcement that is over may be repeated',
    );
    t.match(await api.pages('PUT', `/${page.id}`, { announcement: { text: 'x', until: '2020-01-01T00:00:00Z' } }), {
      status: 422,
      body: { errors: [{ path: '/announcement/until', code: 'in_the_past' }] },
    });
    const cleared = await api.pages('PUT', `/${page.id}`, {
      description: null,
      is_published: null,
      noindex: null,
      items: null,
      locale: null,
      locales: null,
      timezone: null,
      days: null,
      theme: null,
      links: null,
      announcement: null,
      embed_origins: null,
      automatic_incidents: null,
      delay_minutes: null,
      notify_automatic: null,
      slug: null,
    });
    t.match(cleared, {
      status: 200,
      body: {
        slug: 'shop',
        items: [],
        is_empty: true,
        locale: 'en',
        locales: ['en', 'ru'],
        timezone: 'UTC',
        days: 90,
        theme: null,
        links: [],
        announcement: null,
        embed_origins: [],
        delay_minutes: 0,
      },
    });
    for (const body of [
      { version: 9 },
      { url: 'https://other.example' },
      { public_id: 'a'.repeat(12) },
      { is_empty: false },
    ]) {
      t.match(await api.pages('PUT', `/${page.id}`, body), { status: 422, body: { code: 'read_only' } });
    }
  },
);

void t.test('the time zone is that of the account, and If-Match holds', async (t) => {
  const api = await pagesApi(t);
  await api.database.worker.query(sql.unsafe`update users set timezone = 'Asia/Tokyo' where id = ${api.owner.id}`);
  const { id } = await api.page({ timezone: 'Europe/Berlin' });
  t.match((await api.pages('PUT', `/${id}`, { timezone: null })).body, { timezone: 'Asia/Tokyo', version: 2 });
  t.match(await api.page(), { timezone: 'Asia/Tokyo' });
  const old = { headers: { 'if-match': '"1"' } };
  for (const [method, path, body] of [
    ['PUT', '', { name: 'x' }],
    ['POST', '/monitors', { monitor_ids: [1] }],
    ['DELETE', '/monitors/1', undefined],
    ['DELETE', '', undefined],
  ] as const) {
    t.equal((await api.pages(method, `/${id}${path}`, body, old)).status, 412, `${method} ${path}`);
  }
  t.equal((await api.pages('PUT', `/${id}`, { name: 'x' }, { headers: { 'if-match': '"2"' } })).status, 200);
});

void t.test('a page is made once under one idempotency key', async (t) => {
  const api = await pagesApi(t);
  const body = { workspace_id: api.workspaceId, name: 'Once' };
  const headers = { 'idempotency-key': 'once' };
  const first = await api.pages('POST', '', body, { headers });
  const second = await api.pages('POST', '', body, { headers });
  t.equal(first.status, 201);
  t.same(second.body, first.body);
  t.match((await api.pages('GET', '')).body, { total: 1 });
});

void t.test('what cannot be is refused by its place', async (t) => {
  const api = await pagesApi(t);
  const base = { workspace_id: api.workspaceId, name: 'x1' };
  const { monitor } = await api.subjects();
  const item = { type: 'monitor', id: monitor };
  for (const [more, path] of [
    [{ name: '' }, '/name'],
    [{ slug: 'x' }, '/slug'],
    [{ slug: 'Shop' }, '/slug'],
    [{ slug: '-shop' }, '/slug'],
    [{ slug: 'a'.repeat(64) }, '/slug'],
    [{ slug: 'admin' }, '/slug'],
    [{ locale: 'de' }, '/locale'],
    [{ locale: 'ru', locales: ['en'] }, '/locale'],
    [{ locales: [] }, '/locales'],
    [{ timezone: 'Mars/Base' }, '/timezone'],
    [{ days: 45 }, '/days'],
    [{ delay_minutes: 61 }, '/delay_minutes'],
    [{ description: 'x'.repeat(2_001) }, '/description'],
    [{ items: [{ type: 'probe', id: 1 }] }, '/items/0/type'],
    [{ items: [item, item] }, '/items/1/id'],
    [{ items: [{ ...item, display_name: 'x'.repeat(201) }] }, '/items/0/display_name'],
    [{ items: [{ ...item, description: 'x'.repeat(501) }] }, '/items/0/description'],
    [{ items: Array.from({ length: 201 }, (_, index) => ({ type: 'monitor', id: index + 1 })) }, '/items'],
    [{ theme: { light: { text: 'red' } } }, '/theme/light/text'],
    [{ theme: { scheme: 'blue' } }, '/theme/scheme'],
    [{ theme: { radius: 25 } }, '/theme/radius'],
    [{ theme: { css: 'body{}' } }, '/theme/css'],
    [{ links: Array.from({ length: 6 }, () => ({ label: 'x', url: 'https://x.example' })) }, '/links'],
    [{ links: [{ label: 'x', url: 'javascript:alert(1)' }] }, '/links/0/url'],
    [{ links: [{ label: 'x', url: 'mailto:a@b.example?bcc=c@d.example' }] }, '/links/0/url'],
    [{ announcement: { text: '' } }, '/announcement/text'],
    [{ announcement: { text: 'x', until: '2020-01-01T00:00:00Z' } }, '/announcement/until'],
    [{ embed_origins: ['https://x.example/path'] }, '/embed_origins/0'],
    [{ embed_origins: ['https://*.example'] }, '/embed_origins/0'],
    [{ embed_origins: ["https://x.example;script-src 'unsafe-inline'"] }, '/embed_origins/0'],
    [{ embed_origins: ['*'] }, '/embed_origins/0'],
    [{ embed_origins: Array.from({ length: 21 }, (_, index) => `https://h${index}.example`) }, '/embed_origins'],
  ] as const) {
    const answer = await api.pages('POST', '', { ...base, ...more });
    t.equal(answer.status, 422, JSON.stringify(more));
    t.match(answer.body, { errors: [{ path }] }, answer.text);
  }
  t.match((await api.pages('GET', '')).body, { total: 0 });
});

void t.test('colours that can hardly be told apart are refused, with the nearest that pass', async (t) => {
  const api = await pagesApi(t);
  const { id } = await api.page();
  const refused = await api.pages('PUT', `/${id}`, {
    theme: { light: { text: '#999999' }, dark: { accent: '#222222' } },
  });
  t.match(refused, {
    status: 422,
    body: {
      code: 'contrast_too_low',
      errors: [
        { path: '/theme/light/text', code: 'contrast_too_low', message: /nearest colour that passes is #[0-9a-f]{6}/ },
        { path: '/theme/dark/accent', code: 'contrast_too_low', message: /shapes need 3/ },
      ],
    },
  });
  const nearest = /is (#[0-9a-f]{6})/;
  const errors = refused.body['errors'] as { readonly message: string }[];
  const [text, accent] = errors.map(({ message }) => nearest.exec(message)?.[1]);
  const taken = await api.pages('PUT', `/${id}`, { theme: { light: { text }, dark: { accent } } });
  t.match(taken, { status: 200, body: { theme: { light: { text }, dark: { accent } } } }, taken.text);
  const only = { scheme: 'light', dark: { text: '#000000' } };
  t.match(
    await api.pages('PUT', `/${id}`, { theme: only }),
    { status: 200 },
    'colours that nobody sees are not judged',
  );
});

void t.test('viewers read, editors write, others see nothing', async (t) => {
  const api = await pagesApi(t);
  const { monitor } = await api.subjects();
  const { id } = await api.page({ items: [{ type: 'monitor', id: monitor }] });
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  const asViewer = { token: viewer.accessToken };
  t.match((await api.pages('GET', `/${id}`, undefined, asViewer)).body, { id, items: [{ id: monitor }] });
  t.match((await api.pages('GET', '', undefined, asViewer)).body, { total: 1 });
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  t.match((await api.pages('GET', '', undefined, stranger)).body, { total: 0 });
  t.equal((await api.pages('GET', `?workspace_id=${api.workspaceId}`, undefined, stranger)).status, 404);
  const writes = [
    ['PUT', `/${id}`, { name: 'x' }],
    ['POST', `/${id}/monitors`, { monitor_ids: [monitor] }],
    ['DELETE', `/${id}/monitors/${monitor}`, undefined],
    ['DELETE', `/${id}`, undefined],
    ['POST', '', { workspace_id: api.workspaceId, name: 'x' }],
  ] as const;
  for (const [method, path, body] of writes) {
    t.equal((await api.pages(method, path, body, asViewer)).status, 403, `${method} ${path} by a viewer`);
    t.equal((await api.pages(method, path, body, stranger)).status, 404, `${method} ${path} by a stranger`);
  }
  t.equal((await api.pages('GET', `/${id}`, undefined, stranger)).status, 404);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  for (const [method, path, body] of writes.slice(0, 3)) {
    const { status } = await api.pages(method, path, body, { token: editor.accessToken });
    t.ok(status === 200 || status === 204, `${method} ${path} by an editor: ${status}`);
  }
});

void t.test('a workspace has so many pages and no more', async (t) => {
  const api = await pagesApi(t);
  const { ofWorkspace } = statusPageLimits;
  await api.database.worker.query(sql.unsafe`
    insert into status_pages (workspace_id, name, slug, timezone)
    select ${api.workspaceId}, 'many', 'many-' || n, 'UTC' from generate_series(1, ${ofWorkspace - 1}) n`);
  const body = { workspace_id: api.workspaceId, name: 'Last' };
  const answers = await Promise.all([1, 2, 3].map(() => api.pages('POST', '', body)));
  t.same(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409],
  );
  t.match(answers.find(({ status }) => status === 409)?.body, { code: 'too_many_status_pages' });
  const id = answers.find(({ status }) => status === 201)?.body['id'];
  await api.pages('DELETE', `/${String(id)}`);
  t.equal((await api.pages('POST', '', body)).status, 201, 'a deleted one makes room');
});

function without(fields: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name));
}

void t.test('an account whose address is not confirmed keeps its pages to itself', async (t) => {
  const api = await pagesApi(t, { isPublished: true, limits: limitsWith() });
  await api.database.worker.query(sql.unsafe`update users set email_verified = false, is_administrator = false`);
  const page = { workspace_id: api.workspaceId, name: 'Your bank' };
  const refusal = { status: 403, body: { code: 'address_unconfirmed' } };
  t.match(await api.pages('POST', '', { ...page, is_published: true }), refusal);
  const { id } = await api.page(page);
  t.match(await api.pages('PUT', `/${id}`, { is_published: true }), refusal);
  t.equal((await api.read(id)).is_published, false);
  await api.database.worker.query(sql.unsafe`update users set email_verified = true`);
  t.equal((await api.pages('PUT', `/${id}`, { is_published: true })).status, 200);
  await api.database.worker.query(sql.unsafe`update users set email_verified = false`);
  t.equal(
    (await api.pages('PUT', `/${id}`, { is_published: true, name: 'Shop' })).status,
    200,
    'what is public stays so',
  );
});
