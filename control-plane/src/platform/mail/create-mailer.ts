import path from 'node:path';
import type { Logger } from '@parallax/telemetry';
import { ExplainedError } from '../explained-error.ts';
import { MailAddressError, parseSender } from './mail-address.ts';
import { folderMailer, smtpMailer } from './mailer.ts';
import type { Mailer } from './mailer.ts';
import { smtpOptions, SmtpUrlError } from './smtp-options.ts';

/** A setting of the mail is not understood; the message names it and says what to do. */
export class MailSettingsError extends ExplainedError {
  override readonly name = 'MailSettingsError';
}

/**
 * The mailer that the settings ask for: an SMTP server, or the folder `mails` of the data folder where none is set.
 * @throws MailSettingsError
 */
export function createMailer(
  settings: { readonly smtpUrl?: string | undefined; readonly mailFrom?: string | undefined },
  dataDir: string,
  log: Logger,
): Mailer {
  const { smtpUrl, mailFrom } = settings;
  if (smtpUrl !== undefined && mailFrom === undefined) {
    throw new MailSettingsError('PARALLAX_SMTP_URL is set: name the sender of mails as PARALLAX_MAIL_FROM');
  }
  try {
    const from = parseSender(mailFrom ?? 'Parallax <parallax@localhost>');
    if (smtpUrl === undefined) return folderMailer(path.join(dataDir, 'mails'), from, log);
    return smtpMailer(smtpOptions(smtpUrl), from);
  } catch (error) {
    if (error instanceof SmtpUrlError) throw new MailSettingsError(`PARALLAX_SMTP_URL: ${error.message}`);
    if (error instanceof MailAddressError) {
      throw new MailSettingsError('PARALLAX_MAIL_FROM must be an address, as noreply@example.com or Name <address>');
    }
    throw error;
  }
}
