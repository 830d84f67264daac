import type { DatabasePool } from 'slonik';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { mailDue } from './failing.ts';
import { failingLetter } from './letter.ts';
import { lockFailing, noteMailed, readersOf } from './queries.ts';

/** Tells of webhooks that have failed for long, and switches those off that have failed for five days. */
export async function tellFailing(
  parts: { readonly pool: DatabasePool; readonly sealer: Sealer; readonly publicUrl: string },
  nowMs: number,
): Promise<void> {
  await parts.pool.transaction(async (transaction) => {
    for (const webhook of await lockFailing(transaction, nowMs)) {
      const failures = {
        sinceMs: webhook.failing_since,
        lastMs: webhook.last_failure_at,
        count: webhook.failures,
        mailsSent: webhook.mails_sent,
      };
      const due = mailDue(failures, nowMs);
      if (due === undefined) continue;
      await noteMailed(transaction, webhook.id, due.mails, due.isOff);
      for (const { email, locale } of await readersOf(transaction, webhook.id)) {
        const letter = failingLetter(locale, {
          name: webhook.name,
          origin: webhook.origin,
          workspace: webhook.workspace_name,
          hours: due.hours,
          isOff: due.isOff,
          url: parts.publicUrl,
        });
        await enqueueMail(transaction, parts.sealer, { to: email, ...renderLetter(letter) });
      }
    }
  });
}
