import type { SendMailOptions } from 'nodemailer';
import type { Mail } from './mail.ts';
import { requireMailAddress } from './mail-address.ts';

/** Who a mail comes from. */
export type Sender = { readonly name: string; readonly address: string };

/**
 * A mail as nodemailer composes it: `multipart/alternative`, one recipient, a Message-ID of the sender's domain that is the same
 * at each try, and marked as made by a program (RFC 3834), so that no responder answers it.
 * @param id unique for each mail; letters, digits and dashes
 * @throws MailAddressError for a recipient that could break out of its header
 */
export function composed(mail: Mail, from: Sender, id: string): SendMailOptions {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    from: { ...from },
    to: { name: '', address: requireMailAddress(mail.to) },
    // One line, whatever stands in a name that is quoted there.
    subject: mail.subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim(),
    text: mail.text,
    html: mail.html,
    messageId: `<${id}@${domain}>`,
    headers: { ...mail.headers, 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    // Nothing in a mail may be read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
