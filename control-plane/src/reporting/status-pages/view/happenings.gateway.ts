import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { incidentsOfPage } from './incidents.queries.ts';
import { plannedOccurrences, startedOccurrences } from './maintenance.queries.ts';
import { componentsBySubject, idsOf } from './page-view.gateway.ts';
import { publishedPage } from './page.queries.ts';
import type { IncidentView } from './page-view.ts';
import { publicIncidents } from './public-incidents.ts';
import type { StoredOccurrence } from './public-maintenance.ts';

/** What of a page may be told to its subscribers: its public incidents, and the maintenance that touches it. */
export type Happenings = {
  readonly notifiesAutomatic: boolean;
  readonly incidents: readonly IncidentView[];
  readonly occurrences: readonly StoredOccurrence[];
  /** Names of components by their public names, in the order of the page. */
  readonly names: ReadonlyMap<string, string>;
};

const minuteMs = 60_000;

/** What happens on a page, by the rules of its view, without what only that shows; null: it is gone, or not published. */
export async function readHappenings(
  scope: Scope,
  tx: Transaction,
  pageId: number,
  nowMs: number,
): Promise<Happenings | null> {
  const found = await publishedPage(scope, tx, pageId);
  if (found === null) return null;
  const { page, items } = found;
  const ids = idsOf(items.flatMap((item) => item.subjects));
  const componentsOf = componentsBySubject(items);
  const names = new Map(items.map(({ componentId, name }) => [componentId, name]));
  const rules = {
    nowMs,
    automaticIncidents: page.automatic_incidents,
    delayMs: page.delay_minutes * minuteMs,
    names,
  };
  const incidents = await incidentsOfPage(scope, tx, ids, componentsOf, rules);
  const started = await startedOccurrences(scope, tx, ids, componentsOf, nowMs);
  const planned = await plannedOccurrences(scope, tx, ids, componentsOf, nowMs);
  return {
    notifiesAutomatic: page.notify_automatic,
    incidents: publicIncidents(incidents, rules),
    occurrences: [...started, ...planned],
    names,
  };
}
