import type { Logger } from '@parallax/telemetry';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { eventsSubject, statusPagesSubject } from '../../../platform/bus/subjects.ts';
import type { Cursor } from '../../../platform/ordered-log/cursor.ts';
import { presentCursor } from '../../../platform/ordered-log/present.queries.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import { changedSince } from './changes.queries.ts';
import type { PageCache } from './page-cache.ts';

/** Changes that come together are looked at together. */
const gatherMs = 250;

const pageHint = z.object({ workspace_id: z.number() });

/**
 * Marks pages in memory whose workspace has news. It waits for hints and asks nothing while nobody reads a page; a hint that is lost costs 30 s, after
 * which a page is read anew in any case.
 */
export function followChanges(
  { bus, database }: Pick<Context, 'bus' | 'database'>,
  cache: PageCache,
  log: Pick<Logger, 'warn'>,
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
  const events = bus.listen(eventsSubject, soon);
  const pages = bus.listen(statusPagesSubject, (message) => {
    const hint = pageHint.safeParse(message);
    if (hint.success) cache.markChanged(new Set([hint.data.workspace_id]));
  });
  return {
    stop: async () => {
      events.stop();
      pages.stop();
      clearTimeout(timer);
      await looking;
      await cache.stop();
    },
  };
}
