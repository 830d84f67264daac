import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { incidentsApi } from '../testing.ts';
import type { IncidentsApi } from '../testing.ts';

const minute = 60_000;
const iso = (ms: number): string => new Date(ms).toISOString();

const byHand = (api: IncidentsApi, more: object = {}) =>
  api.incidents('POST', '', { workspace_id: api.workspaceId, title: 'Payments fail', ...more });

/** A page with one component, as the management of pages writes it. */
async function component(api: IncidentsApi, monitorId: number): Promise<string> {
  const pageId = await api.database.worker.oneFirst(sql.typeAlias('id')`
    insert into status_pages (workspace_id, name, slug, timezone) values (${api.workspaceId}, 'Shop', 'shop', 'UTC') returning id`);
  const componentId = 'aaaaaaaaaaaa';
  await api.database.worker.query(sql.unsafe`
    insert into status_page_items (workspace_id, page_id, component_id, monitor_id, position)
    values (${api.workspaceId}, ${pageId}, ${componentId}, ${monitorId}, 0)`);
  return componentId;
}

void t.test('what the public sees of an incident is set with it, changed, and goes back to its default', async (t) => {
  const api = await incidentsApi(t);
  const made = await byHand(api, { public_title: 'Checkout is slow' });
  t.match(made, { visibility: 'auto', public_title: 'Checkout is slow', postmortem_public: false });
  t.match(made['public_id'], /^[a-z0-9]{12}$/);
  const path = `/${String(made['id'])}`;
  const changed = await api.incidents('PUT', path, {
    visibility: 'public',
    public_title: null,
    postmortem: 'Disks fill.',
    postmortem_public: true,
  });
  t.match(changed, { visibility: 'public', public_title: null, postmortem_public: true, public_id: made['public_id'] });
  t.equal(changed['postmortem_notify'], true, 'subscribers are told, unless somebody says otherwise');
  const publicAt = () =>
    api.database.worker.oneFirst(sql.type(z.object({ at: z.number().nullable() }))`
      select postmortem_public_at as at from incidents where id = ${Number(made['id'])}`);
  const since = await publicAt();
  t.ok(since !== null);
  const again = await api.incidents('PUT', path, { postmortem: 'Disks fill.', postmortem_notify: false });
  t.equal(again['postmortem_notify'], false);
  t.equal(await publicAt(), since, 'a change of its words does not publish it anew');
  const back = await api.incidents('PUT', path, { visibility: null, postmortem_public: null });
  t.match(back, { visibility: 'auto', postmortem_public: false, postmortem: 'Disks fill.' });
  t.equal(await publicAt(), null);
});

void t.test(
  'an update may name a worse word for a component, an earlier time, and leave subscribers alone',
  async (t) => {
    const api = await incidentsApi(t);
    const { id: monitorId } = await api.monitor({ name: 'Shop' });
    const componentId = await component(api, monitorId);
    const made = await byHand(api);
    const path = `/${String(made['id'])}/updates`;
    const displayMs = api.clock.nowMs - 5 * minute;
    const said = await api.incidents('POST', path, {
      body: 'Payments are slow.',
      is_public: true,
      notify: false,
      impacts: [{ component_id: componentId, status: 'degraded' }],
      display_at: iso(displayMs),
    });
    t.match(said, {
      updates: [
        {
          notify: false,
          impacts: [{ component_id: componentId, status: 'degraded' }],
          display_at: iso(displayMs),
        },
      ],
    });
    const plain = await api.incidents('POST', path, { body: 'Still.' });
    t.match((plain['updates'] as unknown[])[1], { notify: true, impacts: [], display_at: null });
    const refusals = [
      { body: 'x', impacts: [{ component_id: 'bbbbbbbbbbbb', status: 'degraded' }] },
      { body: 'x', impacts: [{ component_id: componentId, status: 'operational' }] },
      { body: 'x', display_at: iso(api.clock.nowMs + minute) },
    ];
    for (const body of refusals) {
      t.match(await api.call('POST', `/api/v1/incidents${path}`, { token: api.token, body }), { status: 422 });
    }
  },
);

void t.test('an incident that is over already is recorded as such, and nobody is told', async (t) => {
  const api = await incidentsApi(t);
  const { id: monitorId } = await api.monitor({ name: 'Shop' });
  const startedMs = api.clock.nowMs - 60 * minute;
  const resolvedMs = startedMs + 20 * minute;
  const made = await byHand(api, {
    started_at: iso(startedMs),
    resolved_at: iso(resolvedMs),
    monitor_ids: [monitorId],
    update: { kind: 'note', body: 'We had no payments.', is_public: true, display_at: iso(startedMs) },
  });
  t.match(made, {
    status: 'resolved',
    resolution: 'manual',
    started_at: iso(startedMs),
    resolved_at: iso(resolvedMs),
    resolved_by: { id: api.owner.id },
    members: [{ ended_at: iso(resolvedMs), resolution: 'manual' }],
  });
  await api.passes(10 * minute);
  t.strictSame(await api.messages(), []);
  for (const [started, resolved] of [
    [startedMs, startedMs - 1],
    [startedMs, api.clock.nowMs + minute],
  ]) {
    const body = {
      workspace_id: api.workspaceId,
      title: 'x',
      started_at: iso(started ?? 0),
      resolved_at: iso(resolved ?? 0),
    };
    const answer = await api.call('POST', '/api/v1/incidents', { token: api.token, body });
    t.match(answer, { status: 422, body: { errors: [{ path: '/resolved_at' }] } });
  }
});
