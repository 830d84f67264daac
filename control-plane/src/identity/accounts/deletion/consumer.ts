import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { forgetInAuditLog, removeWhatBelongsTo } from './queries.ts';

/** Told in the transaction that deletes an account. */
export const accountDeleted = 'account.deleted';

const payloadShape = z.object({ user_id: z.number() });

/** Removes what is left of a deleted account, whose workspaces are emptied on their own. Repeating it changes nothing. */
export const deletedAccountConsumer: OutboxConsumer<Context> = {
  kind: accountDeleted,
  consume: async (transaction, row) => {
    const scope = { userId: payloadShape.parse(row.payload).user_id, workspaceIds: [] };
    await removeWhatBelongsTo(scope, transaction);
    await forgetInAuditLog(scope, transaction);
  },
};
