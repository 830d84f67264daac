import type { Context } from '../../context.ts';
import { statusRanges } from '../../monitoring/status-ranges/index.ts';
import type { StatusRangeItem } from '../../monitoring/status-ranges/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../platform/outbox/consumer.ts';
import { joinOccurrences } from '../maintenance/index.ts';
import { windowOf } from './folding/fold.ts';
import { untold } from './folding/incident-state.ts';
import { amendMember, endMembers, insertMembers, knownOutages, outagesSince } from './members/queries.ts';
import { lockMonitor } from './monitors/queries.ts';
import type { LockedMonitor } from './monitors/queries.ts';
import { onMaintenanceReleased } from './release/consumer.ts';
import { amend, outagesOf, revisionSchema } from './revision.ts';
import type { Amendment, Range } from './revision.ts';
import { lockIncidents, settleIncident, settleIncidents } from './state/queries.ts';
import { insertIncident, writeIncident } from './state/writing/queries.ts';
import { ofMonitor } from './subject.ts';
import { onSubjectEvents } from './subject-events/consumer.ts';
import { subjectEventKinds, subjectEventOf } from './subject-events/event.ts';
import { pausedSchema } from './transition.ts';
import { onTransitions } from './transitions/consumer.ts';

type Work = (transaction: Transaction, payloads: readonly unknown[], nowMs: number) => Promise<void>;

/** Opens and resolves incidents as subjects change. The outbox hands out the changes of one subject in order, one at a time. */
export const incidentConsumers: readonly OutboxConsumer<Context>[] = [
  ofMany('monitor.transition', onTransitions),
  ofMany('monitor.paused', onPaused),
  ...subjectEventKinds.map((kind) =>
    ofMany(kind, (transaction, payloads, nowMs) =>
      onSubjectEvents(
        transaction,
        payloads.map((payload) => subjectEventOf(kind, payload)),
        nowMs,
      ),
    ),
  ),
  {
    kind: 'monitor.revised',
    consume: (transaction, row, context) => onRevised(transaction, row.payload, context.now()),
  },
  {
    kind: 'maintenance.released',
    consume: (transaction, row, context) => onMaintenanceReleased(transaction, row.payload, context.now()),
  },
];

/** A consumer of what comes in floods. */
function ofMany(kind: string, work: Work): OutboxConsumer<Context> {
  const consumeMany = (transaction: Transaction, rows: readonly OutboxRow[], context: Context): Promise<void> =>
    work(
      transaction,
      rows.map(({ payload }) => payload),
      context.now(),
    );
  return { kind, consume: (transaction, row, context) => consumeMany(transaction, [row], context), consumeMany };
}

/** Brings the outages to what the timeline tells now; repeating it changes nothing. */
async function onRevised(transaction: Transaction, payload: unknown, nowMs: number): Promise<void> {
  const revision = revisionSchema.parse(payload);
  const { monitor_id: monitorId } = revision;
  const subject = ofMonitor(monitorId);
  const monitor = await lockMonitor(transaction, monitorId);
  if (monitor === null || monitor.isDeleted) return;
  const sinceMs = Math.max(Date.parse(revision.since), monitor.resetMs ?? 0);
  const known = await outagesSince(transaction, subject, sinceMs);
  const fromMs = Math.min(sinceMs, ...known.map(({ startedMs }) => startedMs));
  const ranges = await statusRanges(transaction, monitorId, fromMs, farAheadMs);
  const times = { sinceMs, detectedMs: Date.parse(revision.detected_at) };
  for (const amendment of amend(times, monitor, outagesOf(ranges.map(rangeOf)), known)) {
    if (amendment.kind === 'record') {
      await record(transaction, monitorId, monitor, amendment, nowMs);
    } else {
      const incidentId = await amendMember(transaction, amendment);
      if (incidentId !== null) await settleIncident(transaction, incidentId, nowMs);
    }
  }
}

/** Writes an outage of the past as an incident of its own: what is over is told to nobody, what lasts is told unless it was found late. */
async function record(
  transaction: Transaction,
  monitorId: number,
  monitor: LockedMonitor,
  found: Extract<Amendment, { kind: 'record' }>,
  nowMs: number,
): Promise<void> {
  const { open } = await knownOutages(transaction, ofMonitor(monitorId));
  if (open !== undefined && found.resolvedMs === null) return;
  const incidentId = await insertIncident(transaction, { ...found, workspaceId: monitor.workspaceId, key: null });
  await insertMembers(transaction, [
    {
      ...found,
      workspaceId: monitor.workspaceId,
      incidentId,
      subject: ofMonitor(monitorId),
      name: monitor.name,
      endedMs: found.resolvedMs,
      windowSeconds: windowOf(monitor.intervalSeconds) / 1_000,
      cause: { at: iso(found.startedMs), ...found.cause },
    },
  ]);
  const isTold = found.resolvedMs === null && !found.detectedLate;
  if (isTold) await joinOccurrences(transaction, nowMs, [ofMonitor(monitorId)]);
  const [made] = await lockIncidents(transaction, [incidentId]);
  if (made !== undefined && isTold)
    await writeIncident(transaction, { ...made, told: { ...untold, dueMs: nowMs } }, []);
  await settleIncident(transaction, incidentId, nowMs);
}

/** Ranges are asked for without an end. */
const farAheadMs = 8.64e15;

function rangeOf({ startedMs, endedMs, status, evidence }: StatusRangeItem): Range {
  return { startedMs, endedMs, status, evidence };
}

/** A pause ends the monitor's outage: nobody looks any more. */
async function onPaused(transaction: Transaction, payloads: readonly unknown[], nowMs: number): Promise<void> {
  const ends = payloads.map((payload) => {
    const { monitor_id: id, at } = pausedSchema.parse(payload);
    return { subject: ofMonitor(id), resolution: 'paused' as const, atMs: Date.parse(at) };
  });
  await settleIncidents(transaction, await endMembers(transaction, ends), nowMs);
}

const iso = (ms: number): string => new Date(ms).toISOString();
