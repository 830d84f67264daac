import { setTimeout } from 'node:timers/promises';
import { statusPageLimits } from '@parallax/api-contract';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { forgetOldPages } from '../index.ts';
import { pagesApi } from './testing.ts';
import type { PagesApi } from './testing.ts';

const dayMs = 86_400_000;

/** The page that readers of a slug are led to, with the slug that it has now. */
const led = async (api: PagesApi, slug: string) =>
  inScope(api.database.api, { userId: null, workspaceIds: [] }, async (tx) => {
    const [row] = await tx.any(sql.type(z.object({ page_id: z.number().nullable(), slug: z.string().nullable() }))`
      select page_id, slug from identity_status_page(${slug})`);
    return row === undefined || row.page_id === null ? null : [row.page_id, row.slug];
  });

/** How many days slugs are kept from others still. */
const kept = async (api: PagesApi): Promise<Readonly<Record<string, number>>> => {
  const rows = await api.database.worker.any(sql.type(z.object({ slug: z.string(), taken_until: z.number() }))`
    select slug, taken_until from status_page_slugs order by slug`);
  return Object.fromEntries(rows.map((row) => [row.slug, Math.round((row.taken_until - Date.now()) / dayMs)]));
};

const taken = { status: 409, body: { code: 'slug_taken', errors: [{ path: '/slug', code: 'slug_taken' }] } };

void t.test('a slug is made from the name, and gets a number where it is taken', async (t) => {
  const api = await pagesApi(t);
  t.match(await api.page({ name: 'Магазин Ёлка' }), { slug: 'magazin-elka' });
  t.match(await api.page({ name: 'Ünïcode Café' }), { slug: 'unicode-cafe' });
  t.match(await api.page({ name: 'Shop' }), { slug: 'shop' });
  t.match(await api.page({ name: 'SHOP!' }), { slug: 'shop-2' });
  t.match(await api.page({ name: 'Shop', slug: null }), { slug: 'shop-3' });
  t.match(await api.page({ name: 'API' }), { slug: 'api-2' });
  const { id } = await api.page({ name: 'Other', slug: 'my-own' });
  t.match((await api.pages('PUT', `/${id}`, { name: 'Another' })).body, { slug: 'my-own' }, 'a new name keeps it');
  t.match((await api.pages('PUT', `/${id}`, { name: 'Shop', slug: null })).body, { slug: 'shop-4' });
  t.match(
    (await api.pages('PUT', `/${id}`, { slug: null })).body,
    { slug: 'shop-4', version: 3 },
    'it is that of the name',
  );
});

