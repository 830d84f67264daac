import { statusPageItemTypes, statusPageLimits } from '@parallax/api-contract';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { pagesApi } from './testing.ts';

void t.test('a page shows subjects of every type, in the order of the list', async (t) => {
  const api = await pagesApi(t);
  const subjects = await api.subjects();
  const items = statusPageItemTypes.map((type) => ({ type, id: subjects[type] }));
  const page = await api.page({
    items: [
      { ...items[0], display_name: ' Checkout ', description: 'Pays', group: 'Shop', show_response_times: true },
      { ...items[1], show_uptime: false, only_if_degraded: true },
      items[2],
      items[3],
    ],
  });
  t.match(page, {
    is_empty: false,
    items: [
      { ...items[0], position: 0, display_name: 'Checkout', description: 'Pays', group: 'Shop', show_uptime: true },
      { ...items[1], position: 1, display_name: null, group: null, show_uptime: false, only_if_degraded: true },
      { ...items[2], position: 2, show_response_times: false },
      { ...items[3], position: 3 },
    ],
  });
  const names = page.items.map(({ component_id: name }) => name);
  t.ok(names.every((name) => /^[a-z0-9]{12}$/.test(name)) && new Set(names).size === 4);
  const turned = await api.pages('PUT', `/${page.id}`, { items: page.items.toReversed() });
  t.match(turned.body, {
    version: 2,
    items: items.toReversed().map((item, position) => ({ ...item, position, component_id: names[3 - position] })),
  });
  t.match((await api.pages('PUT', `/${page.id}`, { items: page.items.toReversed() })).body, { version: 2 });
  const { monitor } = await api.subjects();
  const replaced = await api.pages('PUT', `/${page.id}`, {
    items: [
      { type: 'monitor', id: monitor },
      { ...items[0], group: 'Else' },
    ],
  });
  t.match(replaced.body, {
    items: [
      { type: 'monitor', id: monitor, component_id: /^[a-z0-9]{12}$/ },
      { ...items[0], component_id: names[0], display_name: null, description: '', group: 'Else' },
    ],
  });
  t.equal((await api.read(page.id)).items.length, 2);
});

void t.test('items are added behind those that are there, which stay as they are', async (t) => {
  const api = await pagesApi(t);
  const subjects = await api.subjects();
  const monitors = await api.manyMonitors(3);
  const page = await api.page({ items: [{ type: 'monitor', id: subjects.monitor, display_name: 'Checkout' }] });
  await api.changed();
  const added = await api.pages('POST', `/${page.id}/monitors`, {
    monitor_ids: [monitors[1], subjects.monitor, monitors[0]],
  });
  t.match(added, {
    status: 200,
    body: {
      version: 2,
      items: [page.items[0], { id: monitors[1], position: 1, display_name: null }, { id: monitors[0], position: 2 }],
    },
  });
  t.equal(added.headers.get('etag'), '"2"');
  const more = {
    items: [
      { type: 'monitor', id: subjects.monitor, display_name: 'Other' },
      { type: 'heartbeat', id: subjects.heartbeat, group: 'Jobs' },
    ],
  };
  t.match((await api.pages('POST', `/${page.id}/monitors`, more)).body, {
    version: 3,
    items: [page.items[0], {}, {}, { type: 'heartbeat', group: 'Jobs', position: 3 }],
  });
  t.match((await api.pages('POST', `/${page.id}/monitors`, more)).body, { version: 3 }, 'again changes nothing');
  t.same(await api.changed(), [page.id, page.id]);
  for (const body of [{}, { items: [] }, { monitor_ids: [] }, { ...more, monitor_ids: [monitors[2]] }]) {
    t.equal((await api.pages('POST', `/${page.id}/monitors`, body)).status, 422, JSON.stringify(body));
  }
  const twice = { monitor_ids: [monitors[2], monitors[2]] };
  t.match(await api.pages('POST', `/${page.id}/monitors`, twice), { body: { errors: [{ path: '/monitor_ids/1' }] } });
});

