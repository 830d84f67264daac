import t from 'tap';
import { addRange, monitorsApi } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability } from './index.ts';

const minute = 60_000;
const base = Date.now() - 120 * minute;
const iso = (minutes: number) => new Date(base + minutes * minute).toISOString();

t.test('late truths bring the incidents to what the timeline tells, again and again alike', async (t) => {
  const api = await monitorsApi(t, { more: [incidentsCapability] });
  const consumers = incidentsCapability.consumers ?? [];
  const say = async (kind: string, payload: Record<string, unknown>) => {
    const key = `monitor:${String(payload['monitor_id'])}`;
    await api.database.worker.transaction((tx) => enqueue(tx, { key, kind, payload }));
    while ((await workOnce(api.context, consumers)) > 0);
  };
  const revised = (monitorId: number, since: number, detected: number) =>
    say('monitor.revised', {
      monitor_id: monitorId,
      workspace_id: api.workspaceId,
      since: iso(since),
      detected_at: iso(detected),
    });
  const transition = (monitorId: number, from: string, to: string, at: number) =>
    say('monitor.transition', {
      monitor_id: monitorId,
      workspace_id: api.workspaceId,
      from,
      to,
      at: iso(at),
      detected_at: iso(at),
      evidence: null,
      range_started_at: iso(at),
    });
  const ranges = async (monitorId: number, ...list: (readonly ['UP' | 'DOWN', number, number | null])[]) => {
    await api.database.worker.query(sql.unsafe`delete from status_ranges where monitor_id = ${monitorId}`);
    for (const [status, from, to] of list) {
      const toMs = to === null ? null : base + to * minute;
      await addRange(api.database, { monitorId, fromMs: base + from * minute, toMs, status });
    }
  };
  const incidents = async (monitorId: number) => {
    const list = await api.call('GET', `/api/v1/incidents?monitor_id=${monitorId}`, { token: api.token });
    return (list.body as { incidents: Record<string, unknown>[] }).incidents;
  };

  const { id } = await api.monitor({ name: 'Shop' });
  await ranges(id, ['UP', 0, 10], ['DOWN', 10, 20], ['UP', 20, null]);
  await revised(id, 10, 60);
  await revised(id, 10, 60);
  const found = {
    title: 'Shop is down',
    status: 'resolved',
    resolution: 'auto',
    detected_late: true,
    started_at: iso(10),
    resolved_at: iso(20),
  };
  t.match(await incidents(id), [found], 'recorded once');
  t.equal((await incidents(id)).length, 1);

  await transition(id, 'UP', 'DOWN', 70);
  await ranges(id, ['UP', 0, 9], ['DOWN', 9, 21], ['UP', 21, 65], ['DOWN', 65, null]);
  await revised(id, 9, 75);
  const [present, past] = await incidents(id);
  t.match(past, { ...found, started_at: iso(9), resolved_at: iso(21) }, 'moved');
  t.match(present, { status: 'open', started_at: iso(65) });

  await ranges(id, ['UP', 0, null]);
  await revised(id, 9, 80);
  t.match(await incidents(id), [
    { id: present?.['id'], status: 'resolved', resolution: 'corrected', started_at: iso(65), resolved_at: iso(80) },
    { id: past?.['id'], status: 'resolved', resolution: 'corrected', resolved_at: iso(21) },
  ]);
  await transition(id, 'DOWN', 'UP', 0);
  t.equal(
    (await incidents(id)).filter((one) => one['resolution'] === 'corrected').length,
    2,
    'the end of it changes nothing',
  );

  const told = await api.monitor({ name: 'told' });
  await transition(told.id, 'UP', 'DOWN', 30);
  await transition(told.id, 'DOWN', 'UP', 25);
  t.match(await incidents(told.id), [{ resolution: 'corrected', started_at: iso(30) }], 'good all the time');

  const reset = await api.monitor({ name: 'reset' });
  await ranges(reset.id, ['DOWN', 10, 20], ['UP', 20, null]);
  await api.database.worker.query(
    sql.unsafe`update monitors set reset_at = ${sql.timestamp(new Date(base + 30 * minute))} where id = ${reset.id}`,
  );
  await revised(reset.id, 10, 60);
  t.same(await incidents(reset.id), [], 'nothing of before a reset');
});
