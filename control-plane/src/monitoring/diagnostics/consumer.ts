import type { Context } from '../../context.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { noteWanted } from './queries.ts';
import { wantedBy } from './wanted.ts';

/** Notes disagreements in the transaction that takes the news of them, so that a restart loses none. */
export const diagnosticsConsumers: readonly OutboxConsumer<Context>[] = [
  {
    kind: 'monitor.transition',
    consume: async (transaction, row) => {
      const wanted = wantedBy(row.payload);
      if (wanted !== undefined) await noteWanted(transaction, wanted);
    },
  },
];
