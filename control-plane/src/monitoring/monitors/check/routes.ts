import { checkMonitorRoute } from '@parallax/api-contract';
import type { MonitorTest } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countTrial } from '../../../identity/unconfirmed/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { sharedProbeTargets, unknownProbes } from '../../assignments/index.ts';
import type { WorkspaceReach } from '../../assignments/index.ts';
import type { ProbeRequest } from '../../probes/index.ts';
import type { Actor } from '../gateway.ts';
import { requireShown } from '../not-found.ts';
import type { MonitorView } from '../not-found.ts';
import { findMonitor, openSeats, pausedByGroup, workspaceOwner } from '../queries.ts';
import type { MonitorRow } from '../queries.ts';
import { openSecrets } from '../secrets.ts';
import { answerOf } from './answer.ts';
import { storeManualResult } from './gateway.ts';
import { askProbes, centralReply } from './replies.ts';
import type { Ask, BoundedCheck, ByHand, Reply } from './replies.ts';
import type { Seat } from './verdict.ts';

/** Checks by hand. */
export function checkRoutes(context: Context, means: ByHand): Route[] {
  return [
    handle(checkMonitorRoute, async ({ params, body, caller, request }) => {
      const { answer } = await checkMonitor(context, means, { caller, request }, params.monitor_id, {
        probeIds: body?.probe_ids ?? [],
      });
      return { monitor_id: params.monitor_id, is_manual: true as const, ...answer };
    }),
  ];
}

/**
 * Checks a stored monitor now, as POST /monitors/{monitor_id}/check does.
 * @param options.probeIds which of the assigned probes; none: all of them
 * @returns the answers, and what was checked
 * @throws Problem as that route answers it
 */
export async function checkMonitor(
  context: Context,
  { central, ask }: ByHand,
  { caller, request }: Actor,
  monitorId: number,
  { probeIds = [], view }: { readonly probeIds?: readonly number[]; readonly view?: MonitorView } = {},
): Promise<{ readonly answer: MonitorTest; readonly monitor: MonitorRow }> {
  const scope = scopeOf(caller);
  const { monitor, seats, isPaused } = await inScope(context.database.api, scope, async (tx) => {
    const found = requireShown(await findMonitor(tx, scope, monitorId), monitorId, view);
    requireRole(caller, found.workspace_id, 'editor');
    return {
      monitor: found,
      seats: seatsNamed(await openSeats(tx, monitorId), monitorId, probeIds),
      isPaused: !found.is_active || (await pausedByGroup(tx, [monitorId])).has(monitorId),
    };
  });
  await countTrial(context, caller);
  const { reach } = await workspaceOwner(context.database.worker, monitor.workspace_id);
  const askedMs = context.now();
  const replies =
    seats.length === 0
      ? [await checkCentrally(context, central, { monitor, reach }, request.signal)]
      : await askAll(
          ask,
          { monitor, seats, askedMs },
          isPaused ? unsavedAssignment(context, monitor, reach) : undefined,
        );
  const asked = { what: `monitor ${monitor.id}`, seats, policy: monitor.consensus_policy, askedMs };
  return { answer: answerOf(asked, replies), monitor };
}

/**
 * Those who are asked: all seats, or the named ones.
 * @throws Problem when one that is named is not assigned, whether or not it exists elsewhere
 */
function seatsNamed(seats: readonly Seat[], monitorId: number, probeIds: readonly number[]): readonly Seat[] {
  const places = probeIds.flatMap((id, place) => (seats.some(({ probeId }) => probeId === id) ? [] : [place]));
  if (places.length > 0) throw unknownProbes(`not every named probe is assigned to monitor ${monitorId}`, places);
  return probeIds.length === 0 ? seats : seats.filter(({ probeId }) => probeIds.includes(probeId));
}

async function checkCentrally(
  context: Context,
  central: BoundedCheck,
  { monitor, reach }: { readonly monitor: MonitorRow; readonly reach: WorkspaceReach },
  signal: AbortSignal,
): Promise<Reply> {
  const settings = { ...monitor.settings, ...openSecrets(context.sealer, monitor) };
  const checked = {
    protocol: monitor.protocol,
    url: monitor.url,
    settings,
    timeoutS: monitor.timeout_seconds,
    degradedThresholdMs: monitor.degraded_threshold_ms ?? undefined,
    workspaceId: monitor.workspace_id,
    reach,
  };
  const run = await central(checked, { signal, isTraced: true });
  // Nobody waits any more; an interrupted run says nothing.
  if (run !== undefined && !signal.aborted) await storeManualResult(context.database.worker, monitor, run);
  return centralReply(run);
}

/** Asks every probe at once. One that has let go of the monitor, because it is paused, is sent what to check. */
async function askAll(
  ask: Ask,
  {
    monitor,
    seats,
    askedMs,
  }: { readonly monitor: MonitorRow; readonly seats: readonly Seat[]; readonly askedMs: number },
  assignment: ProbeRequest['assignment'],
): Promise<readonly Reply[]> {
  return askProbes(
    ask,
    seats.map(({ probeId }) => probeId),
    {
      monitor_id: monitor.id,
      timeoutSeconds: monitor.timeout_seconds,
      askedMs,
      ...(assignment === undefined ? {} : { assignment }),
    },
  );
}

function unsavedAssignment(
  context: Context,
  monitor: MonitorRow,
  reach: WorkspaceReach,
): NonNullable<ProbeRequest['assignment']> {
  return {
    protocol: monitor.protocol,
    url: monitor.url,
    interval_seconds: monitor.interval_seconds,
    timeout_seconds: monitor.timeout_seconds,
    confirmations: monitor.confirmations,
    degraded_threshold_ms: monitor.degraded_threshold_ms,
    settings: { ...monitor.settings, ...openSecrets(context.sealer, monitor) },
    private_targets: sharedProbeTargets(context.allowedPrivateTargets, reach),
  };
}
