import { checkMonitorRoute, Problem } from '@parallax/api-contract';
import type { ManualCheck } from '@parallax/api-contract';
import type { CheckOutcome } from '@parallax/checks';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, scopeOf } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { createCentralCheck } from '../../central-checks/index.ts';
import type { CentralCheck, CentralRun } from '../../central-checks/index.ts';
import { askProbe } from '../../probes/index.ts';
import type { ProbeRequest, RunCheckAnswer } from '../../probes/index.ts';
import { outcomeFields } from '../history/raw-status.ts';
import { noMonitor } from '../not-found.ts';
import { findMonitor, openSeats } from '../queries.ts';
import type { MonitorRow } from '../queries.ts';
import { openSecrets } from '../secrets.ts';
import { storeManualResult } from './gateway.ts';
import { medianMs, verdictOf } from './verdict.ts';
import type { Seat } from './verdict.ts';

/** Beyond the monitor's own timeout: the way to the probe and back. */
const graceMs = 5_000;

/** Manual checks of the control plane at the same time, in one process: each may last a minute. */
const mostCentralChecks = 50;

/** Asks a probe; replaced in tests. */
export type Ask = (probeId: number, request: ProbeRequest, timeoutMs: number) => Promise<RunCheckAnswer | undefined>;

/** What one of those that were asked has to say. */
type Reply =
  | {
      readonly probeId: number;
      readonly startedMs: number;
      readonly outcome: CheckOutcome;
      readonly trace: ReadonlyArray<{ readonly atMs: number; readonly step: string; readonly detail: string }>;
    }
  | { readonly probeId: number; readonly missing: string };

/** Checks by hand. */
export function checkRoutes(context: Context, ask: Ask = (...request) => askProbe(context.bus, ...request)): Route[] {
  const central = bounded(createCentralCheck(context));
  return [
    handle(checkMonitorRoute, async ({ params, caller, request }) => {
      const scope = scopeOf(caller);
      const { monitor, seats } = await inScope(context.database.api, scope, async (tx) => {
        const found = await findMonitor(tx, scope, params.monitor_id);
        if (found === null) throw noMonitor(params.monitor_id);
        requireRole(caller, found.workspace_id, 'editor');
        return { monitor: found, seats: await openSeats(tx, params.monitor_id) };
      });
      const askedMs = context.now();
      const replies =
        seats.length === 0
          ? [await checkCentrally(context, central, monitor, request.signal)]
          : await askAll(context, ask, monitor, seats);
      return manualCheck(monitor, seats, replies, askedMs);
    }),
  ];
}

type BoundedCheck = (...given: Parameters<CentralCheck>) => Promise<CentralRun | undefined>;

/** Undefined when so many checks are under way that there is no place for one more. */
function bounded(check: CentralCheck): BoundedCheck {
  let underWay = 0;
  return async (...given) => {
    if (underWay >= mostCentralChecks) return undefined;
    underWay += 1;
    try {
      return await check(...given);
    } finally {
      underWay -= 1;
    }
  };
}

async function checkCentrally(
  context: Context,
  central: BoundedCheck,
  monitor: MonitorRow,
  signal: AbortSignal,
): Promise<Reply> {
  const settings = { ...monitor.settings, ...openSecrets(context.sealer, monitor) };
  const checked = {
    protocol: monitor.protocol,
    url: monitor.url,
    settings,
    timeoutS: monitor.timeout_seconds,
    degradedThresholdMs: monitor.degraded_threshold_ms ?? undefined,
  };
  const run = await central(checked, { signal, isTraced: true });
  if (run === undefined)
    return {
      probeId: 0,
      missing: 'the control plane is at its limit of checks at the same time; try again in a minute',
    };
  // Nobody waits any more; an interrupted run says nothing.
  if (!signal.aborted) await storeManualResult(context.database.worker, monitor, run);
  return { probeId: 0, ...run };
}

/** Asks every probe at once. One that has let go of the monitor, because it is paused, is sent what to check. */
async function askAll(
  context: Context,
  ask: Ask,
  monitor: MonitorRow,
  seats: readonly Seat[],
): Promise<readonly Reply[]> {
  const deadlineMs = monitor.timeout_seconds * 1_000 + graceMs;
  const request: ProbeRequest = {
    monitor_id: monitor.id,
    kind: 'manual',
    deadline_ms: deadlineMs,
    trace: true,
    ...(monitor.is_active ? {} : { assignment: unsavedAssignment(context, monitor) }),
  };
  return Promise.all(
    seats.map(async ({ probeId }): Promise<Reply> => {
      const reply = await ask(probeId, request, deadlineMs);
      if (reply === undefined) return { probeId, missing: 'the probe did not answer in time or is not connected' };
      if ('refused' in reply) return { probeId, missing: reply.refused };
      const { effective_us: effectiveUs, outcome, trace } = reply.answer;
      const steps = trace.map(({ at_us: atUs, step, detail }) => ({ atMs: atUs / 1_000, step, detail }));
      return { probeId, startedMs: effectiveUs / 1_000, outcome, trace: steps };
    }),
  );
}

function unsavedAssignment(context: Context, monitor: MonitorRow): NonNullable<ProbeRequest['assignment']> {
  return {
    protocol: monitor.protocol,
    url: monitor.url,
    interval_seconds: monitor.interval_seconds,
    timeout_seconds: monitor.timeout_seconds,
    confirmations: monitor.confirmations,
    degraded_threshold_ms: monitor.degraded_threshold_ms,
    settings: { ...monitor.settings, ...openSecrets(context.sealer, monitor) },
  };
}

function manualCheck(
  monitor: MonitorRow,
  seats: readonly Seat[],
  replies: readonly Reply[],
  askedMs: number,
): ManualCheck {
  const missing = replies.flatMap((reply) =>
    'missing' in reply ? [{ probe_id: reply.probeId, reason: reply.missing }] : [],
  );
  const given = replies.flatMap((reply) => ('missing' in reply ? [] : [reply]));
  if (given.length === 0) {
    const reasons = missing.map((each) => `probe ${each.probe_id}: ${each.reason}`).join('; ');
    throw new Problem('probe_unreachable', `no probe could check monitor ${monitor.id} (${reasons.slice(0, 1_000)})`);
  }
  const answers = given.map(({ probeId, outcome }) => ({ probeId, outcome: outcome.outcome, totalUs: outcome.total }));
  return {
    monitor_id: monitor.id,
    created_at: new Date(askedMs).toISOString(),
    is_manual: true,
    status: verdictOf(seats, answers, monitor.consensus_policy),
    response_time_ms: medianMs(answers),
    results: given.map(({ probeId, startedMs, outcome }) => ({
      created_at: new Date(startedMs).toISOString(),
      probe_id: orNull(probeId),
      ...outcomeFields('manual', outcome),
    })),
    missing,
    trace: given.flatMap(({ probeId, trace }) =>
      trace.map(({ atMs, step, detail }) => ({ probe_id: orNull(probeId), at_ms: atMs, step, detail })),
    ),
  };
}

/** The control plane itself has no identifier on the wire. */
function orNull(probeId: number): number | null {
  return probeId === 0 ? null : probeId;
}
