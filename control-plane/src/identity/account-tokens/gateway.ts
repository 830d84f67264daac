import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { enqueueMail } from '../../platform/mail/mail.ts';
import { renderLetter } from '../../platform/mail/letter.ts';
import { linkTo, verifyAddressLetter } from '../mails/index.ts';
import { issueToken } from './queries.ts';

/** Mails the scope's user a link that confirms their present address, in the transaction that asks for it. */
export async function mailVerification(
  context: Pick<Context, 'sealer' | 'publicUrl'>,
  scope: Scope,
  transaction: Transaction,
  user: { readonly email: string; readonly locale: 'en' | 'ru' },
): Promise<void> {
  const token = await issueToken(scope, transaction, 'email', user.email);
  const letter = verifyAddressLetter(user.locale, linkTo(context.publicUrl, 'confirm-email', token));
  await enqueueMail(transaction, context.sealer, { to: user.email, ...renderLetter(letter) });
}
