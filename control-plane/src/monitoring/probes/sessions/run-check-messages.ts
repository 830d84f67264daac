import { CheckKind } from '@parallax/wire';
import type { Assignment, ControlMessage, RunCheck } from '@parallax/wire';
import type { DiagnoseRequest, ReadChainRequest, RunCheckRequest } from '../dispatch-messages.ts';

const kinds = { scheduled: CheckKind.SCHEDULED, recheck: CheckKind.RECHECK, manual: CheckKind.MANUAL } as const;
const recheckDeadlineMs = 30_000;

type Message = Extract<NonNullable<ControlMessage['message']>, { $case: 'runCheck' }>;

/** A check that somebody waits for. */
export function runCheckMessage(requestId: string, request: RunCheckRequest): Message {
  const { monitor_id: monitorId, deadline_ms: deadlineMs, expires_at_ms: expiresMs, kind, trace } = request;
  return message({
    requestId,
    monitorId,
    deadlineMs,
    kind: kinds[kind],
    assignment: unsavedAssignment(request),
    trace,
    expiresUs: BigInt(expiresMs ?? 0) * 1_000n,
  });
}

/** What lies between the probe and the target. */
export function diagnoseMessage(requestId: string, request: DiagnoseRequest): Message {
  const { monitor_id: monitorId, deadline_ms: deadlineMs } = request;
  return message({ requestId, monitorId, deadlineMs, diagnose: true });
}

/** The certificates of the target. With `diagnose`, so that an agent which knows no chains makes no check of it. */
export function readChainMessage(requestId: string, request: ReadChainRequest): Message {
  const { monitor_id: monitorId, deadline_ms: deadlineMs } = request;
  const assignment = unsavedAssignment(request);
  return message({ requestId, monitorId, deadlineMs, assignment, diagnose: true, readChain: true });
}

/** A second opinion. Nobody waits: the result comes by the log. */
export function recheckMessage(monitorId: number): Message {
  return message({ requestId: '', monitorId, deadlineMs: recheckDeadlineMs, kind: CheckKind.RECHECK });
}

function message(
  value: Pick<RunCheck, 'requestId' | 'monitorId' | 'deadlineMs'> &
    Partial<Omit<RunCheck, 'assignment'>> & { assignment?: Assignment | undefined },
): Message {
  const none = { assignment: undefined, trace: false, diagnose: false, readChain: false, expiresUs: 0n };
  return { $case: 'runCheck', value: { kind: CheckKind.MANUAL, ...none, ...value } };
}

function unsavedAssignment(request: Pick<RunCheckRequest, 'monitor_id' | 'assignment'>): Assignment | undefined {
  const given = request.assignment;
  if (given === undefined) return undefined;
  return {
    monitorId: request.monitor_id,
    revision: 0n,
    probeRevision: 1,
    shard: 0,
    protocol: given.protocol,
    url: given.url,
    intervalSeconds: given.interval_seconds,
    timeoutSeconds: given.timeout_seconds,
    confirmations: given.confirmations,
    degradedThresholdMs: given.degraded_threshold_ms ?? 0,
    settingsJson: Buffer.from(JSON.stringify(given.settings)),
    supplement: false,
    privateTargets: given.private_targets,
  };
}
