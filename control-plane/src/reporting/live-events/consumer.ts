import { liveEventKinds } from '@parallax/api-contract';
import type { LiveEventKind } from '@parallax/api-contract';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../platform/outbox/consumer.ts';
import { liveEventsSubject } from '../../platform/bus/subjects.ts';
import { keepEvents } from './queries.ts';

const payloadSchema = z.looseObject({ workspace_id: z.number().int() });

/** Keeps what changed for those who watch. Evidence is read with the range that it belongs to, and would be most of what is told. */
export const liveEventConsumers: readonly OutboxConsumer<Context>[] = liveEventKinds.map((kind) => ({
  kind,
  consume: (transaction, row, context) => keep(transaction, kind, [row], context),
  consumeMany: (transaction, rows, context) => keep(transaction, kind, rows, context),
}));

async function keep(
  transaction: Transaction,
  kind: LiveEventKind,
  rows: readonly OutboxRow[],
  { bus }: Pick<Context, 'bus'>,
): Promise<void> {
  const events = rows.map((row) => {
    const { evidence: _, ...payload } = payloadSchema.parse(row.payload);
    return { workspaceId: payload.workspace_id, kind, payload };
  });
  await keepEvents(transaction, events);
  // It comes before the commit, so whoever hears it looks a little later.
  bus.hint(liveEventsSubject, {});
}
