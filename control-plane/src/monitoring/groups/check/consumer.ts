import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { groupLookSubject } from '../../../platform/bus/subjects.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { groupMonitorsOf } from './queries.ts';

const changedSchema = z.object({ monitor_id: z.number().int() });

/**
 * Has group monitors looked at as soon as a member has changed. What changed is committed with the row, so that the look sees it. A hint that is lost
 * costs time and nothing else: the next regular look finds the same, and dates it the same.
 */
export const groupCheckConsumers: readonly OutboxConsumer<Context>[] = [
  'monitor.transition',
  'monitor.paused',
  'monitor.resumed',
].map((kind) => ({ kind, consume: (transaction, row, context) => hintGroups(transaction, row.payload, context) }));

async function hintGroups(transaction: Transaction, payload: unknown, context: Pick<Context, 'bus'>): Promise<void> {
  const { monitor_id: monitorId } = changedSchema.parse(payload);
  const monitorIds = await groupMonitorsOf(transaction, monitorId);
  if (monitorIds.length > 0) context.bus.hint(groupLookSubject, { monitor_ids: monitorIds });
}
