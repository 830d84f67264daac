import { sections } from './components.ts';
import { type PageContext, shortTime } from './context.ts';
import { framed, summaryOf } from './frame.ts';
import { icon, toneOfIndicator } from './icons.ts';
import { incidentCard } from './incidents.ts';
import { maintenanceCards } from './maintenance.ts';
import { markdown } from './markdown.ts';
import { type Html, html } from './markup.ts';
import { pastIncidents } from './past-days.ts';

/** A page that is made every 30 seconds and is older than this could not be made anew. */
const staleMs = 5 * 60_000;
/** An open incident may have hundreds of updates; its own page has all of them. */
const maxUpdates = 10;

/** The page itself. */
export function renderPage(context: PageContext): string {
  const { view, words } = context;
  const state = words.banner[view.indicator];
  const open = view.incidents.filter(({ resolvedMs }) => resolvedMs === null);
  const underWay = view.maintenance.filter(({ status }) => status === 'in_progress');
  const upcoming = view.maintenance.filter(({ status }) => status === 'scheduled');
  const main = html`
    ${view.announcement !== null && html`<section class="an" aria-label="${words.announcement}">${markdown(view.announcement)}</section>`}
    ${banner(context, state)}
    ${
      open.length > 0 &&
      part(
        'open',
        words.openIncidents,
        open.map((each) => incidentCard(context, each, { level: 3, updates: maxUpdates })),
      )
    }
    ${underWay.length > 0 && part('now', words.maintenanceNow, maintenanceCards(context, underWay))}
    ${sections(context)}
    ${upcoming.length > 0 && part('upcoming', words.maintenanceUpcoming, maintenanceCards(context, upcoming))}
    ${pastIncidents(context)}`;
  return framed(context, { title: `${view.name} – ${state}`, summary: summaryOf(view, state), path: '', main });
}

function part(id: string, title: string, cards: readonly Html[]): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${cards}</section>`;
}

/** How it is altogether, by colour, shape and words. */
function banner(context: PageContext, state: string): Html {
  const { view, words, nowMs } = context;
  const tone = toneOfIndicator(view.indicator);
  const components = view.sections.flatMap((each) => each.components);
  const affected = components.filter(({ status }) => status !== 'operational' && status !== 'unknown').length;
  return html`
    <section class="ba ${tone}" aria-labelledby="state">
      ${icon(tone)}
      <div>
        <h2 id="state">${state}</h2>
        ${affected > 0 && html`<p>${words.affected(affected, components.length)}</p>`}
        <p class="me">${words.asOf} ${shortTime(context, view.madeMs)}</p>
        ${nowMs - view.madeMs > staleMs && html`<p>${words.stale}</p>`}
      </div>
    </section>`;
}
