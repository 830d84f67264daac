import type { MaintenanceView } from '../view/page-view.ts';
import { type PageContext, dateTime, isoOf, zone } from './context.ts';
import { icon } from './icons.ts';
import { markdown } from './markdown.ts';
import { type Html, html } from './markup.ts';

/** Maintenance of a list: what differs by nothing but its time is one card, since what recurs is the same for a month. */
export function maintenanceCards(context: PageContext, list: readonly MaintenanceView[]): readonly Html[] {
  const alike = Map.groupBy(list, ({ title, text, status, componentIds }) =>
    JSON.stringify([title, text, status, componentIds]),
  );
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [maintenanceCard(context, first, others)],
  );
}

/** @param others at other times, which the card tells as well */
export function maintenanceCard(
  context: PageContext,
  maintenance: MaintenanceView,
  others: readonly MaintenanceView[] = [],
): Html {
  const { words, formats } = context;
  const { title, text, status, startsMs, endsMs, componentNames } = maintenance;
  return html`
    <article class="in m" id="m-${maintenance.id}">
      <h3>${title ?? words.maintenance}</h3>
      <p class="me">${icon('m')}${words.maintenanceStatus[status]} · ${dateTime(context, startsMs)} – ${endOf(context, startsMs, endsMs)} · ${zone(context, startsMs)}</p>
      ${others.map((one) => html`<p class="me" id="m-${one.id}">${dateTime(context, one.startsMs)} – ${endOf(context, one.startsMs, one.endsMs)}</p>`)}
      ${componentNames.length > 0 && html`<p class="me">${words.affects}: ${formats.list(componentNames)}</p>`}
      ${text !== null && html`<div class="md">${markdown(text)}</div>`}
    </article>`;
}

/** The end, without its date where that is the date of the start. */
function endOf(context: PageContext, startsMs: number, endsMs: number): Html {
  const { formats } = context;
  if (formats.dateOf(startsMs) !== formats.dateOf(endsMs)) return dateTime(context, endsMs);
  return html`<time datetime=${isoOf(endsMs)}>${formats.clock(endsMs)}</time>`;
}
