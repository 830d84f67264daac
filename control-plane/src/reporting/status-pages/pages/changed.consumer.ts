import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { statusPagesSubject } from '../../../platform/bus/subjects.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { pageChanged } from './announce.gateway.ts';

const changed = z.object({ id: z.number(), workspace_id: z.number() });

/** Hints to whoever keeps prepared pages that one is another; after the commit, whoever changed it. */
export const changedConsumer: OutboxConsumer<Context> = {
  kind: pageChanged,
  consume: async (_transaction, { payload }, context) => {
    context.bus.hint(statusPagesSubject, changed.parse(payload));
  },
};
