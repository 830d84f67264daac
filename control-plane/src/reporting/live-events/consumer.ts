import { liveEventKinds } from '@parallax/api-contract';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { liveEventsSubject } from '../../platform/bus/subjects.ts';
import { keepEvent } from './queries.ts';

const payloadSchema = z.looseObject({ workspace_id: z.number().int() });

/** Keeps what changed for those who watch. Evidence is read with the range that it belongs to, and would be most of what is told. */
export const liveEventConsumers: readonly OutboxConsumer<Context>[] = liveEventKinds.map((kind) => ({
  kind,
  consume: async (transaction, row, { bus }) => {
    const { evidence: _, ...payload } = payloadSchema.parse(row.payload);
    await keepEvent(transaction, { workspaceId: payload.workspace_id, kind, payload });
    // It comes before the commit, so whoever hears it looks a little later.
    bus.hint(liveEventsSubject, {});
  },
}));
