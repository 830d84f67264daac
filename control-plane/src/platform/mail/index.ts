import type { Logger } from '@parallax/telemetry';
import type { OutboxConsumer } from '../outbox/consumer.ts';
import type { RunningService } from '../running-service.ts';
import { mailConsumer, startMailSender } from './job.ts';
import type { MailContext } from './job.ts';

/** Mails on their way from the outbox to a server. */
export const mailCapability: {
  readonly name: string;
  readonly services: readonly {
    readonly name: string;
    readonly role: 'worker';
    readonly start: (context: MailContext, log: Logger) => Promise<RunningService>;
  }[];
  readonly consumers: readonly OutboxConsumer<MailContext>[];
} = {
  name: 'mail',
  services: [{ name: 'mail-sender', role: 'worker', start: startMailSender }],
  consumers: [mailConsumer],
};

export { createMailer } from './create-mailer.ts';
export type { Mailer } from './mailer.ts';