void t.test('an item is taken out by its type and number; one that is not there is 404', async (t) => {
  const api = await pagesApi(t);
  const { monitor, group, heartbeat, webhook_check: check } = await api.subjects();
  const { id } = await api.page({
    items: [
      { type: 'heartbeat', id: heartbeat },
      { type: 'monitor', id: monitor },
      { type: 'webhook_check', id: check },
      { type: 'group', id: group },
    ],
  });
  const gone = await api.pages('DELETE', `/${id}/monitors/${monitor}`);
  t.equal(gone.status, 204);
  t.equal(gone.headers.get('etag'), '"2"');
  t.equal((await api.pages('DELETE', `/${id}/monitors/${monitor}`)).status, 404);
  t.equal((await api.pages('DELETE', `/${id}/monitors/${heartbeat + 1_000}?type=heartbeat`)).status, 404);
  t.equal((await api.pages('DELETE', `/${id}/monitors/${group}?type=probe`)).status, 422);
  t.equal((await api.pages('DELETE', `/${id}/monitors/${heartbeat}?type=heartbeat`)).status, 204);
  t.equal((await api.pages('DELETE', `/${id}/monitors/${check}?type=webhook_check`)).status, 204);
  t.match(await api.read(id), { items: [{ type: 'group', id: group, position: 0 }], version: 4 });
  t.equal((await api.pages('DELETE', `/${id}/monitors/${group}?type=GROUP`)).status, 204);
  t.match(await api.read(id), { items: [], is_empty: true });
});

void t.test('what belongs to others or is not there is 404 by its place, and nothing is written', async (t) => {
  const api = await pagesApi(t);
  const { monitor } = await api.subjects();
  const stranger = await api.account('stranger@example.com');
  const token = { token: stranger.accessToken };
  const list = await api.call('GET', '/api/v1/workspaces', token);
  const [own] = list.body['workspaces'] as { readonly id: number }[];
  const body = { workspace_id: own?.id, url: 'https://example.com/' };
  const foreign = Number((await api.call('POST', '/api/v1/monitors', { ...token, body })).body['id']);
  const { id } = await api.page({ items: [{ type: 'monitor', id: monitor }] });
  const items = [
    { type: 'monitor', id: monitor },
    { type: 'monitor', id: foreign },
    { type: 'heartbeat', id: 9_999 },
    { type: 'webhook_check', id: 9_999 },
    { type: 'group', id: 9_999 },
  ];
  const errors = [1, 2, 3, 4].map((index) => ({ path: `/items/${index}/id`, code: 'not_found' }));
  for (const [method, path, more] of [
    ['POST', '', { workspace_id: api.workspaceId, name: 'x1' }],
    ['PUT', `/${id}`, {}],
    ['POST', `/${id}/monitors`, {}],
  ] as const) {
    t.match(await api.pages(method, path, { ...more, items }), { status: 404, body: { errors } }, `${method} ${path}`);
  }
  t.match(await api.pages('POST', `/${id}/monitors`, { monitor_ids: [foreign] }), {
    status: 404,
    body: { errors: [{ path: '/monitor_ids/0' }] },
  });
  t.match(await api.read(id), { version: 1, items: [{ id: monitor }] });
  t.match((await api.pages('GET', '')).body, { total: 1 });
});

void t.test('a page has 200 items at most, and its positions stay small however often they change', async (t) => {
  const api = await pagesApi(t);
  const monitors = await api.manyMonitors(statusPageLimits.items + 1);
  const { id } = await api.page();
  const all = { monitor_ids: monitors.slice(0, statusPageLimits.items) };
  t.equal((await api.pages('POST', `/${id}/monitors`, all)).status, 200);
  t.match(await api.pages('POST', `/${id}/monitors`, { monitor_ids: monitors.slice(-1) }), {
    status: 422,
    body: { errors: [{ path: '/monitor_ids', code: 'too_many_members' }] },
  });
  await api.database.worker.query(
    sql.unsafe`update status_page_items set position = position + 32567 where page_id = ${id}`,
  );
  t.equal((await api.pages('DELETE', `/${id}/monitors/${monitors[0]}`)).status, 204);
  const added = await api.pages('POST', `/${id}/monitors`, { monitor_ids: monitors.slice(-1) });
  t.equal(added.status, 200, added.text);
  t.same(
    (await api.read(id)).items.map(({ id: monitor, position }) => [position, monitor]),
    monitors.slice(1).map((monitor, position) => [position, monitor]),
  );
});

void t.test('changes of one page at the same time are done one after another', async (t) => {
  const api = await pagesApi(t);
  const monitors = await api.manyMonitors(6);
  const { id } = await api.page();
  await Promise.all(monitors.map((monitor) => api.pages('POST', `/${id}/monitors`, { monitor_ids: [monitor] })));
  const page = await api.read(id);
  t.same(
    page.items.map((item) => item.id).toSorted((a, b) => a - b),
    monitors.toSorted((a, b) => a - b),
  );
  t.equal(page.version, 7);
});
