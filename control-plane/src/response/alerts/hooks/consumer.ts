import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { forgetTargetsOf } from './queries.ts';

const payloadShape = z.object({ user_id: z.number() });

/** Whose account is deleted is told nothing more, and nothing keeps where they were told. Their alerts go with the account. */
export const deletedOwnerConsumer: OutboxConsumer<Context> = {
  kind: 'account.deleted',
  consume: (transaction, row, context) =>
    forgetTargetsOf(transaction, payloadShape.parse(row.payload).user_id, context.now()),
};
