import { type PageContext, dateTime } from './context.ts';
import { framed, summaryOf } from './frame.ts';
import { incidentMeta, titleOf, updateList } from './incidents.ts';
import { markdown } from './markdown.ts';
import { html } from './markup.ts';

/** One incident with all that was said of it; null: the page has no such incident. */
export function renderIncident(context: PageContext, id: string): string | null {
  const { view, words } = context;
  const incident = view.incidents.find((each) => each.id === id);
  if (incident === undefined) return null;
  const title = titleOf(context, incident);
  const main = html`
    <article>
      <h1>${title}</h1>
      ${incidentMeta(context, incident)}
      <p class="me">${incident.resolvedMs === null ? html`<b>${words.incidentStatus[incident.status]}</b>` : html`<b>${words.resolved}</b> · ${dateTime(context, incident.resolvedMs)}`}</p>
      ${incident.postmortem !== null && html`<section aria-labelledby="postmortem"><h2 id="postmortem">${words.postmortem}</h2><div class="card pm md">${markdown(incident.postmortem)}</div></section>`}
      <section aria-labelledby="updates">
        <h2 id="updates">${words.updates}</h2>
        ${incident.updates.length === 0 ? html`<p>${words.noUpdates}</p>` : html`<div class="card pm">${updateList(context, incident, incident.updates)}</div>`}
      </section>
    </article>`;
  return framed(context, {
    title: `${title} – ${view.name}`,
    summary: summaryOf(view, title),
    path: `/incidents/${incident.id}`,
    drawing: 'below',
    main,
  });
}
