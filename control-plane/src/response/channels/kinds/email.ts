import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isMailAddress, maskedAddress } from '../../../platform/mail/mail-address.ts';
import { asMail } from '../../messages/index.ts';
import type { MailContent, Message } from '../../messages/index.ts';
import type { Channel } from '../channel.ts';

const settings = z.strictObject({});
type Settings = z.output<typeof settings>;

/** A mail by the mail server of the installation, to an address whose reader has agreed. */
export const email: Channel<Settings, MailContent> = {
  name: 'email',
  title: 'E-mail',
  documentation: null,
  setup:
    'Needs no configuration. Your own confirmed address is good at once; the reader of any other one is asked by a letter first. Every mail has a link that ends them.',
  settings,
  secrets: [],
  target: {
    label: 'mail address',
    example: 'ada@example.com',
    isGlobal: true,
    parse: (text) => {
      // Local parts may differ by case, and those of nobody do; accounts are kept in lower case too.
      const address = text.trim().toLowerCase();
      return isMailAddress(address) ? { ok: true, target: address } : { ok: false, problem: 'is not a mail address' };
    },
    mask: maskedAddress,
  },
  missing: ({ hasMailServer }) =>
    hasMailServer
      ? null
      : 'The operator has set no mail server (PARALLAX_SMTP_URL): mails become files in the data folder.',
  timeoutMs: 30_000,
  render: (message) => asMail(message),
  send: ({ subject, text, html }, { target, message }, io) =>
    io.mail({ to: target, subject, text, html, headers: headersOf(message, io.publicUrl) }),
};

function headersOf(message: Message, publicUrl: string): Record<string, string> {
  const unsubscribe = message.links.find(({ purpose }) => purpose === 'unsubscribe')?.url;
  const host = URL.parse(publicUrl)?.hostname ?? 'localhost';
  const thread = createHash('sha256').update(message.subjectKey).digest('hex').slice(0, 32);
  return {
    // What is about one thing is one conversation (RFC 5322, 3.6.4).
    References: `<${thread}@${host}>`,
    // RFC 2369, and RFC 8058 where the link is https, which alone it allows.
    ...(unsubscribe !== undefined && { 'List-Unsubscribe': `<${unsubscribe}>` }),
    ...(unsubscribe?.startsWith('https:') === true && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
}
