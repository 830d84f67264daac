import type { SendMailOptions } from 'nodemailer';
import type { MailFile } from './files.ts';
import type { Mail } from './mail.ts';
import { requireMailAddress } from './mail-address.ts';

/** Who a mail comes from. */
export type Sender = { readonly name: string; readonly address: string };

/**
 * A mail as nodemailer composes it: `multipart/alternative`, with what is attached around it, one recipient, a Message-ID of the sender's domain that is the same
 * at each try, and marked as made by a program (RFC 3834), so that no responder answers it.
 * @param id unique for each mail; letters, digits and dashes
 * @throws MailAddressError for a recipient that could break out of its header
 */
export function composed(mail: Mail, from: Sender, id: string, files: readonly MailFile[] = []): SendMailOptions {
  const { pictures = [] } = mail;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    from: { ...from },
    to: { name: '', address: requireMailAddress(mail.to) },
    // One line, whatever stands in a name that is quoted there.
    subject: mail.subject.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim(),
    text: mail.text,
    html: mail.html,
    attachments: [
      ...pictures.map(({ cid, name, png }) => ({
        cid,
        filename: name,
        contentType: 'image/png',
        contentDisposition: 'inline' as const,
        content: Buffer.from(png, 'base64'),
      })),
      ...files.map(({ name, contentType, content }) => ({ filename: name, contentType, content })),
    ],
    messageId: `<${id}@${domain}>`,
    headers: { ...mail.headers, 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    // Nothing in a mail may be read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
