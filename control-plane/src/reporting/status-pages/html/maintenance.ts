import type { MaintenanceView } from '../view/page-view.ts';
import { type PageContext, dateTime, isoOf, zone } from './context.ts';
import { icon } from './icons.ts';
import { markdown } from './markdown.ts';
import { type Html, html } from './markup.ts';

export function maintenanceCard(context: PageContext, maintenance: MaintenanceView): Html {
  const { words, formats } = context;
  const { title, text, status, startsMs, endsMs, componentNames } = maintenance;
  return html`
    <article class="in m" id="m-${maintenance.id}">
      <h3>${title ?? words.maintenance}</h3>
      <p class="me"><span class="s">${icon('m')}${words.maintenanceStatus[status]}</span> · ${dateTime(context, startsMs)} – ${endOf(context, startsMs, endsMs)} · ${zone(context, startsMs)}</p>
      ${componentNames.length > 0 && html`<p class="me">${words.affects}: ${formats.list(componentNames)}</p>`}
      ${text !== null && html`<div class="md">${markdown(text)}</div>`}
    </article>`;
}

/** The end, without its date where that is the date of the start. */
function endOf(context: PageContext, startsMs: number, endsMs: number): Html {
  const { formats } = context;
  if (formats.dateOf(startsMs) !== formats.dateOf(endsMs)) return dateTime(context, endsMs);
  return html`<time datetime="${isoOf(endsMs)}">${formats.clock(endsMs)}</time>`;
}
