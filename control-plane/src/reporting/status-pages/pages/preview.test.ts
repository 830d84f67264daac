import t from 'tap';
import { z } from 'zod';
import { addMember, setStatus } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { pagesApi } from './testing.ts';

void t.test('a page is shown as it would look, with what is measured now, and nothing is stored', async (t) => {
  const api = await pagesApi(t);
  const subjects = await api.subjects();
  await setStatus(api.database, subjects.monitor, 'DOWN');
  const items = [
    { type: 'monitor', id: subjects.monitor, display_name: 'Checkout', group: 'Shop' },
    { type: 'heartbeat', id: subjects.heartbeat, display_name: 'Invoices', show_uptime: false },
    { type: 'webhook_check', id: subjects.webhook_check, show_response_times: true },
    { type: 'group', id: subjects.group, display_name: 'All of <it>' },
  ];
  const fields = {
    name: 'Shop & more',
    items,
    theme: { light: { accent: '#224488' } },
    announcement: { text: 'We **move** soon.' },
    days: 30,
    timezone: 'Europe/Berlin',
  };
  const preview = (body: Record<string, unknown>, token = api.token) =>
    api.call('POST', '/api/v1/status-pages/preview', { token, body: { workspace_id: api.workspaceId, ...body } });
  const shown = await preview(fields);
  t.equal(shown.status, 200, shown.text.slice(0, 500));
  t.equal(shown.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(shown.headers.get('cache-control'), 'no-store');
  for (const part of [
    'Shop &amp; more',
    'Checkout',
    'Invoices',
    'deploys',
    'All of &lt;it&gt;',
    '<strong>move</strong>',
    '#224488',
  ]) {
    t.match(shown.text, part);
  }
  t.ok(/Checkout[\s\S]*Invoices/.test(shown.text), 'in the order of the list');
  t.equal(
    await api.database.worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select (select count(*) from status_pages)::integer + (select count(*) from status_page_items)::integer as n`),
    0,
  );

  const page = await api.page({ ...fields, slug: 'shop', is_published: true });
  const real = await api.call('GET', '/status/shop', { headers: { host: 'parallax.example' } });
  t.equal(real.status, 200);
  t.equal(
    shown.headers.get('content-security-policy'),
    real.headers.get('content-security-policy'),
    'the policy of a page',
  );
  const bare = (html: string) =>
    html
      .replaceAll(/preview\d{5}/g, 'id')
      .replaceAll(page.public_id, 'id')
      .replaceAll(/\b[a-z0-9]{12}\b/g, 'id')
      .replaceAll(/shop-more/g, 'shop')
      .replaceAll(/\d\d:\d\d(:\d\d)?/g, 'time');
  t.equal(bare(shown.text), bare(real.text), 'it is what readers get');
  t.match((await preview({ ...fields, locale: 'ru', locales: ['ru'] })).text, '<html lang="ru"');
  t.equal(
    (await preview({ ...fields, slug: 'shop', password: 'correct horse' })).status,
    200,
    'a taken slug is no matter, nor is a password',
  );

  t.equal((await preview({ name: 'x', theme: { light: { text: '#ffffff' } } })).status, 422);
  t.equal((await preview({ name: 'x', items: [{ type: 'monitor', id: 2_000_000_000 }] })).status, 404);
  const viewer = await api.account('viewer@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  t.equal((await preview(fields, viewer.accessToken)).status, 403, 'viewers do not');
  const eve = await api.account('eve@example.com');
  t.equal((await preview(fields, eve.accessToken)).status, 404);
  const foreign = await api.call('POST', '/api/v1/monitors', {
    token: eve.accessToken,
    body: { workspace_id: await ownWorkspace(eve.accessToken), url: 'https://eve.example/' },
  });
  t.equal((await preview({ name: 'x', items: [{ type: 'monitor', id: Number(foreign.body['id']) }] })).status, 404);

  async function ownWorkspace(token: string): Promise<number> {
    const { body } = await api.call('GET', '/api/v1/workspaces', { token });
    return (body['workspaces'] as { id: number }[])[0]?.id ?? 0;
  }
});
