import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Sealer } from '../crypto/seal.ts';
import type { OutboxConsumer } from '../outbox/consumer.ts';
import { repeat } from '../repeat.ts';
import type { RunningService } from '../running-service.ts';
import { openMailFiles, sweepMailFiles } from './files.ts';
import { mailKind, openMail } from './mail.ts';
import { MailAddressError, maskedAddress } from './mail-address.ts';
import { MailRefusedError } from './mailer.ts';
import type { Mailer } from './mailer.ts';
import { claimMails, firstDue, giveUp, putBack, queueMail, removeSent, sweepGivenUp } from './queue.ts';
import type { QueuedMail } from './queue.ts';
import { retryAfterSeconds } from './retries.ts';
import { untilFirstDue } from '../database/first-due.queries.ts';
import type { TableSignals } from '../database/table-signals.ts';
import { repeatWhenDue } from '../repeat-when-due.ts';

/** What sending mails needs. */
export type MailContext = {
  readonly database: { readonly worker: DatabasePool; readonly signals: Pick<TableSignals, 'on' | 'isHeard'> };
  readonly sealer: Sealer;
  readonly mailer: Mailer;
  readonly log: Logger;
  readonly now: () => number;
};

const againMs = 1_000;
const sweepEveryMs = 3_600_000;

const payloadShape = z.object({
  sealed: z.string(),
  priority: z.int().min(0).max(100).default(0),
  file_ids: z.array(z.uuid()).max(10).default([]),
});

/** Moves a mail from the outbox to the queue of mails: its sending must not hold the worker's transaction. */
export const mailConsumer: OutboxConsumer<unknown> = {
  kind: mailKind,
  consume: async (transaction, row) => {
    const { sealed, priority, file_ids: fileIds } = payloadShape.parse(row.payload);
    await queueMail(transaction, row.id, { sealed: Buffer.from(sealed, 'base64'), priority, fileIds });
  },
};

/** At a stop, mails under way get so long; then they are broken off and sent again by whoever runs next. */
const graceMs = 3_000;

/** Sends the mails that are due until it is stopped. */
export async function startMailSender(context: MailContext, log: Logger): Promise<RunningService> {
  const stopping = new AbortController();
  const { worker, signals } = context.database;
  const sending = repeatWhenDue({
    signals,
    tables: ['mails'],
    unheardMs: againMs,
    work: async (isStopped) => {
      while (!isStopped() && (await sendDue(context, log, stopping.signal)) > 0);
      return untilFirstDue(worker, firstDue, againMs);
    },
    onError: (error) => log.warn({ err: error }, 'mails could not be looked for; tried again in a second'),
  });
  const sweeping = repeat({
    everyMs: sweepEveryMs,
    work: async () => {
      await sweepGivenUp(context.database.worker);
      await sweepMailFiles(context.database.worker);
    },
    onError: (error) => log.warn({ err: error }, 'mails that were given up could not be removed'),
  });
  return {
    stop: async () => {
      const grace = setTimeout(() => stopping.abort(new Error('the process stops')), graceMs);
      await Promise.all([sending.stop(), sweeping.stop()]);
      clearTimeout(grace);
    },
  };
}

/** Sends what is due, some at once. @returns how many were tried */
export async function sendDue(context: MailContext, log: Logger, signal?: AbortSignal): Promise<number> {
  const claimed = await claimMails(context.database.worker);
  await Promise.all(claimed.map((mail) => sendOne(context, log, mail, signal)));
  return claimed.length;
}

async function sendOne(
  { database, mailer, sealer, now }: MailContext,
  log: Logger,
  queued: QueuedMail,
  signal: AbortSignal | undefined,
): Promise<void> {
  let to = '…';
  try {
    const mail = openMail(sealer, { sealed: queued.sealed.toString('base64') });
    to = maskedAddress(mail.to);
    const files = await openMailFiles(database.worker, sealer, queued.file_ids);
    await mailer.send(mail, queued.id, signal, files);
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 1_000);
    const isFinal = error instanceof MailRefusedError || error instanceof MailAddressError;
    const wait = isFinal ? undefined : retryAfterSeconds(queued.attempts, queued.created_at, now());
    const fields = { err: error, mail_id: queued.id, to, attempts: queued.attempts };
    if (wait === undefined) {
      log.error(fields, 'a mail was given up');
      await giveUp(database.worker, queued.id, text);
    } else {
      log.warn(fields, `a mail was not sent; tried again in ${wait} s`);
      await putBack(database.worker, queued.id, text, wait);
    }
    return;
  }
  await removeSent(database.worker, queued.id);
}
