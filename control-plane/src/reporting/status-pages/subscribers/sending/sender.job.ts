import type { Logger } from '@parallax/telemetry';
import type { Service } from '../../../../capability.ts';
import type { Context } from '../../../../context.ts';
import { untilFirstDue } from '../../../../platform/database/first-due.queries.ts';
import { repeatWhenDue } from '../../../../platform/repeat-when-due.ts';
import { claimNotices, firstDue, giveUp, newsOfNotices, noteTold, putBack } from './claim.queries.ts';
import type { ClaimedNotice, StoredNews } from './claim.queries.ts';
import { outcomeOf } from './outcome.ts';
import { noticeOf, sendNotice } from './send.gateway.ts';
import type { SendContext } from './send.gateway.ts';

/** A second has room for so many messages, so more often is of no use while any wait. */
const againMs = 1_000;
/** At a stop, messages under way get so long; then they are broken off and sent again by whoever runs next. */
const graceMs = 3_000;
/** A message whose try takes longer than the second of its claim runs beside those of the next, up to so many. */
const mostUnderWay = 200;

/** Sends what pages tell their subscribers. */
export const noticeSender: Service<Context> = {
  name: 'messages to subscribers of status pages',
  role: 'worker',
  start: async (context, log) => {
    const stopping = new AbortController();
    const underWay = new Set<Promise<void>>();
    const { worker, signals } = context.database;
    const sending = repeatWhenDue({
      signals,
      tables: ['status_page_notices'],
      unheardMs: againMs,
      leastMs: againMs,
      work: async () => {
        if (underWay.size >= mostUnderWay) return againMs;
        for (const one of await beginDue(context, log, stopping.signal)) {
          underWay.add(one);
          void one.finally(() => underWay.delete(one));
        }
        return untilFirstDue(worker, firstDue, againMs);
      },
      onError: (error) =>
        log.warn({ err: error }, 'messages to subscribers could not be looked for; tried again in a second'),
    });
    return {
      stop: async () => {
        const grace = setTimeout(() => stopping.abort(new Error('the process stops')), graceMs);
        await sending.stop();
        await Promise.all(underWay);
        clearTimeout(grace);
      },
    };
  },
};

/** Sends what is due and the second has room for. @returns how many were tried */
export async function sendDueNotices(context: SendContext, log: Pick<Logger, 'warn' | 'error'>): Promise<number> {
  const begun = await beginDue(context, log);
  await Promise.all(begun);
  return begun.length;
}

async function beginDue(
  context: SendContext,
  log: Pick<Logger, 'warn' | 'error'>,
  signal?: AbortSignal,
): Promise<readonly Promise<void>[]> {
  const { worker } = context.database;
  const claimed = await claimNotices(worker);
  const news = await newsOfNotices(worker, claimed);
  return claimed.map(async (one) => {
    try {
      await sendOne(context, log, one, news, signal);
    } catch (error) {
      log.error({ err: error, notice_id: one.id }, 'what came of a message to a subscriber was not noted');
    }
  });
}

async function sendOne(
  context: SendContext,
  log: Pick<Logger, 'warn'>,
  claimed: ClaimedNotice,
  news: readonly StoredNews[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { worker } = context.database;
  try {
    const notice = noticeOf(context, claimed, news);
    if (notice !== undefined) await sendNotice(context, claimed, notice, signal);
  } catch (error) {
    const outcome = outcomeOf(error, claimed.attempts);
    const fields = { err: error, notice_id: claimed.id, page_id: claimed.page_id, attempts: claimed.attempts };
    if (outcome.kind === 'again') {
      log.warn(fields, `a message to a subscriber was not sent; tried again in ${outcome.afterSeconds} s`);
      await putBack(worker, claimed, outcome.afterSeconds);
    } else {
      log.warn(fields, 'a message to a subscriber was given up');
      await giveUp(worker, claimed, outcome.fault);
    }
    return;
  }
  await noteTold(worker, claimed);
}
