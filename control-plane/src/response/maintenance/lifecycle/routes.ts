import { cancelMaintenanceRoute, endMaintenanceRoute, Problem } from '@parallax/api-contract';
import type { Maintenance } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { storedOfAnswer } from '../answer.ts';
import { maintenanceNews } from '../claims/news.ts';
import { closeOccurrence } from '../claims/queries.ts';
import { changeMaintenance, noMaintenance } from '../gateway.ts';
import type { Done } from '../gateway.ts';
import { writeMaintenance } from '../queries.ts';
import { nextWindow } from '../recurrence/occurrences.ts';
import { scheduleOf } from '../schedule.ts';

/** Cancelling a maintenance, and ending the occurrence that lasts. */
export function maintenanceLifecycleRoutes(context: Context): Route[] {
  return [
    handle(cancelMaintenanceRoute, async ({ params, caller, request }) => {
      const changed = await changeMaintenance(context, { caller, request }, params.id, (tx, maintenance) =>
        cancel(tx, maintenance, context.now()),
      );
      if (changed === undefined) throw noMaintenance(params.id);
      return changed;
    }),

    handle(endMaintenanceRoute, async ({ params, caller, request }) => {
      const changed = await changeMaintenance(context, { caller, request }, params.id, (tx, maintenance) =>
        end(tx, maintenance, context.now()),
      );
      if (changed === undefined) throw noMaintenance(params.id);
      return changed;
    }),
  ];
}

async function cancel(tx: Transaction, maintenance: Maintenance, nowMs: number): Promise<Done | null> {
  if (maintenance.status === 'cancelled') return null;
  if (maintenance.status === 'completed')
    throw new Problem('conflict', 'it is completed, so there is nothing to cancel');
  await writeMaintenance(tx, maintenance, { status: 'cancelled', next: null });
  const closed = await closeOccurrence(tx, maintenance.id, 'cancelled', nowMs);
  await enqueue(tx, maintenanceNews('maintenance.cancelled', maintenance, closed, nowMs));
  return { action: 'maintenance.cancelled', detail: { was_active: closed !== null } };
}

async function end(tx: Transaction, maintenance: Maintenance, nowMs: number): Promise<Done> {
  const closed = await closeOccurrence(tx, maintenance.id, 'ended', nowMs);
  if (closed === null) throw new Problem('conflict', `it is ${maintenance.status}: no occurrence lasts`);
  const next = followingOf(maintenance, closed.endsMs);
  await writeMaintenance(tx, maintenance, { status: next === null ? 'completed' : 'scheduled', next });
  await enqueue(tx, maintenanceNews('maintenance.ended', maintenance, closed, nowMs));
  return { action: 'maintenance.ended', detail: { occurrence_id: closed.id } };
}

/** The next occurrence behind one that was ended early; what would have gone on from its planned end is ended with it. */
function followingOf(maintenance: Maintenance, plannedEndMs: number) {
  const { next } = maintenance;
  if (next === null) return null;
  const isContinuation = Date.parse(next.starts_at) <= plannedEndMs;
  const afterMs = isContinuation ? Date.parse(next.ends_at) : plannedEndMs;
  return nextWindow(scheduleOf(storedOfAnswer(maintenance)), afterMs) ?? null;
}
