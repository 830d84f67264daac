import { z } from 'zod';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { released } from '../folding/by-hand.ts';
import { settle } from '../folding/settle.ts';
import { heldIncidents, isHeld, lockIncidents } from '../state/queries.ts';
import { writeIncident } from '../state/writing/queries.ts';

/** Incidents that an all-clear names; the count is of all. */
const namedIncidents = 20;

const releasedSchema = z.looseObject({
  maintenance_id: z.number().int(),
  workspace_id: z.number().int(),
  name: z.string(),
});

/**
 * What a maintenance held back is told when it lets go of whom it covered: of each incident that lasts that it was opened, and of all those that
 * ended meanwhile one all-clear. Where another maintenance covers an incident still, that one holds it.
 */
export async function onMaintenanceReleased(transaction: Transaction, payload: unknown, nowMs: number): Promise<void> {
  const event = releasedSchema.parse(payload);
  const { workspace_id: workspaceId, maintenance_id: maintenanceId } = event;
  const over: { readonly incident_id: number; readonly title: string }[] = [];
  for (const held of await lockIncidents(transaction, await heldIncidents(transaction, workspaceId))) {
    // Another release may have told it while its lock was waited for.
    if (held.told.heldMs === null || (await isHeld(transaction, held))) continue;
    // Of what ended since nobody looks any more, or was none, there is nothing to be cleared.
    if (held.resolution === 'auto') over.push({ incident_id: held.id, title: held.title });
    const { incident, messages } = settle(released(held, nowMs), nowMs, false);
    await writeIncident(transaction, incident, messages);
  }
  if (over.length === 0) return;
  await enqueue(transaction, {
    key: `maintenance:${maintenanceId}`,
    kind: 'maintenance.all_clear',
    payload: { ...event, incident_count: over.length, incidents: over.slice(0, namedIncidents) },
  });
}
