import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { eventsSubject, statusPagesSubject } from '../../../platform/bus/subjects.ts';
import type { Cursor } from '../../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../../platform/ordered-log/present.queries.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { versionsOfSlugs } from '../view/page.queries.ts';
import { changedSince } from './changes.queries.ts';
import type { KeptViews } from './kept-views.gateway.ts';
import type { PageCache } from './page-cache.ts';

/** Changes that come together are looked at together. */
const gatherMs = 250;

/** `id` of a page that is set to something else, `is_access` where that is who may read it; absent: what its workspace tells has changed. */
const pageHint = z.object({
  workspace_id: z.number(),
  id: z.number().optional(),
  is_access: z.boolean().default(false),
});
/** Hints may be lost, so pages in files are looked at again after so long. */
const betweenSweepsMs = 300_000;

/**
 * Marks pages in memory whose workspace has news. It waits for hints and asks nothing while nobody reads a page; a hint that is lost costs 30 s, after
 * which a page is read anew in any case.
 */
export function followChanges(
  { bus, database }: Pick<Context, 'bus' | 'database'>,
  cache: PageCache,
  log: Pick<Logger, 'warn'>,
  kept: KeptViews | undefined,
): RunningService {
  let place: Cursor | undefined;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    if (!cache.isWatched()) {
      place = undefined;
      return;
    }
    try {
      if (place === undefined) {
        place = await presentCursor(database.worker);
        // Whatever the hint was about lies before that place.
        cache.markAllChanged();
        return;
      }
      const { workspaceIds, next } = await changedSince(database.worker, place);
      place = next;
      cache.markChanged(workspaceIds);
    } catch (error) {
      place = undefined;
      log.warn({ err: error }, 'changes of status pages cannot be looked for; pages are read anew by their age');
    }
  };
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      looking = (looking ?? Promise.resolve()).then(look);
    }, gatherMs);
  };
  const sweep = (): void => {
    void kept
      ?.sweep((slugs) => versionsOfSlugs(database.api, slugs))
      .catch((error: unknown) => log.warn({ err: error }, 'status pages in the data folder cannot be compared; later'));
  };
  sweep();
  const sweeping = setInterval(sweep, betweenSweepsMs);
  sweeping.unref();
  const events = bus.listen(eventsSubject, soon);
  const pages = bus.listen(statusPagesSubject, (message) => {
    const hint = pageHint.safeParse(message);
    if (!hint.success) return;
    const { id, workspace_id: workspaceId, is_access: isAccess } = hint.data;
    if (id !== undefined && isAccess) cache.forget(id);
    else cache.markChanged(new Set([workspaceId]));
    // Also a page that is not in memory must not be shown as it was after a restart.
    if (id !== undefined) sweep();
  });
  return {
    stop: async () => {
      events.stop();
      pages.stop();
      clearTimeout(timer);
      clearInterval(sweeping);
      await looking;
      await cache.stop();
    },
  };
}
