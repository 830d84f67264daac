import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { OutboxConsumer, OutboxRow } from '../../platform/outbox/consumer.ts';
import { noteWanted } from './queries.ts';
import { wantedBy } from './wanted.ts';

/** Notes disagreements in the transaction that takes the news of them, so that a restart loses none. */
export const diagnosticsConsumers: readonly OutboxConsumer<Context>[] = [
  { kind: 'monitor.transition', consume: (transaction, row) => noteAll(transaction, [row]), consumeMany: noteAll },
];

/** Disagreements are few, also among many that fail at once. */
async function noteAll(transaction: Transaction, rows: readonly OutboxRow[]): Promise<void> {
  for (const { payload } of rows) {
    const wanted = wantedBy(payload);
    if (wanted !== undefined) await noteWanted(transaction, wanted);
  }
}
