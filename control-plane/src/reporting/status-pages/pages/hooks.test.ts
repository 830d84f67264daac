import t from 'tap';
import { z } from 'zod';
import { emptyDeletedWorkspaces } from '../../../monitoring/monitors/of-deleted-workspaces/job.ts';
import type { Bus } from '../../../platform/bus/bus.ts';
import { sql } from '../../../platform/database/pools.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { forgetOldPages, leavePagesOfDeleted, removePagesOfWorkspace, statusPagesCapability } from '../index.ts';
import { pagesApi } from './testing.ts';

void t.test('what is deleted leaves its pages, and a page that is empty says so', async (t) => {
  const api = await pagesApi(t);
  const subjects = await api.subjects();
  const items = (['monitor', 'heartbeat', 'webhook_check', 'group'] as const).map((type) => ({
    type,
    id: subjects[type],
  }));
  const { id } = await api.page({ items });
  await api.page({ name: 'Other' });
  await api.changed();
  const gone = async (path: string) => {
    const { status } = await api.call('DELETE', path, { token: api.token });
    if (status >= 300) throw new Error(`${path}: ${status}`);
  };
  await gone(`/api/v1/monitors/${subjects.monitor}`);
  t.match(await api.read(id), { version: 1, is_empty: false });
  t.same(
    (await api.read(id)).items.map(({ type, position }) => [type, position]),
    [
      ['heartbeat', 0],
      ['webhook_check', 1],
      ['group', 2],
    ],
  );
  t.same(await api.changed(), [id]);
  await gone(`/api/v1/heartbeats/${subjects.heartbeat}`);
  await gone(`/api/v1/webhook-checks/${subjects.webhook_check}`);
  await gone(`/api/v1/monitor-groups/${subjects.group}`);
  const emptied = await api.read(id);
  t.match(emptied, { items: [], is_empty: true });
  t.match(await api.pages('PUT', `/${id}`, emptied), { status: 200, body: { version: 1 } });
  const { monitor } = await api.subjects();
  t.match((await api.pages('POST', `/${id}/monitors`, { monitor_ids: [monitor] })).body, { is_empty: false });
});

void t.test('a monitor that moves to another workspace leaves the pages of the old one', async (t) => {
  const api = await pagesApi(t);
  const { monitor } = await api.subjects();
  const { id } = await api.page({ items: [{ type: 'monitor', id: monitor }] });
  const other = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'Other' } });
  await api.changed();
  const moved = await api.call('POST', '/api/v1/monitors/bulk', {
    token: api.token,
    body: { action: 'move', monitor_ids: [monitor], workspace_id: other.body['id'] },
  });
  t.match(moved.body, { ok: 1 }, moved.text);
  t.match(JSON.stringify(moved.body), new RegExp(`"type":"status_page","id":${id}`), 'and the answer says so');
  t.match(await api.read(id), { is_empty: true });
  t.same(await api.changed(), [id]);
});

void t.test('monitors of one page that are deleted side by side do not wait for each other for ever', async (t) => {
  const api = await pagesApi(t);
  const monitors = await api.manyMonitors(6);
  const pages = await Promise.all(
    [1, 2, 3].map(() => api.page({ items: monitors.map((id) => ({ type: 'monitor', id })) })),
  );
  const answers = await Promise.all([
    ...monitors.map((id) => api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })),
    ...pages.map(({ id }, index) => api.pages('POST', `/${id}/monitors`, { monitor_ids: [monitors[index]] })),
  ]);
  t.ok(
    answers.every(({ status }) => [200, 204, 404].includes(status)),
    JSON.stringify(answers.map(({ status }) => status)),
  );
  for (const { id } of pages) t.match(await api.read(id), { is_empty: true });
});

void t.test('a workspace that is deleted takes its pages along; their slugs stay taken', async (t) => {
  const api = await pagesApi(t);
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'Other' } });
  const workspaceId = Number(made.body['id']);
  const page = await api.page({ workspace_id: workspaceId, slug: 'former', is_published: true });
  await api.pages('PUT', `/${page.id}`, { slug: 'present' });
  const kept = await api.page();
  const body = { workspace_id: workspaceId, url: 'https://example.com/' };
  const monitor = Number((await api.call('POST', '/api/v1/monitors', { token: api.token, body })).body['id']);
  await api.pages('POST', `/${page.id}/monitors`, { monitor_ids: [monitor] });
  await api.changed();
  t.equal((await api.call('DELETE', `/api/v1/workspaces/${workspaceId}`, { token: api.token })).status, 204);
  const readers = () =>
    api.database.worker.anyFirst(sql.type(z.object({ id: z.number() }))`
      select p.id from status_pages p where p.deleted_at is null order by p.id`);
  const empty = () => emptyDeletedWorkspaces(api.context, [leavePagesOfDeleted], () => true, [removePagesOfWorkspace]);
  await empty();
  t.same(await readers(), [kept.id]);
  t.same(await api.changed(), [page.id, page.id], 'once for the monitor, once for the page');
  await empty();
  for (const slug of ['former', 'present']) {
    t.match(await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x1', slug }), { status: 409 });
  }
  await api.database.worker.query(sql.unsafe`update status_pages set deleted_at = deleted_at - interval '31 days'`);
  t.equal(await forgetOldPages(api.database.worker), 1);
});

void t.test('whoever keeps prepared pages is told of each change', async (t) => {
  const api = await pagesApi(t);
  const hints: unknown[] = [];
  const bus: Bus = {
    get connection(): never {
      throw new Error('this test has no broker');
    },
    hint: (...hint) => void hints.push(hint),
    ask: api.context.bus.ask,
    listen: api.context.bus.listen,
  };
  const { id } = await api.page();
  const consumers = statusPagesCapability.consumers ?? [];
  while ((await workOnce({ ...api.context, database: api.database, bus }, consumers)) > 0);
  t.same(hints, [['status-pages', { id, workspace_id: api.workspaceId }]]);
});
