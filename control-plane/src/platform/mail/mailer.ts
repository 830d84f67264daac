import { readFile } from 'node:fs/promises';
import type { Logger } from '@parallax/telemetry';
import { createTransport } from 'nodemailer';
import type { MailFile } from './files.ts';
import type { Mail } from './mail.ts';
import { maskedAddress } from './mail-address.ts';
import { keepInFolder } from './mail-folder.ts';
import { composed } from './message.ts';
import type { Sender } from './message.ts';
import type { SmtpOptions } from './smtp-options.ts';

/** The server has refused the mail for good (5xx, RFC 5321): trying again is of no use. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
  /** The server says that there is no such mailbox (RFC 3463: 5.1.x), so no other mail will get there either. */
  readonly isUnknownAddress: boolean;

  constructor(message: string, isUnknownAddress = false) {
    super(message);
    this.isUnknownAddress = isUnknownAddress;
  }
}

/** Sends mails. */
export type Mailer = {
  /**
   * Hands one mail to the server, within 60 s.
   * @param id unique for each mail and the same at each try
   * @param signal breaks off; the mail may have been taken or not
   * @param files that are attached
   * @throws MailRefusedError when it is refused for good; any other error is worth another try
   */
  readonly send: (mail: Mail, id: string, signal?: AbortSignal, files?: readonly MailFile[]) => Promise<void>;
};

const deadlineMs = 60_000;
const stepMs = 15_000;

/** Sends over SMTP, one connection for each mail. */
export function smtpMailer(smtp: SmtpOptions, from: Sender): Mailer {
  return {
    send: async (mail, id, signal, files) => {
      const message = composed(mail, from, id, files);
      const deadline = AbortSignal.timeout(deadlineMs);
      const ca = smtp.caFile === undefined ? undefined : await readFile(smtp.caFile, 'utf8');
      const transport = createTransport({
        host: smtp.host,
        port: smtp.port,
        secure: smtp.secure,
        requireTLS: smtp.startTls === 'required' && !smtp.secure,
        ignoreTLS: smtp.startTls === 'never',
        tls: { rejectUnauthorized: smtp.verifies, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) },
        ...(smtp.user === undefined ? {} : { auth: { user: smtp.user, pass: smtp.password ?? '' } }),
        connectionTimeout: stepMs,
        greetingTimeout: stepMs,
        socketTimeout: stepMs,
        dnsTimeout: stepMs,
        maxResponseSize: 65_536,
      });
      try {
        await transport.sendMail({
          ...message,
          signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
        });
      } catch (error) {
        throw explained(error);
      } finally {
        transport.close();
      }
    },
  };
}

/** Answers that concern this mail: sender, recipient, text. Wrong credentials and the like are mended by the operator. */
const ofTheMail = new Set(['EENVELOPE', 'EMESSAGE']);

function explained(error: unknown): Error {
  const { code, permanent, message } = error as { code?: string; permanent?: boolean; message?: string };
  const text = `the mail server: ${(message ?? String(error)).slice(0, 500)}`;
  return permanent === true && ofTheMail.has(code ?? '')
    ? new MailRefusedError(text, /\b5\.1\.[0-9]{1,3}\b/.test(message ?? ''))
    : new Error(text, { cause: error });
}

/** Where no server is set: each mail becomes a file that its operator can open, and a line in the log without what is secret in it. */
export function folderMailer(folder: string, from: Sender, log: Logger): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    send: async (mail, id, _signal, files) => {
      const { message } = await transport.sendMail(composed(mail, from, id, files));
      if (!Buffer.isBuffer(message)) throw new TypeError('a buffer was asked for');
      const file = await keepInFolder(folder, `${id}.eml`, message);
      log.info(
        { to: maskedAddress(mail.to), subject: mail.subject, file },
        'PARALLAX_SMTP_URL is not set: the mail was not sent, it lies in a file',
      );
    },
  };
}
