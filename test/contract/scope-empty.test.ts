import t from 'tap';
import { capabilities } from '../../control-plane/src/capabilities.ts';
import { workOnce } from '../../control-plane/src/platform/outbox/worker.ts';
import { alertBody } from './alert-recipes.ts';
import { inAMonth } from './recipes.ts';
import { openWorld } from './world.ts';

/* What names a single thing, of each kind, and what it says when that thing is gone. */

const world = await openWorld(t);
const { workspaceId, token, make } = world;
const consumers = capabilities.flatMap((capability) => capability.consumers ?? []);
const named = { workspace_id: workspaceId, name: 'alone' };

/** The path of a new thing. */
const things: Readonly<Record<string, () => Promise<string>>> = {
  monitor: async () => `/api/v1/monitors/${await world.monitor()}`,
  heartbeat: async () => {
    const made = await make('POST', `/api/v1/heartbeats?workspace_id=${workspaceId}`, { name: 'alone' });
    return `/api/v1/heartbeats/${String(made.body['id'])}`;
  },
  webhook_check: async () => {
    const made = await make('POST', '/api/v1/webhook-checks', named);
    return `/api/v1/webhook-checks/${String(made.body['id'])}`;
  },
  group: async () => {
    const made = await make('POST', '/api/v1/monitor-groups', { ...named, name: `alone ${world.unique()}` });
    return `/api/v1/monitor-groups/${String(made.body['id'])}`;
  },
};

/** What has a scope: how it is made and changed. */
const owners = [
  { path: '/api/v1/alerts', method: 'PATCH', body: alertBody(world) },
  { path: '/api/v1/maintenance', method: 'PUT', body: { ...named, starts_at: inAMonth, duration_seconds: 3_600 } },
  { path: '/api/v1/scheduled-reports', method: 'PUT', body: { ...named, recipients: [] } },
  { path: '/api/v1/webhooks', method: 'PATCH', body: { ...named, url: 'https://hooks.example/' } },
] as const;

for (const [kind, thing] of Object.entries(things)) {
  void t.test(`of which a ${kind} was all`, async (t) => {
    const path = await thing();
    const id = Number(path.split('/').at(-1));
    const scope = kind === 'group' ? { group_ids: [id] } : { subjects: [{ type: kind, id }] };
    const made: { readonly at: string; readonly method: 'PATCH' | 'PUT' }[] = [];
    for (const { path: of, method, body } of owners) {
      const { body: one } = await make('POST', of, { ...body, scope });
      t.equal(one['disabled_reason'], null, `${of} covers something`);
      made.push({ at: `${of}/${String(one['id'])}`, method });
    }
    const gone = await world.call('DELETE', path, { token });
    t.equal(gone.status, 204, gone.text);
    while ((await workOnce(world.context, consumers)) > 0);
    for (const { at, method } of made) {
      const { body: emptied } = await make('GET', at);
      t.match(emptied, { disabled_reason: 'scope_empty', scope: { all: false, subjects: [], group_ids: [] } }, at);
      const same = await world.call(method, at, { token, body: emptied });
      t.match(same, { status: 200, body: { version: emptied['version'], disabled_reason: 'scope_empty' } }, same.text);
      const renamed = await world.call(method, at, { token, body: { ...emptied, name: 'renamed' } });
      t.match(renamed, { status: 200, body: { name: 'renamed', disabled_reason: 'scope_empty' } }, renamed.text);
      const { body: listed } = await make('GET', at.replace(/\/\d+$/, ''));
      t.match(
        Object.values(listed)
          .find(Array.isArray)
          ?.find((one: { id: number }) => one.id === emptied['id']),
        { disabled_reason: 'scope_empty' },
        `${at} in its list`,
      );
    }
  });
}
