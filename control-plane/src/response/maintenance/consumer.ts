import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { conditionOf } from './holds/condition.ts';
import { change, well } from './holds/hold.ts';
import {
  announcement,
  findAnnounced,
  forgetAnnounced,
  isHeld,
  joinOccurrences,
  lockStates,
  writeState,
} from './holds/queries.ts';

const transitionSchema = z.object({
  monitor_id: z.number().int(),
  to: z.string(),
  at: z.iso.datetime({ offset: true }),
  range_started_at: z.iso.datetime({ offset: true }).nullish(),
});
const pausedSchema = z.object({ monitor_id: z.number().int() });

/**
 * Tells what changes of monitors mean for those who are sent messages, or holds it back under maintenance. The outbox hands out the changes
 * of one monitor in order, one at a time.
 */
export const maintenanceConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'monitor.transition',
    consume: (tx, row, context) => onTransition(tx, row.payload, context.now()),
  },
  {
    // Nobody looks any more, so nothing is told of it; when it goes on it is UNKNOWN first.
    kind: 'monitor.paused',
    consume: (tx, row) => forgetAnnounced(tx, pausedSchema.parse(row.payload).monitor_id),
  },
];

/** @throws when the payload is none: the row stays, with the error */
async function onTransition(tx: Transaction, payload: unknown, nowMs: number): Promise<void> {
  const { monitor_id: monitorId, to, at, range_started_at: startedAt } = transitionSchema.parse(payload);
  const condition = conditionOf(to);
  if (condition === null) return;
  const monitor = await findAnnounced(tx, monitorId);
  if (monitor === null || (monitor.resetMs !== null && Date.parse(at) < monitor.resetMs)) return;
  await joinOccurrences(tx, nowMs, monitorId);
  const held = await isHeld(tx, monitorId);
  const state = (await lockStates(tx, [monitorId])).get(monitorId) ?? well;
  const sinceMs = condition === 'down' ? Math.min(Date.parse(at), Date.parse(startedAt ?? at)) : Date.parse(at);
  const step = change(state, condition, sinceMs, held);
  await writeState(tx, monitorId, step.state);
  if (step.tell !== null)
    await enqueue(tx, announcement(monitor, step.tell, step.state, { atMs: Date.parse(at), isHeld: false }));
}
