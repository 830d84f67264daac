import t from 'tap';
import { addOccasion, addNotification } from '../testing-occasions.ts';
import { alertsApi } from '../rules/testing.ts';

const hourMs = 3_600_000;

void t.test('what alerts have told is read newest first, of one or of all, and outlives its alert', async (t) => {
  const api = await alertsApi(t);
  const [one, other] = [await api.alert(), await api.alert()];
  const place = { workspaceId: api.workspaceId, ownerId: api.owner.id };
  const subject = { type: 'monitor', id: (await api.monitor()).id };
  const occasionId = await addOccasion(api.database, { ...place, key: 'incident:17', incidentId: 17 });
  const nowMs = Date.now();
  for (const given of [
    { alertId: one.id, status: 'sent', subject, atMs: nowMs - 2 * hourMs },
    { alertId: one.id, status: 'held', channel: 'sms', atMs: nowMs - hourMs },
    { alertId: other.id, status: 'deduplicated', atMs: nowMs },
  ] as const) {
    await addNotification(api.database, { ...place, occasionId, ...given });
  }
  const all = await api.alerts('GET', '/history');
  t.match(all, { status: 200, body: { total: 3, page_size: 50 } }, all.text);
  t.match(all.body['history'], [
    { alert_id: other.id, status: 'deduplicated', attempts: 0, subject: null },
    { alert_id: one.id, status: 'held', reason: 'quiet_hours', channel: 'sms', sent_at: null },
    {
      alert_id: one.id,
      occasion: 'incident:17',
      incident_id: 17,
      event: 'monitor.down',
      kind: 'opened',
      subject,
      status: 'sent',
      channel: 'email',
      target_masked: 'o…r@example.com',
      attempts: 2,
      latency_ms: 41,
      text: 'Shop is down',
    },
  ]);
  const totals = async (path: string) => (await api.alerts('GET', path)).body['total'];
  t.equal(await totals(`/${one.id}/history`), 2);
  t.equal(await totals('/history?channel=sms'), 1);
  t.equal(await totals('/history?status=sent'), 1);
  t.equal(await totals(`/history?start_time=${new Date(nowMs - 1.5 * hourMs).toISOString()}`), 2);
  t.equal(await totals(`/history?end_time=${new Date(nowMs - 1.5 * hourMs).toISOString()}`), 1);
  t.equal(await totals(`/history?workspace_id=${api.workspaceId}&page=2&page_size=2`), 3);
  t.equal((await api.alerts('DELETE', `/${one.id}`)).status, 204);
  t.equal((await api.alerts('GET', `/${one.id}/history`)).status, 404);
  t.match((await api.alerts('GET', '/history?status=sent')).body, {
    history: [{ alert_id: null, alert_name: 'alert' }],
  });
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  t.match((await api.alerts('GET', '/history', undefined, stranger)).body, { total: 0 });
  t.equal((await api.alerts('GET', `/history?workspace_id=${api.workspaceId}`, undefined, stranger)).status, 404);
});