void t.test('a slug is unique over the installation, whoever asks', async (t) => {
  const api = await pagesApi(t);
  const first = await api.page({ slug: 'status-of-shop' });
  const other = await api.page({ slug: 'other' });
  t.match(await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x1', slug: 'other' }), taken);
  t.match(await api.pages('PUT', `/${other.id}`, { slug: first.slug, name: 'changed' }), taken);
  t.match(await api.read(other.id), { name: other.name, version: 1 }, 'nothing of a refused change stays');
  const stranger = await api.account('stranger@example.com');
  const token = { token: stranger.accessToken };
  const list = await api.call('GET', '/api/v1/workspaces', token);
  const [own] = list.body['workspaces'] as { readonly id: number }[];
  t.match(await api.pages('POST', '', { workspace_id: own?.id, name: 'x1', slug: first.slug }, token), taken);
  t.match(await api.pages('POST', '', { workspace_id: own?.id, name: 'Status of Shop' }, token), {
    status: 201,
    body: { slug: 'status-of-shop-2' },
  });
});

void t.test('two that want one slug at the same time: one has it', async (t) => {
  const api = await pagesApi(t);
  const given = { workspace_id: api.workspaceId, name: 'x1', slug: 'race' };
  const both = await Promise.all([api.pages('POST', '', given), api.pages('POST', '', given)]);
  t.same(new Set(both.map(({ status }) => status)), new Set([201, 409]));
  t.match(
    both.find(({ status }) => status === 409),
    taken,
  );
  const named = { workspace_id: api.workspaceId, name: 'Named' };
  const many = await Promise.all(Array.from({ length: 4 }, () => api.pages('POST', '', named)));
  t.same(new Set(many.map(({ body }) => body['slug'])), new Set(['named', 'named-2', 'named-3', 'named-4']));
});

void t.test('who waits for a slug that is being given up does not get it', async (t) => {
  const api = await pagesApi(t);
  const { id, slug } = await api.page({ slug: 'given-up' });
  const giving = await api.database.raw.connect();
  let isOver = false;
  try {
    await giving.query('begin');
    await giving.query(
      `insert into status_page_slugs (slug, workspace_id, page_id, taken_until) values ($1, $2, $3, now() + interval '90 days')`,
      [slug, api.workspaceId, id],
    );
    await giving.query(`update status_pages set slug = 'new' where id = $1`, [id]);
    const answer = api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x1', slug });
    const { rows } = await giving.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    const waits = () =>
      api.database.worker.exists(
        sql.unsafe`select from pg_locks where not granted and ${pid} = any (pg_blocking_pids(pid))`,
      );
    for (const deadline = Date.now() + 10_000; !(await waits()) && Date.now() < deadline; ) await setTimeout(20);
    t.ok(await waits(), 'it waits for the index');
    await giving.query('commit');
    isOver = true;
    t.match(await answer, taken);
  } finally {
    if (!isOver) await giving.query('rollback');
    giving.release();
  }
});

void t.test('a former slug leads to its page for 90 days, and the page may take it again', async (t) => {
  const api = await pagesApi(t);
  const { id } = await api.page({ slug: 'first', is_published: true });
  await api.pages('PUT', `/${id}`, { slug: 'second' });
  t.match((await api.pages('PUT', `/${id}`, { slug: 'third' })).body, { slug: 'third', url: /\/status\/third$/ });
  t.same(await led(api, 'first'), [id, 'third']);
  t.same(await led(api, 'second'), [id, 'third']);
  t.same(await led(api, 'third'), [id, 'third']);
  t.same(await kept(api), { first: 90, second: 90 });
  t.match(await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x1', slug: 'first' }), taken);
  t.equal((await api.pages('PUT', `/${id}`, { slug: 'first' })).status, 200);
  t.same(await kept(api), { second: 90, third: 90 });
  await api.pages('PUT', `/${id}`, { is_published: false });
  t.equal(await led(api, 'second'), null, 'an unpublished page has no readers');
  await api.pages('PUT', `/${id}`, { is_published: true });
  await api.database.worker.query(
    sql.unsafe`update status_page_slugs set taken_until = now() - interval '1 second' where slug = 'second'`,
  );
  t.equal(await led(api, 'second'), null, 'its time is over');
  const stranger = await api.account('stranger@example.com');
  const token = { token: stranger.accessToken };
  const list = await api.call('GET', '/api/v1/workspaces', token);
  const [own] = list.body['workspaces'] as { readonly id: number }[];
  const next = await api.pages(
    'POST',
    '',
    { workspace_id: own?.id, name: 'x1', slug: 'second', is_published: true },
    token,
  );
  t.equal(next.status, 201, 'anybody may take it then, before it is forgotten');
  t.same(await led(api, 'second'), [next.body['id'], 'second']);
  t.equal((await api.pages('PUT', `/${String(next.body['id'])}`, { slug: 'fourth' }, token)).status, 200);
  t.same(await kept(api), { second: 90, third: 90 });
});

void t.test(
  'the slugs of a deleted page lead nowhere and stay taken for 30 days; then all of it is forgotten',
  async (t) => {
    const api = await pagesApi(t);
    const { id } = await api.page({ slug: 'first', is_published: true });
    await api.pages('PUT', `/${id}`, { slug: 'second' });
    await api.pages('DELETE', `/${id}`);
    t.equal(await led(api, 'first'), null);
    t.equal(await led(api, 'second'), null);
    t.same(await kept(api), { first: 90, second: 30 });
    for (const slug of ['first', 'second']) {
      t.match(await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x1', slug }), taken);
    }
    t.equal(await forgetOldPages(api.database.worker), 0, 'nothing is over yet');
    await api.database.worker.query(sql.unsafe`update status_pages set deleted_at = deleted_at - interval '30 days'`);
    await api.database.worker.query(
      sql.unsafe`update status_page_slugs set taken_until = taken_until - interval '30 days'`,
    );
    t.equal(await forgetOldPages(api.database.worker), 2, 'the page, and the slug that it had');
    t.same(await kept(api), { first: 60 });
    t.match(await api.page({ slug: 'second' }), { slug: 'second' });
  },
);

void t.test('a workspace keeps a bounded number of slugs from others', async (t) => {
  const api = await pagesApi(t);
  const { heldSlugs } = statusPageLimits;
  await api.database.worker.query(sql.unsafe`
    insert into status_page_slugs (slug, workspace_id, taken_until)
    select 'held-' || n, ${api.workspaceId}, now() + make_interval(mins => n) from generate_series(1, ${heldSlugs}) n`);
  const { id } = await api.page({ slug: 'first' });
  await api.pages('PUT', `/${id}`, { slug: 'second' });
  const slugs = Object.keys(await kept(api));
  t.equal(slugs.length, heldSlugs);
  t.ok(slugs.includes('first') && !slugs.includes('held-1'), 'the one that ends first is free');
});
