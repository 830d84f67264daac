import { z } from 'zod';
import type { Context } from '../../context.ts';
import { renderLetter } from '../../platform/mail/letter.ts';
import { enqueueMail } from '../../platform/mail/mail.ts';
import type { OutboxConsumer } from '../../platform/outbox/consumer.ts';
import { mailAdministrators } from './mails.gateway.ts';
import { repliedLetter } from './letters.ts';
import { findReply } from './mails.queries.ts';

/** Enqueued in the transaction that keeps a new item. */
export const feedbackReceived = 'feedback.received';
/** Enqueued in the transaction that keeps a new reply. */
export const feedbackReplied = 'feedback.replied';

const replied = z.object({ id: z.number(), replied_at: z.number() });

/** Mails the administrators at once, unless they were mailed in the last hour: then the upkeep does. */
export const receivedConsumer: OutboxConsumer<Context> = {
  kind: feedbackReceived,
  consume: (transaction, _row, context) => mailAdministrators(transaction, context),
};

/** Mails a reply to its author; one that was replaced or removed meanwhile is not mailed. */
export const repliedConsumer: OutboxConsumer<Context> = {
  kind: feedbackReplied,
  consume: async (transaction, row, context) => {
    const { id, replied_at } = replied.parse(row.payload);
    const reply = await findReply(transaction, id, replied_at);
    if (reply === null) return;
    const url = context.frontendUrl ?? context.publicUrl;
    const letter = repliedLetter(reply.locale, { message: reply.message, reply: reply.reply, url });
    await enqueueMail(transaction, context.sealer, { to: reply.email, ...renderLetter(letter) });
  },
};
