import type { Context } from '../../context.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { renderLetter } from '../../platform/mail/letter.ts';
import { enqueueMail } from '../../platform/mail/mail.ts';
import { receivedLetter } from './letters.ts';
import { administrators, beginHour, takeUnmailed } from './mails.queries.ts';

/**
 * Mails every administrator one bundle of the items that came since the last one, at most once an hour. An administrator is not mailed about
 * items of their own. While no administrator has a confirmed address, the items wait for one.
 */
export async function mailAdministrators(transaction: Transaction, context: Context): Promise<void> {
  const readers = await administrators(transaction);
  if (readers.length === 0 || !(await beginHour(transaction, context.now()))) return;
  const items = await takeUnmailed(transaction, context.now());
  const url = context.frontendUrl ?? context.publicUrl;
  for (const reader of readers) {
    const ofOthers = items.filter(({ user_id }) => user_id !== reader.id);
    if (ofOthers.length === 0) continue;
    const letter = receivedLetter(reader.locale, ofOthers, url);
    await enqueueMail(transaction, context.sealer, { to: reader.email, ...renderLetter(letter) });
  }
}
