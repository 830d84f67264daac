import type { Mail } from '../../../platform/mail/mail.ts';
import { mailHtml } from './as-html.ts';
import { mailText } from './as-text.ts';
import { mailFacts } from './mail-facts.ts';
import type { MailRequest } from './mail-facts.ts';

/** The mail of a run to one reader. */
export function reportMail(to: string, request: MailRequest): Mail {
  const facts = mailFacts(request);
  const { unsubscribeUrl } = facts;
  return {
    to,
    subject: facts.subject,
    text: mailText(facts),
    html: mailHtml(facts),
    pictures: request.pictures.map(({ cid, name, png }) => ({ cid, name, png })),
    headers: {
      // RFC 2369, and RFC 8058 where the link is https, which alone it allows.
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      ...(unsubscribeUrl.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
    },
  };
}
