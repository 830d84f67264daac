import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { lockState, moveOnset, openIncident, resolveIncident } from './queries.ts';
import { decideIncident, pausedSchema, transitionSchema } from './transition.ts';

/** Opens and resolves incidents as monitors change. The outbox hands out the changes of one monitor in order, one at a time. */
export const incidentConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'monitor.transition',
    consume: (transaction, row) => onTransition(transaction, row.payload),
  },
  {
    kind: 'monitor.paused',
    consume: (transaction, row) => onPaused(transaction, row.payload),
  },
];

/** @throws when the payload is none: the row stays, with the error */
async function onTransition(transaction: Transaction, payload: unknown): Promise<void> {
  const transition = transitionSchema.parse(payload);
  const place = { workspaceId: transition.workspace_id, monitorId: transition.monitor_id };
  const state = await lockState(transaction, place.monitorId);
  if (state === null) return;
  const decision = decideIncident(transition, state.monitor, state.open);
  switch (decision.kind) {
    case 'nothing':
      return;
    case 'open':
      return openIncident(transaction, place, decision);
    case 'move_onset':
      return moveOnset(transaction, place.monitorId, decision.startedMs);
    case 'resolve':
      return resolveIncident(transaction, place.monitorId, decision.resolution, decision.atMs);
  }
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
