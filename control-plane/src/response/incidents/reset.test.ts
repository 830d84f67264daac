import t from 'tap';
import { monitorsApi } from '../../monitoring/testing.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability, removeIncidentsOfReset } from './index.ts';
import { isVoidByReset } from './reset.ts';

const resetMs = Date.parse('2026-03-01T10:00:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();
const votes = (...sinceMs: number[]) => ({ voters: sinceMs.map((ms, voter) => ({ voter, sinceUs: ms * 1_000 })) });

void t.test('a transition of before a reset, or that rests on votes of before, is void', async (t) => {
  const transition = (atMs: number, evidence: Record<string, unknown> = {}) => ({ at: iso(atMs), evidence });
  t.ok(isVoidByReset(transition(resetMs - 1), resetMs));
  t.notOk(isVoidByReset(transition(resetMs), resetMs));
  t.ok(isVoidByReset(transition(resetMs + 5, votes(resetMs + 5, resetMs - 1)), resetMs));
  t.notOk(isVoidByReset(transition(resetMs + 5, votes(resetMs + 5, resetMs)), resetMs));
  t.notOk(isVoidByReset(transition(resetMs - 1, votes(resetMs - 1)), null));
  for (const voters of [undefined, null, 'x', [null], [{ sinceUs: 'x' }]]) {
    t.notOk(isVoidByReset(transition(resetMs, { voters }), resetMs), JSON.stringify(voters));
  }
});

void t.test(
  'a reset removes the incidents of its monitor, and what is told late of before it opens none',
  async (t) => {
    const api = await monitorsApi(t, {
      monitors: { onMonitorReset: [removeIncidentsOfReset] },
      more: [incidentsCapability],
    });
    const { id } = await api.monitor();
    const other = await api.monitor();
    const startedMs = Date.now() - 60_000;
    const tell = (monitorId: number, from: string, to: string, atMs: number, evidence: object = {}) =>
      api.database.worker.transaction((tx) =>
        enqueue(tx, {
          key: `monitor:${monitorId}`,
          kind: 'monitor.transition',
          payload: {
            monitor_id: monitorId,
            workspace_id: api.workspaceId,
            from,
            to,
            at: iso(atMs),
            detected_at: iso(atMs + 6_000),
            evidence,
            range_started_at: iso(atMs),
          },
        }),
      );
    const settle = async () => {
      while ((await workOnce(api.context, incidentsCapability.consumers ?? [])) > 0);
    };
    const incidents = async () => (await api.call('GET', '/api/v1/incidents', { token: api.token })).body;
    await tell(id, 'UP', 'DOWN', startedMs);
    await tell(id, 'DOWN', 'UP', startedMs + 10_000);
    await tell(id, 'UP', 'DOWN', startedMs + 20_000);
    await tell(other.id, 'UP', 'DOWN', startedMs);
    await settle();
    t.match(await incidents(), { total: 3 });
    await tell(id, 'DOWN', 'UP', startedMs + 30_000);
    const done = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
      token: api.token,
      body: { confirm: true },
    });
    t.match(done, { status: 200, body: { removed: { incidents: 2 } } });
    t.match(await incidents(), { total: 1, incidents: [{ monitor_id: other.id }] });
    const resetAtMs = Date.parse(String(done.body['reset_at']));
    await tell(id, 'UP', 'DOWN', resetAtMs - 1);
    await tell(id, 'UP', 'DOWN', resetAtMs + 1, votes(resetAtMs - 1, resetAtMs + 1));
    await settle();
    t.match(await incidents(), { total: 1 }, 'void');
    await tell(id, 'UNKNOWN', 'DOWN', resetAtMs + 2, votes(resetAtMs + 1, resetAtMs + 2));
    await settle();
    t.match(await incidents(), { total: 2 }, 'and what came after counts');
  },
);
