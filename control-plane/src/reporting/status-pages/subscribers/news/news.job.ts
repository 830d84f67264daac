import type { Logger } from '@parallax/telemetry';
import type { Service } from '../../../../capability.ts';
import type { Context } from '../../../../context.ts';
import type { Scope } from '../../../../platform/database/scope.ts';
import type { Cursor } from '../../../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../../../platform/ordered-log/present.queries.ts';
import { repeatWhenDue } from '../../../../platform/repeat-when-due.ts';
import { changedSince } from '../../serving/changes.queries.ts';
import { readHappenings } from '../../view/happenings.gateway.ts';
import { newsOf, openSubjects, shownSubjects } from './news.ts';
import { dropHidden, forgetEnds, holdNews, listenedPages, queueNews, toldMaintenance } from './news.queries.ts';
import type { ListenedPage } from './news.queries.ts';

/** So often events are looked at while they come; they can be read once everything that began before them has ended. */
const againMs = 2_000;
/** So many looks after the last event. */
const looksAfter = 5;
/** What no event tells, such as the delay of a page that is over or a reminder that is due, waits for so long at most. */
const allEveryMs = 60_000;

export type NewsContext = Pick<Context, 'database' | 'now'>;

/** Looks for what pages have to tell their subscribers. */
export const newsService: Service<Context> = {
  name: 'news of status pages',
  role: 'worker',
  start: async (context, log) => {
    let place: Cursor | undefined;
    let allMs = -Infinity;
    let looksLeft = looksAfter;
    const look = async (): Promise<void> => {
      const { worker } = context.database;
      const nowMs = performance.now();
      if (place === undefined || nowMs - allMs >= allEveryMs) {
        place = await presentCursor(worker);
        allMs = nowMs;
        await tellNews(context, log, null);
        return;
      }
      const { workspaceIds, next } = await changedSince(worker, place);
      place = next;
      await tellNews(context, log, workspaceIds);
    };
    const listening = context.database.signals.on(['events'], () => {
      looksLeft = looksAfter;
    });
    const looking = repeatWhenDue({
      signals: context.database.signals,
      tables: ['events'],
      everyMs: allEveryMs,
      unheardMs: againMs,
      leastMs: againMs,
      work: async () => {
        await look();
        looksLeft -= 1;
        return looksLeft > 0 ? againMs : undefined;
      },
      onError: (error) => {
        // Whatever was passed over is found when all pages are looked at.
        allMs = -Infinity;
        log.warn({ err: error }, 'news of status pages could not be looked for; tried again in two seconds');
      },
    });
    return {
      stop: async () => {
        listening.stop();
        await looking.stop();
      },
    };
  },
};

/** Queues what is new on pages with subscribers. @param workspaceIds null: of all workspaces @returns how many messages wait for it */
export async function tellNews(
  context: NewsContext,
  log: Pick<Logger, 'warn'>,
  workspaceIds: ReadonlySet<number> | null,
): Promise<number> {
  let queued = 0;
  for (const page of await listenedPages(context.database.worker, workspaceIds)) {
    try {
      queued += await tellNewsOf(context, page);
    } catch (error) {
      log.warn(
        { err: error, page_id: page.id },
        'the news of a status page could not be told; tried again in a minute',
      );
    }
  }
  return queued;
}

/** Reads and queues in one transaction that nobody else has for the page, so that an end is never told by what was read before it. */
async function tellNewsOf({ database, now }: NewsContext, page: ListenedPage): Promise<number> {
  const scope: Scope = { userId: null, workspaceIds: [page.workspace_id] };
  return database.worker.transaction(async (tx) => {
    if (!(await holdNews(tx, page.id))) return 0;
    const nowMs = now();
    const happenings = await readHappenings(scope, tx, page.id, nowMs);
    if (happenings === null) return 0;
    await forgetEnds(scope, tx, page.id, openSubjects(happenings));
    const told = await toldMaintenance(scope, tx, page.id);
    // What was cancelled is not on the page any more, and is told all the same.
    const shown = told.flatMap(({ subject, isPublic }) => (isPublic ? [subject] : []));
    await dropHidden(scope, tx, page.id, [...shownSubjects(happenings), ...shown]);
    return queueNews(scope, tx, page, newsOf(happenings, nowMs, told));
  });
}
