import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { addTimes, noTime } from '../../statistics/index.ts';
import { uptimeOf } from './day-letters.ts';
import { publishedPage } from './page.queries.ts';
import { idsOf, readDays } from './page-view.gateway.ts';
import type { PublishedPage } from './page-view.gateway.ts';

const hourMs = 3_600_000;

/** The uptime of a page in its last hours. `percent` is cut after two decimals; null: nothing was measured. */
export type PageUptime = { readonly percent: number | null; readonly hours: number };

/**
 * The uptime of all that a page shows the uptime of, each subject once, corrected as the service level.
 * @param hours no more than the page itself shows: what lies before its days is not public
 * @returns null: the page is gone, or not published
 */
export async function readPageUptime(
  context: Pick<Context, 'database'>,
  { workspaceId, pageId }: Pick<PublishedPage, 'workspaceId' | 'pageId'>,
  hours: number,
  nowMs: number,
): Promise<PageUptime | null> {
  const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
  return inScope(context.database.api, scope, async (tx) => {
    const found = await publishedPage(scope, tx, pageId);
    if (found === null) return null;
    const items = found.items.filter(({ showsUptime }) => showsUptime);
    const shownHours = Math.min(hours, found.page.days * 24);
    const toMs = Math.floor(nowMs) + 1;
    const edgesMs = [toMs - shownHours * hourMs, toMs];
    const subjects = await readDays(scope, tx, idsOf(items.flatMap((item) => item.subjects)), { edgesMs }, nowMs);
    const total = noTime();
    for (const { days } of subjects.values()) for (const { time } of days) addTimes(total, time);
    return { percent: uptimeOf(total), hours: shownHours };
  });
}
