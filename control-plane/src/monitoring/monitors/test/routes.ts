import { groupProtocol, invalidInput, Problem, testMonitorRoute } from '@parallax/api-contract';
import type { MonitorTest, TestMonitor } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countTrial } from '../../../identity/unconfirmed/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { requireRole, roles, scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { loadCandidates, requiredCapabilities, sharedProbeTargets, unknownProbes } from '../../assignments/index.ts';
import type { ProbeCandidate, WorkspaceReach } from '../../assignments/index.ts';
import { answerOf } from '../check/answer.ts';
import { askProbes, centralReply } from '../check/replies.ts';
import type { ByHand, Reply } from '../check/replies.ts';
import type { Seat } from '../check/verdict.ts';
import type { Actor } from '../gateway.ts';
import { requireShown } from '../not-found.ts';
import type { MonitorView } from '../not-found.ts';
import { planLimits } from '../plan-limits.ts';
import { findMonitor, workspaceOwner } from '../queries.ts';
import type { MonitorRow } from '../queries.ts';
import { requireReachable } from '../reachable.ts';
import { openSecrets } from '../secrets.ts';
import { nameFromTarget } from '../target.ts';
import { newMonitor } from '../values.ts';
import type { OpenMonitor, PlainValues } from '../values.ts';
import { chooseTesters } from './testers.ts';

/** Tests of configurations that are not stored. */
export function testRoutes(context: Context, means: ByHand): Route[] {
  return [
    handle(testMonitorRoute, ({ body, caller, request }) =>
      testConfiguration(context, means, { caller, request }, { body }),
    ),
  ];
}

/** What is to be tested. */
export type Trial = {
  readonly body: TestMonitor;
  /** The whole of the body where it depends on the stored monitor that it is an edition of. */
  readonly complete?: (edited: OpenMonitor) => TestMonitor;
  readonly view?: MonitorView;
};

/**
 * Tests a configuration as POST /monitors/test does.
 * @throws Problem as that route answers it
 */
export async function testConfiguration(
  context: Context,
  means: ByHand,
  { caller, request }: Actor,
  { body: given, complete, view }: Trial,
): Promise<MonitorTest> {
  const { workspaceId, edited, probes } = await inScope(context.database.api, scopeOf(caller), (tx) =>
    whatIsThere(tx, caller, given, view),
  );
  await countTrial(context, caller);
  const owner = await workspaceOwner(context.database.worker, workspaceId);
  const open = edited && { stored: edited, secrets: openSecrets(context.sealer, edited) };
  const body = open === undefined || complete === undefined ? given : complete(open);
  // A configuration that is tested once is not checked at its interval, which an unconfirmed address would rule.
  const limits = { ...planLimits(context, owner), unconfirmedIntervalSeconds: 0 };
  const values = newMonitor(body, body.name ?? nameFromTarget(body.url), limits, open);
  requireReachable(context, values, owner);
  const seats = testersOf(values, probes);
  const askedMs = context.now();
  const replies = await askAll({ ...values, workspaceId, reach: owner.reach, askedMs }, context, seats, {
    ...means,
    signal: request.signal,
  });
  return answerOf({ what: 'this configuration', seats, policy: values.consensus_policy, askedMs }, replies);
}

type There = {
  readonly workspaceId: number;
  readonly edited: MonitorRow | undefined;
  readonly probes: readonly ProbeCandidate[];
};

/**
 * Where the test takes place, the stored monitor that it is an edition of, and the probes that may be asked.
 * @throws Problem where the caller may not edit there. A monitor is tested in its own workspace only: its secrets are not for the probes of others.
 */
async function whatIsThere(
  tx: Transaction,
  caller: Caller,
  body: TestMonitor,
  view: MonitorView | undefined,
): Promise<There> {
  const { monitor_id: monitorId } = body;
  const edited =
    monitorId === undefined
      ? undefined
      : requireShown(await findMonitor(tx, scopeOf(caller), monitorId), monitorId, view);
  const workspaceId = body.workspace_id ?? edited?.workspace_id ?? firstEditable(caller);
  requireRole(caller, workspaceId, 'editor');
  if (edited !== undefined && edited.workspace_id !== workspaceId)
    throw invalidInput('body', '/workspace_id', 'other_workspace', `monitor ${edited.id} is in another workspace`);
  return { workspaceId, edited, probes: await loadCandidates(tx, workspaceId) };
}

function firstEditable(caller: Caller): number {
  const editable = [...caller.workspaces].filter(([, role]) => roles.indexOf(role) >= roles.indexOf('editor'));
  const [first] = editable.map(([id]) => id).sort((a, b) => a - b);
  if (first === undefined) throw new Problem('forbidden', 'there is no workspace in which you have the role editor');
  return first;
}

function testersOf(values: PlainValues, probes: readonly ProbeCandidate[]): readonly Seat[] {
  if (values.protocol === groupProtocol) return [];
  const choice = chooseTesters(
    {
      probeIds: values.wanted_probe_ids,
      regions: values.wanted_regions,
      requires: requiredCapabilities(values.protocol, values.url, values.settings.open),
    },
    probes,
  );
  if (choice.kind === 'testers') return choice.seats;
  if (choice.reason === 'unknown_probe') throw unknownProbes(choice.detail, choice.places);
  throw new Problem('no_probe_able', choice.detail);
}

type Means = ByHand & { readonly signal: AbortSignal };

async function askAll(
  values: PlainValues & { readonly workspaceId: number; readonly reach: WorkspaceReach; readonly askedMs: number },
  { allowedPrivateTargets }: Pick<Context, 'allowedPrivateTargets'>,
  seats: readonly Seat[],
  means: Means,
): Promise<readonly Reply[]> {
  const { protocol, url, timeout_seconds: timeoutSeconds, degraded_threshold_ms: thresholdMs } = values;
  const settings = { ...values.settings.open, ...values.settings.secret };
  if (seats.length === 0) {
    const checked = {
      protocol,
      url,
      settings,
      timeoutS: timeoutSeconds,
      degradedThresholdMs: thresholdMs ?? undefined,
      workspaceId: values.workspaceId,
      reach: values.reach,
    };
    return [centralReply(await means.central(checked, { signal: means.signal, isTraced: true }))];
  }
  const assignment = {
    protocol,
    url,
    interval_seconds: values.interval_seconds,
    timeout_seconds: timeoutSeconds,
    confirmations: values.confirmations,
    degraded_threshold_ms: thresholdMs,
    settings,
    private_targets: sharedProbeTargets(allowedPrivateTargets, values.reach),
  };
  // With an assignment of its own nothing of the run is kept, and there is no monitor that it could be kept for.
  return askProbes(
    means.ask,
    seats.map(({ probeId }) => probeId),
    { monitor_id: 0, timeoutSeconds, askedMs: values.askedMs, assignment },
  );
}
