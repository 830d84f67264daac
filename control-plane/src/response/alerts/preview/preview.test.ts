import t from 'tap';
import { z } from 'zod';
import { alertsApi, ownMail } from '../rules/testing.ts';

const previewed = z.object({
  alerts: z.array(z.object({ alert: z.object({ name: z.string() }), is_muted: z.boolean(), is_quiet: z.boolean() })),
});

void t.test('a preview names the alerts that would tell, and why they would be silent', async (t) => {
  const api = await alertsApi(t);
  const tagged = await api.monitor({ tags: ['web'] });
  const grouped = await api.monitor();
  const other = await api.monitor();
  const group = await api.group({ monitor_ids: [grouped.id], tags: ['shop'] });
  const day = { days: [1, 2, 3, 4, 5, 6, 7], start: '00:00', end: '00:00' };
  for (const [name, more] of Object.entries({
    tag: { scope: { tags: ['web'] } },
    group: { scope: { group_ids: [group.id] }, muted_until: new Date(Date.now() + 3_600_000).toISOString() },
    tagOfGroup: { scope: { tags: ['shop'] }, quiet_hours: { timezone: 'UTC', windows: [day] } },
    off: { is_active: false },
    certificates: { events: ['certificate.expiring'] },
  })) {
    await api.alert({ name, steps: ownMail, ...more });
  }
  const preview = async (event: string, id: number | null) => {
    const answer = await api.alerts('POST', '/preview', {
      workspace_id: api.workspaceId,
      event,
      subject: id === null ? null : { type: 'monitor', id },
    });
    t.equal(answer.status, 200, answer.text);
    return previewed.parse(answer.body).alerts.map(({ alert, is_muted, is_quiet }) => [alert.name, is_muted, is_quiet]);
  };
  t.same(await preview('monitor.down', tagged.id), [
    ['Default', false, false],
    ['tag', false, false],
  ]);
  t.same(await preview('monitor.down', grouped.id), [
    ['Default', false, false],
    ['group', true, false],
    ['tagOfGroup', false, true],
  ]);
  t.same(await preview('monitor.degraded', other.id), []);
  t.same(await preview('certificate.expiring', other.id), [
    ['certificates', false, false],
    ['Default', false, false],
  ]);
  t.same(await preview('incident.opened', null), []);
  const missing = await api.alerts('POST', '/preview', {
    workspace_id: api.workspaceId,
    event: 'monitor.down',
    subject: { type: 'heartbeat', id: 999 },
  });
  t.match(missing, { status: 404, body: { errors: [{ path: '/subject/id' }] } });
});
