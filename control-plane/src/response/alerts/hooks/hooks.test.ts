import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { alertsApi } from '../rules/testing.ts';
import type { AlertsApi } from '../rules/testing.ts';
import { addNotification, addOccasion } from '../testing-occasions.ts';
import { deletedOwnerConsumer } from './consumer.ts';
import { removeAlertsOfWorkspace } from './queries.ts';

const countOf = (api: AlertsApi, table: string) =>
  api.database.worker.oneFirst(
    sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from ${sql.identifier([table])}`,
  );

void t.test('a monitor that is deleted leaves what names it, and what lasts of it ends', async (t) => {
  const api = await alertsApi(t);
  const [one, other] = [await api.monitor(), await api.monitor()];
  const subjects = [one, other].map(({ id }) => ({ type: 'monitor', id }));
  const { id } = await api.alert({ scope: { subjects } });
  await addOccasion(api.database, { workspaceId: api.workspaceId, subject: { type: 'monitor', id: one.id } });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${one.id}`, { token: api.token })).status, 204);
  t.match((await api.read(id)).scope, { all: false, subjects: [{ type: 'monitor', id: other.id }] });
  const left = await api.database.worker.one(
    sql.type(z.object({ resolution: z.string().nullable() }))`select resolution from alert_occasions`,
  );
  t.equal(left.resolution, 'deleted');
});

void t.test('monitors that are moved leave the alerts of the old workspace, which are named', async (t) => {
  const api = await alertsApi(t);
  const { id: monitorId } = await api.monitor();
  const { id } = await api.alert({ scope: { subjects: [{ type: 'monitor', id: monitorId }], tags: ['web'] } });
  await addOccasion(api.database, { workspaceId: api.workspaceId, subject: { type: 'monitor', id: monitorId } });
  const elsewhere = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'elsewhere' } });
  const moved = await api.call('POST', '/api/v1/monitors/bulk', {
    token: api.token,
    body: { action: 'move', monitor_ids: [monitorId], workspace_id: elsewhere.body['id'] },
  });
  t.match(moved, { status: 200, body: { monitors: [{ dropped: [{ type: 'alert', id }] }] } }, moved.text);
  t.same((await api.read(id)).scope.subjects, []);
  const row = z.object({ resolution: z.string().nullable(), is_due: z.boolean() });
  t.same(
    await api.database.worker.any(
      sql.type(row)`select resolution, due_at <= clock_timestamp() as is_due from alert_occasions`,
    ),
    [{ resolution: 'moved', is_due: true }],
    'it is looked at once more, and what waits is withdrawn',
  );
});

void t.test('of whose account is deleted no address stays, and nothing is sent to it any more', async (t) => {
  const api = await alertsApi(t);
  const { id: alertId } = await api.alert();
  const place = { workspaceId: api.workspaceId, ownerId: api.owner.id, alertId };
  const address = 'reader@example.com';
  const target = { channel: 'email', config_id: null, target: address, locale: 'en', timezone: 'UTC' };
  const { worker } = api.database;
  for (const status of ['sent', 'held', 'queued'] as const) {
    await addNotification(api.database, {
      ...place,
      status,
      target,
      occasionId: await addOccasion(api.database, place),
    });
  }
  await worker.query(sql.unsafe`
    update notifications set target = ${JSON.stringify(target)}::jsonb where status in ('held', 'queued')`);
  await worker.query(sql.unsafe`
    insert into deliveries (workspace_id, owner_id, target_key, target, channel, target_masked, kind)
    values (${place.workspaceId}, ${place.ownerId}, 'k', ${JSON.stringify(target)}::jsonb, 'email', 'r…', 'opened')`);
  const consume = () =>
    worker.transaction(async (transaction) => {
      const row = { id: 1, key: 'k', kind: 'account.deleted', createdAtMs: 0, attempts: 0 };
      await deletedOwnerConsumer.consume(transaction, { ...row, payload: { user_id: api.owner.id } }, api.context);
    });
  await consume();
  await consume();
  const text = await worker.oneFirst(sql.type(z.object({ text: z.string() }))`
    select concat((select jsonb_agg(to_jsonb(n)) from notifications n), (select jsonb_agg(to_jsonb(d)) from deliveries d),
      (select jsonb_agg(to_jsonb(t)) from alert_told t)) as text`);
  t.notMatch(text, address);
  const states = await worker.any(sql.type(z.object({ status: z.string(), reason: z.string().nullable() }))`
    select status, reason from notifications order by id`);
  t.same(states, [
    { status: 'sent', reason: null },
    { status: 'suppressed', reason: 'owner_left' },
    { status: 'suppressed', reason: 'owner_left' },
  ]);
  t.notOk(await worker.exists(sql.unsafe`select from deliveries where status = 'queued'`));
});

void t.test('a reset takes what was told of a monitor out of the histories, and keeps the alert', async (t) => {
  const api = await alertsApi(t);
  const [one, other] = [await api.monitor(), await api.monitor()];
  const { id: alertId } = await api.alert();
  const place = { workspaceId: api.workspaceId, ownerId: api.owner.id, alertId };
  for (const { id } of [one, other]) {
    const subject = { type: 'monitor', id };
    const occasionId = await addOccasion(api.database, { ...place, subject });
    await addNotification(api.database, { ...place, occasionId, subject });
  }
  // An incident that the first one opened.
  const incident = await addOccasion(api.database, { ...place, incidentId: 99 });
  await addNotification(api.database, { ...place, occasionId: incident, subject: { type: 'monitor', id: one.id } });
  const reset = await api.call('POST', `/api/v1/monitors/${one.id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200, reset.text);
  t.match((await api.alerts('GET', '/history')).body, { total: 1, history: [{ subject: { id: other.id } }] });
  t.equal(await countOf(api, 'deliveries'), 1, 'their texts are gone too');
  t.equal(await countOf(api, 'alert_occasions'), 2);
  t.equal((await api.read(alertId)).is_active, true);
});

void t.test('nothing of a deleted workspace stays; a group that goes leaves what names it', async (t) => {
  const api = await alertsApi(t);
  const group = await api.group();
  const alert = await api.alert({ scope: { group_ids: [group.id], tags: ['web'] } });
  t.same(alert.scope.group_ids, [group.id]);
  t.equal((await api.groups('DELETE', `/${group.id}`)).status, 204);
  t.same((await api.read(alert.id)).scope.group_ids, []);
  const place = { workspaceId: api.workspaceId, ownerId: api.owner.id, alertId: alert.id };
  await addNotification(api.database, { ...place, occasionId: await addOccasion(api.database, place) });
  await removeAlertsOfWorkspace(api.database.worker, api.workspaceId);
  for (const table of ['alerts', 'alert_subjects', 'alert_occasions', 'alert_told', 'notifications', 'deliveries']) {
    t.equal(await countOf(api, table), 0, table);
  }
});
