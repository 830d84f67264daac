import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import type { OutboxConsumer } from '../../../platform/outbox/consumer.ts';
import { readUser } from '../../auth/index.ts';
import { secondFactorResetLetter } from '../../mails/index.ts';

/** Told in the transaction that removes the second factor of an account. */
export const secondFactorReset = 'account.second_factor_reset';

const payloadShape = z.object({ user_id: z.number() });

/** Tells an account by mail that its second factor was removed: by the product, since the command may not have the key that mails are sealed with. */
export const secondFactorResetConsumer: OutboxConsumer<Context> = {
  kind: secondFactorReset,
  consume: async (transaction, row, context) => {
    const scope = { userId: payloadShape.parse(row.payload).user_id, workspaceIds: [] };
    const { email, locale } = await readUser(scope, transaction);
    if (email === null) return;
    await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(secondFactorResetLetter(locale)) });
  },
};
