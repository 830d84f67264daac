import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import type { Letter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { readOwner } from '../queries.ts';

/** Tells the scope's user what happened to their account, where their address is confirmed: others have nothing to do with it. */
export async function tellOwner(
  context: Context,
  scope: Scope,
  transaction: Transaction,
  letterIn: (locale: Letter['locale']) => Letter,
): Promise<void> {
  const { email, email_verified, locale } = await readOwner(scope, transaction);
  if (email === null || !email_verified) return;
  await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(letterIn(locale)) });
}
