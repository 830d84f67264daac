import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { authCapability } from '../../../identity/auth/index.ts';
import { signInCapability } from '../../../identity/sign-in/index.ts';
import { testApi } from '../../../identity/testing.ts';
import { workspacesCapability } from '../../../identity/workspaces/index.ts';
import { statusesSubject } from '../../../platform/bus/subjects.ts';
import { startOutboxWorker } from '../../../platform/outbox/worker.ts';
import { incidentsCapability } from '../../../response/incidents/index.ts';
import { createCentralCheck, createCentralRunner } from '../../central-checks/index.ts';
import { compareTimelines } from '../../check-results/ingest/testing/compare-timelines.ts';
import { result } from '../../check-results/ingest/testing/fixture.ts';
import { eventually, fastLimits, world } from '../../check-results/ingest/testing/world.ts';
import { createMonitorsCapability } from '../../monitors/index.ts';
import { defaultWorkspace } from '../../testing.ts';
import { groupsCapability, leaveGroupsOfDeleted, leaveGroupsOfMoved } from '../index.ts';

/** The API over a database that a real ingest works on, with a probe, the outbox, and the control plane's own checks. */
async function stage(t: TestContext, { hasHints = true } = {}) {
  const w = await world(t);
  // The fixture's own is none of these tests.
  await w.pool.query('update monitors set deleted_at = now(), changed_xid = pg_current_xact_id()');
  const api = await testApi(t, {
    database: w.database,
    context: { bus: w.bus },
    capabilities: [
      authCapability,
      signInCapability,
      workspacesCapability,
      createMonitorsCapability({ onMonitorDeleted: [leaveGroupsOfDeleted], onMonitorsMoved: [leaveGroupsOfMoved] }),
      groupsCapability,
      incidentsCapability,
    ],
  });
  const { accessToken: token } = await api.account('groups@example.com');
  const workspaceId = await defaultWorkspace(api, token);
  const central = createCentralRunner({
    context: api.context,
    check: createCentralCheck(api.context),
    log: quietLog,
    brokerSettlesMs: 0,
  });
  const looks = w.bus.listen(statusesSubject, (message) =>
    central.changed((message as { monitor_ids: readonly number[] }).monitor_ids),
  );
  if (!hasHints) looks.stop();
  const consumers = incidentsCapability.consumers ?? [];
  const outbox = await startOutboxWorker({ ...api.context, database: w.database, bus: w.bus, log: quietLog }, consumers);
  t.teardown(async () => {
    looks.stop();
    await outbox.stop();
    await central.stop();
  });
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
  let seq = 0;
  return {
    w,
    workspaceId,
    call,
    start: () => w.start({ central, limits: { ...fastLimits, fallbackGraceMs: 1_000_000_000 } }),
    /** Makes a monitor; must succeed. */
    monitor: async (name: string, more: Record<string, unknown> = {}): Promise<number> => {
      const body = { workspace_id: workspaceId, name, confirmations: 1, url: 'https://example.com/', ...more };
      const answer = await call('POST', '/monitors', body);
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text}`);
      return Number(answer.body['id']);
    },
    /** A probe's result of now. */
    send: async (monitor: number, outcome: 'ok' | 'fail'): Promise<void> => {
      seq += 1;
      const changed = outcome === 'ok' ? {} : { outcome, source: 'target' as const, error: 20 };
      const row = result(monitor, Date.now() * 1_000 - 5, { freshS: 600, ...changed });
      await w.send(w.probe, w.batch(w.probe, { firstSeq: seq }, [row]));
    },
    statusIs: (monitor: number, wanted: string) =>
      eventually(async () => {
        const { body } = await call('GET', `/monitors/${monitor}`);
        if (body['status'] !== wanted) throw new Error(`it is ${String(body['status'])}`);
        return true;
      }, `monitor ${monitor} is ${wanted}`),
    /** Start of the open range, to the microsecond. */
    openSince: async (monitor: number): Promise<unknown> => {
      const found = await w.pool.query<{ started_us: string; status: string }>(
        `select status, (extract(epoch from started_at) * 1000000)::bigint as started_us from status_ranges
         where monitor_id = $1 and ended_at is null`,
        [monitor],
      );
      return found.rows[0];
    },
  };
}

const group = (settings: Record<string, unknown>) => ({ protocol: 'group', url: '', settings, confirmations: null });

void t.test('a group monitor follows its members at once, dated as they are, and so does one above it', async (t) => {
  const s = await stage(t);
  const [one, two] = [await s.monitor('one'), await s.monitor('two')];
  const both = await s.monitor('both', group({ monitor_ids: [two, one], minimum_up: 1 }));
  const above = await s.monitor('above', group({ monitor_ids: [both] }));
  s.start();
  await s.send(one, 'ok');
  await s.send(two, 'ok');
  await s.statusIs(both, 'UP');
  await s.statusIs(above, 'UP');
  const { body: made } = await s.call('GET', `/monitors/${both}`);
  t.match(made, { url: 'group:members', assigned_probes: [], confirmations: 1, settings: { monitor_ids: [one, two] } });

  await s.send(one, 'fail');
  await s.statusIs(both, 'DEGRADED');
  await s.statusIs(above, 'UP');
  await s.send(two, 'fail');
  await s.statusIs(both, 'DOWN');
  await s.statusIs(above, 'DOWN');
  const onset = await s.openSince(two);
  t.match(onset, { status: 'DOWN' });
  t.same(await s.openSince(both), onset, 'dated to the member that was one too many');
  t.same(await s.openSince(above), onset, 'and handed on');

  await eventually(async () => {
    const { body } = await s.call('GET', `/incidents?monitor_id=${both}`);
    const [incident] = body['incidents'] as { cause: { incidents?: unknown[] } }[];
    return incident?.cause.incidents?.length === 2;
  }, 'the incident names those of its members');
  const { body: told } = await s.call('GET', `/incidents?monitor_id=${above}`);
  t.match(told, { total: 1, incidents: [{ cause: { incidents: [{ monitor_id: both, name: 'both' }] } }] });

  const results = await s.call('GET', `/monitors/${both}/results`);
  t.match(results.body, { results: [{ status: 'DOWN', probe_id: null, error_code: 'members_down' }] });
  const byHand = await s.call('POST', `/monitors/${both}/check`);
  t.match(byHand.body, { status: 'DOWN', results: [{ probe_id: null }], trace: [{ step: 'member' }, { step: 'member' }] });
  t.match((byHand.body['trace'] as { detail: string }[])[0]?.detail, `monitor ${one} "one" is DOWN since `);
  const tested = await s.call('POST', '/monitors/test', {
    workspace_id: s.workspaceId,
    ...group({ monitor_ids: [one, two], minimum_up: 2 }),
  });
  t.match(tested.body, { status: 'DOWN', trace: [{ step: 'member' }, { step: 'member' }] });

  await s.send(two, 'ok');
  await s.statusIs(both, 'DEGRADED');
  await s.statusIs(above, 'UP');
  // A recovery is told when two results say so: the next one comes within a second.
  t.equal((await s.call('PATCH', `/monitors/${both}`, { interval_seconds: 1 })).status, 200);
  await eventually(async () => {
    const { body } = await s.call('GET', `/incidents?monitor_id=${both}&status=resolved`);
    return body['total'] === 1;
  }, 'its incident ends');
  const ranges = await s.call('GET', `/monitors/${both}/status-ranges`);
  t.match(ranges.body, { status_ranges: [{ status: 'DEGRADED' }, { status: 'DOWN' }, { status: 'DEGRADED' }, { status: 'UP' }] });

  t.equal((await s.call('POST', `/monitors/${one}/pause`)).status, 200);
  await s.statusIs(both, 'UP');
  t.equal((await s.call('DELETE', `/monitors/${one}`)).status, 204);
  const { body: left } = await s.call('GET', `/monitors/${both}`);
  t.same((left['settings'] as { monitor_ids: unknown }).monitor_ids, [two], 'a deleted member is named no more');
  t.equal((await s.call('POST', `/monitors/${two}/pause`)).status, 200);
  await s.statusIs(both, 'UNKNOWN');
  t.same(await compareTimelines(s.w.pool, [0]), []);
});

void t.test('without a hint the next regular look finds the same and dates it the same', async (t) => {
  const s = await stage(t, { hasHints: false });
  const member = await s.monitor('member');
  await s.w.pool.query('update monitors set interval_seconds = 1 where id = $1', [member]);
  const watching = await s.monitor('watching', { ...group({ monitor_ids: [member] }), interval_seconds: 3 });
  s.start();
  await s.send(member, 'ok');
  await s.statusIs(watching, 'UP');
  const looks = () => s.w.count(`check_results where monitor_id = ${watching}`);
  const before = await looks();
  await eventually(async () => (await looks()) > before, 'a regular look');
  await s.send(member, 'fail');
  await s.statusIs(watching, 'DOWN');
  t.same(await s.openSince(watching), await s.openSince(member));
});

void t.test('a group monitor of a monitor group follows who is in it; without members it is UNKNOWN', async (t) => {
  const s = await stage(t);
  const [one, two] = [await s.monitor('one'), await s.monitor('two')];
  const made = await s.call('POST', '/monitor-groups', { workspace_id: s.workspaceId, name: 'web', monitor_ids: [one] });
  const groupId = Number(made.body['id']);
  const watching = await s.monitor('watching', { ...group({ group_id: groupId }), interval_seconds: 1 });
  t.match((await s.call('GET', `/monitors/${watching}`)).body, { url: `group:${groupId}` });
  s.start();
  await s.send(one, 'ok');
  await s.send(two, 'fail');
  await s.statusIs(watching, 'UP');
  await s.call('POST', `/monitor-groups/${groupId}/monitors`, { monitor_ids: [two] });
  await s.statusIs(watching, 'DOWN');
  t.equal((await s.call('DELETE', `/monitor-groups/${groupId}`)).status, 204);
  await s.statusIs(watching, 'UNKNOWN');
});
