import type { Service } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { repeat } from '../../platform/repeat.ts';
import { mailAdministrators } from './mails.gateway.ts';
import { sweepFeedback } from './mails.queries.ts';

// The first item of an hour is mailed by the outbox at once; this is for those that waited for the end of the hour.
const everyMs = 300_000;

/** Mails bundles whose hour has come, and removes items that are too old. */
export const feedbackUpkeep: Service<Context> = {
  name: 'feedback-upkeep',
  role: 'worker',
  start: async (context, log) =>
    repeat({
      everyMs,
      work: () => keepUp(context),
      onError: (error) => log.warn({ err: error }, 'the upkeep of feedback failed; tried again in five minutes'),
    }),
};

/** One run. */
export async function keepUp(context: Context): Promise<void> {
  const { worker } = context.database;
  await worker.transaction((transaction) => mailAdministrators(transaction, context));
  await sweepFeedback(worker, context.now());
}
