import type { IncidentView } from '../view/page-view.ts';
import { mostIncidents } from '../view/public-incidents.ts';
import { type PageContext, date, pathTo } from './context.ts';
import { incidentCard } from './incidents.ts';
import { type Html, html } from './markup.ts';

const shownDays = 14;
/** No day is begun after so many incidents: the history has all of them, and a page of many shall stay small. */
const enoughIncidents = 30;
const dayMs = 86_400_000;

/** Days without incidents in a row, or one day with some. */
export type PastDays = { readonly last: string; readonly first: string; readonly incidents: readonly IncidentView[] };

/**
 * The last days, the newest first; neighbours without incidents are one. An incident belongs to the day on which it began. A view that is full may lack
 * incidents, of which nothing is said: the days end with that of the oldest incident that is over. They end earlier where there are many.
 */
export function pastDays(
  incidents: readonly IncidentView[],
  dateOf: (ms: number) => string,
  lastDate: string,
  count = shownDays,
): readonly PastDays[] {
  const byDate = Map.groupBy(incidents, ({ startedMs }) => dateOf(startedMs));
  const over = incidents.filter(({ resolvedMs }) => resolvedMs !== null).map(({ startedMs }) => startedMs);
  const oldest = incidents.length < mostIncidents || over.length === 0 ? '' : dateOf(Math.min(...over));
  const found: PastDays[] = [];
  let told = 0;
  for (let back = 0; back < count; back += 1) {
    const day = new Date(Date.parse(`${lastDate}T00:00:00Z`) - back * dayMs).toISOString().slice(0, 10);
    if (day < oldest || told >= enoughIncidents) break;
    const here = byDate.get(day) ?? [];
    told += here.length;
    const before = found.at(-1);
    if (here.length === 0 && before !== undefined && before.incidents.length === 0)
      found[found.length - 1] = { ...before, first: day };
    else found.push({ last: day, first: day, incidents: here });
  }
  return found;
}

export function pastIncidents(context: PageContext): Html {
  const { view, words, formats } = context;
  const days = pastDays(view.incidents, formats.dateOf, view.lastDate);
  return html`
    <section class="pa" aria-labelledby="past">
      <h2 id="past">${words.recentIncidents}</h2>
      ${days.map((each) => daysOf(context, each))}
      <p><a href="${pathTo(context, '/history')}">${words.wholeHistory}</a></p>
    </section>`;
}

function daysOf(context: PageContext, { first, last, incidents }: PastDays): Html {
  const { formats, words } = context;
  if (incidents.length === 0)
    return html`<p class="no"><b>${first === last ? formats.shortDate(last) : formats.dateRange(first, last)}</b> ${words.noIncidents}</p>`;
  return html`
    <h3>${date(last, formats.longDate(last))}</h3>
    ${incidents.map((each) => incidentCard(context, each, { level: 4, updates: each.resolvedMs === null ? 0 : 1, date: last }))}`;
}
