import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import type { Capability } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import { authCapability } from '../../../identity/auth/index.ts';
import { signInCapability } from '../../../identity/sign-in/index.ts';
import { testApi } from '../../../identity/testing.ts';
import { workspacesCapability } from '../../../identity/workspaces/index.ts';
import { statusesSubject } from '../../../platform/bus/subjects.ts';
import { startOutboxWorker } from '../../../platform/outbox/worker.ts';
import { createCentralCheck, createCentralRunner } from '../../central-checks/index.ts';
import { result } from '../../check-results/ingest/testing/fixture.ts';
import { eventually, fastLimits, world } from '../../check-results/ingest/testing/world.ts';
import { createMonitorsCapability } from '../../monitors/index.ts';
import { defaultWorkspace } from '../../testing.ts';
import { groupsCapability, leaveGroupsOfDeleted, leaveGroupsOfMoved } from '../index.ts';

/** For tests: the API over a database that a real ingest works on, with a probe, the outbox, and the control plane's own checks. */
export async function groupStage(
  t: TestContext,
  { hasHints = true, more = [] }: { readonly hasHints?: boolean; readonly more?: readonly Capability<Context>[] } = {},
) {
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
      ...more,
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
  const consumers = more.flatMap((capability) => capability.consumers ?? []);
  const outbox = await startOutboxWorker(
    { ...api.context, database: w.database, bus: w.bus, log: quietLog },
    consumers,
  );
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

/** What makes a monitor a group monitor. */
export const groupBody = (settings: Record<string, unknown>) => ({
  protocol: 'group',
  url: '',
  settings,
  confirmations: null,
});
