import type { Context } from '../../context.ts';
import { onsetOf, statusRanges } from '../../monitoring/status-ranges/index.ts';
import type { StatusRangeItem } from '../../monitoring/status-ranges/index.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import {
  amendIncident,
  incidentsSince,
  lockState,
  moveOnset,
  nameMemberIncidents,
  openIncident,
  recordIncident,
  removeIncidents,
  reopenIncident,
  resolveIncident,
} from './queries.ts';
import { isVoidByReset } from './reset.ts';
import { amend, outagesOf, revisionSchema } from './revision.ts';
import type { Range } from './revision.ts';
import { decideIncident, pausedSchema, transitionSchema } from './transition.ts';
import type { Transition } from './transition.ts';

/** Opens and resolves incidents as monitors change. The outbox hands out the changes of one monitor in order, one at a time. */
export const incidentConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'monitor.transition',
    consume: (transaction, row) => onTransition(transaction, row.payload),
  },
  {
    kind: 'monitor.revised',
    consume: (transaction, row) => onRevised(transaction, row.payload),
  },
  {
    kind: 'monitor.paused',
    consume: (transaction, row) => onPaused(transaction, row.payload),
  },
];

/** @throws when the payload is none: the row stays, with the error */
async function onTransition(transaction: Transaction, payload: unknown): Promise<void> {
  const transition = transitionSchema.parse(payload);
  const { monitor_id: monitorId } = transition;
  const state = await lockState(transaction, monitorId);
  if (state === null || isVoidByReset(transition, state.resetMs)) return;
  const decision = decideIncident(await withOnset(transaction, transition), state.monitor, state.open, state.ended);
  switch (decision.kind) {
    case 'nothing':
      return;
    case 'open':
      await openIncident(transaction, monitorId, decision);
      return nameMemberIncidents(transaction, monitorId);
    case 'reopen':
      await reopenIncident(transaction, decision);
      return nameMemberIncidents(transaction, monitorId);
    case 'move_onset':
      return moveOnset(transaction, monitorId, decision.startedMs);
    case 'resolve':
      return resolveIncident(transaction, monitorId, decision.resolution, decision.atMs);
  }
}

/** An outage that was TIMEOUT before it was DOWN, or the other way, began with the first of its ranges. */
async function withOnset(transaction: Transaction, transition: Transition): Promise<Transition> {
  const { monitor_id: monitorId, to, range_started_at: startedAt } = transition;
  if ((to !== 'DOWN' && to !== 'TIMEOUT') || startedAt == null) return transition;
  const onsetMs = await onsetOf(transaction, monitorId, Date.parse(startedAt));
  return { ...transition, range_started_at: new Date(onsetMs).toISOString() };
}

/** Brings the incidents to what the timeline tells now; repeating it changes nothing. */
async function onRevised(transaction: Transaction, payload: unknown): Promise<void> {
  const revision = revisionSchema.parse(payload);
  const { monitor_id: monitorId } = revision;
  const state = await lockState(transaction, monitorId);
  if (state === null || state.monitor.isDeleted) return;
  const sinceMs = Math.max(Date.parse(revision.since), state.resetMs ?? 0);
  const incidents = await incidentsSince(transaction, monitorId, sinceMs);
  const fromMs = Math.min(sinceMs, ...incidents.map(({ startedMs }) => startedMs));
  const ranges = await statusRanges(transaction, monitorId, fromMs, farAheadMs);
  const times = { sinceMs, detectedMs: Date.parse(revision.detected_at) };
  for (const amendment of amend(times, state.monitor, outagesOf(ranges.map(rangeOf)), incidents)) {
    if (amendment.kind === 'record') await recordIncident(transaction, monitorId, amendment);
    else await amendIncident(transaction, amendment);
  }
}

/** Ranges are asked for without an end. */
const farAheadMs = 8.64e15;

function rangeOf({ startedMs, endedMs, status, evidence }: StatusRangeItem): Range {
  return { startedMs, endedMs, status, evidence: evidence as Readonly<Record<string, unknown>> };
}

/** A pause ends the monitor's incident: nobody looks any more. */
async function onPaused(transaction: Transaction, payload: unknown): Promise<void> {
  const paused = pausedSchema.parse(payload);
  await resolveIncident(transaction, paused.monitor_id, 'paused', Date.parse(paused.at));
}

/** Hook of the deletion of a monitor. */
export function resolveIncidentOfDeleted(transaction: Transaction, monitorId: number): Promise<void> {
  return resolveIncident(transaction, monitorId, 'deleted', undefined);
}

/** Hook of the reset of a monitor's statistics: its incidents go with what they were made from. */
export async function removeIncidentsOfReset(
  transaction: Transaction,
  monitorId: number,
): Promise<{ readonly incidents: number }> {
  return { incidents: await removeIncidents(transaction, monitorId) };
}
