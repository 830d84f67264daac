import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import type { OutboxConsumer, OutboxRow } from '../../../platform/outbox/consumer.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { issueToken, tokensInLastHour } from '../../account-tokens/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { linkTo, resetPasswordLetter } from '../../mails/index.ts';
import { lockAddressee } from './queries.ts';

const kind = 'account.password_forgotten';
const sealedFor = 'forgotten password';

const request = z.object({ email: z.string(), remoteAddress: z.string(), requestId: z.string() });
type ForgottenPassword = z.output<typeof request>;

/**
 * Notes that somebody forgot their password. What is done here is the same whether or not the address has an account, and nothing looks it up
 * until the answer is given: neither its text nor its time tells anything.
 */
export async function noteForgotten(
  transaction: Transaction,
  sealer: Sealer,
  forgotten: ForgottenPassword,
): Promise<void> {
  const sealed = sealer.seal(JSON.stringify(forgotten), sealedFor).toString('base64');
  await enqueue(transaction, { key: `${kind}:${forgotten.requestId}`, kind, payload: { sealed } });
}

const payloadShape = z.object({ sealed: z.string() });

/** Mails a link to whoever forgot their password, if the address has an account. */
export const forgottenPasswordConsumer: OutboxConsumer<Context> = {
  kind,
  consume: async (transaction: Transaction, row: OutboxRow, context: Context) => {
    const { sealed } = payloadShape.parse(row.payload);
    const opened = context.sealer.open(Buffer.from(sealed, 'base64'), sealedFor).toString();
    const { email, ...from } = request.parse(JSON.parse(opened));
    // Its row is locked, so that the links of an hour are counted one request after the other.
    const user = await lockAddressee(transaction, email);
    if (user === null) return;
    const scope = { userId: user.id, workspaceIds: [] };
    // More are asked for in vain, and nobody is told.
    const { quota } = context.limits.rate('forgot_password_account');
    if ((await tokensInLastHour(scope, transaction, 'password')) >= quota) return;
    const token = await issueToken(scope, transaction, 'password', email);
    const url = linkTo(context.publicUrl, 'reset-password', token);
    const letter = resetPasswordLetter(user.locale, url, from.remoteAddress);
    await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(letter) });
    await recordAudit(transaction, { kind: 'user', userId: user.id }, from, {
      action: 'password.reset_requested',
      subjectType: 'user',
      subjectId: user.id,
    });
  },
};
