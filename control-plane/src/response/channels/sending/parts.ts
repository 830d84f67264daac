import { createHash } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { MailRefusedError } from '../../../platform/mail/mailer.ts';
import type { OutgoingMail } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import type { ChannelParts } from '../io.ts';

/**
 * What channels of this process act with.
 * @param messageId the same at each try of one message to one target: mails carry it, so that a mailbox can tell repetitions
 */
export function channelParts(context: Context, messageId: string): ChannelParts {
  return {
    outbound: context.outbound,
    baseUrls: context.channels.baseUrls,
    now: context.now,
    publicUrl: context.publicUrl.replace(/\/+$/, ''),
    messengerBotToken: context.signIn.messengerBotToken,
    mail: (mail, signal) => sendMail(context, messageId, mail, signal),
  };
}

async function sendMail(context: Context, messageId: string, mail: OutgoingMail, signal: AbortSignal): Promise<void> {
  const id = createHash('sha256').update(`${messageId}\n${mail.to}`).digest('hex').slice(0, 40);
  try {
    await context.mailer.send(mail, id, signal);
  } catch (error) {
    if (error instanceof MailRefusedError) {
      const fault = error.isUnknownAddress ? 'target' : 'message';
      const code = error.isUnknownAddress ? 'unknown_target' : 'refused_message';
      throw new DeliveryError(code, fault, `The mail was refused (${error.message}).`);
    }
    if (signal.aborted) throw new DeliveryError('timeout', 'passing', 'The mail server did not take the mail in time.');
    context.log.warn({ err: error }, 'a mail of an alert could not be handed over');
    throw new DeliveryError(
      'service_unavailable',
      'passing',
      'The mail server of this installation does not take mails now.',
    );
  }
}
