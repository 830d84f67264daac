import { renderLetter } from '../../../../platform/mail/letter.ts';
import type { Mail } from '../../../../platform/mail/mail.ts';
import { noticeUrl } from './notice.ts';
import type { Notice } from './notice.ts';
import { noticeText } from './notice-text.ts';
import { noticeWords } from './words.ts';

/** A notice as a mail, with the one click that ends the subscription (RFC 8058, which is for https alone). */
export function noticeMail(to: string, notice: Notice): Mail {
  const { subject, paragraphs, open, notes } = noticeText(notice);
  const { manageUrl, locale } = notice;
  return {
    to,
    ...renderLetter({
      locale,
      subject,
      paragraphs,
      action: { label: open, url: noticeUrl(notice) },
      notes: [...notes, `${noticeWords[locale].manage}: ${manageUrl}`],
    }),
    headers: {
      'List-Unsubscribe': `<${manageUrl}>`,
      ...(manageUrl.startsWith('https:') ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
    },
  };
}
