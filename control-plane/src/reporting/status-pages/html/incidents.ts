import type { IncidentView, UpdateView } from '../view/page-view.ts';
import { type PageContext, pathTo, shortTime, timeUnder } from './context.ts';
import { icon, toneOf } from './icons.ts';
import { markdown } from './markdown.ts';
import { type Html, html } from './markup.ts';
import type { Tone } from './theme.ts';

const impactTones: Readonly<Record<IncidentView['impact'], Tone>> = {
  none: 'n',
  minor: 'd',
  major: 'p',
  critical: 'x',
};
/** As many names of components a title has; the others are counted. */
const maxNames = 3;

/** What an incident is called: as somebody has called it, else after its components, in the reader's language. */
export function titleOf({ words, formats }: PageContext, incident: IncidentView): string {
  if (incident.title !== null && incident.title.trim() !== '') return incident.title;
  const names = namesOf(formats.list, incident.componentNames);
  return names === '' ? words.incident : words.incidentTitle(names, incident.impact);
}

export function namesOf(list: (names: readonly string[]) => string, names: readonly string[]): string {
  return list(names.length <= maxNames ? names : [...names.slice(0, maxNames - 1), `+${names.length - maxNames + 1}`]);
}

type Card = {
  readonly level: 3 | 4;
  readonly updates: number;
  /** The date under which it stands, which it need not say again. */
  readonly date?: string;
};

/** An incident of a list, with its newest updates; where the last is that it ended, in no words of people, its times say so. */
export function incidentCard(
  context: PageContext,
  incident: IncidentView,
  { level, updates: count, date }: Card,
): Html {
  const isEndSaid = incident.resolvedMs !== null && incident.updates[0]?.body === null;
  const updates = isEndSaid && count === 1 ? 0 : count;
  const title = html`<a href="${pathTo(context, `/incidents/${incident.id}`)}">${titleOf(context, incident)}</a>`;
  return html`
    <article class="in ${impactTones[incident.impact]}">
      ${level === 3 ? html`<h3>${title}</h3>` : html`<h4>${title}</h4>`}
      ${incidentMeta(context, incident, date)}
      ${updateList(context, incident, incident.updates.slice(0, updates))}
    </article>`;
}

/** Its impact, times and components. @param date under which it stands, in a list whose cards have a side in the colour of the impact and no icon */
export function incidentMeta(context: PageContext, incident: IncidentView, date?: string): Html {
  const { words, formats } = context;
  const { impact, startedMs, resolvedMs } = incident;
  const tone = impactTones[impact];
  const end =
    resolvedMs === null
      ? html`${words.ongoing}`
      : html`${words.lasted(formats.duration((resolvedMs - startedMs) / 1000))}`;
  // A title that was made of the names says them already.
  const names = incident.title !== null && incident.componentNames.length > 0 && formats.list(incident.componentNames);
  return html`
    <p class="me">${date === undefined && icon(tone)}${words.impact[impact]} · ${timeUnder(context, date, startedMs)} · ${end}
    ${names !== false && html`<p class="me">${words.affects}: ${names}</p>`}`;
}

export function updateList(context: PageContext, incident: IncidentView, updates: readonly UpdateView[]): Html | null {
  if (updates.length === 0) return null;
  const { words } = context;
  return html`
    <ol class="up">
      ${updates.map(
        (each) => html`
          <li>
            <p class="me"><b>${words.incidentStatus[each.status]}</b> · ${shortTime(context, each.displayMs)}</p>
            ${bodyOf(context, incident, each)}
            ${impactsOf(context, incident, each)}
          </li>`,
      )}
    </ol>`;
}

function bodyOf({ words, formats }: PageContext, incident: IncidentView, { body, status }: UpdateView): Html | null {
  if (body !== null) return html`<div class="md">${markdown(body)}</div>`;
  const names = namesOf(formats.list, incident.componentNames);
  if (status === 'investigating') return html`<p>${words.began(names)}</p>`;
  if (status !== 'resolved') return null;
  const { startedMs, resolvedMs } = incident;
  const duration = resolvedMs === null ? null : formats.duration((resolvedMs - startedMs) / 1000);
  return html`<p>${words.ended(names, duration)}</p>`;
}

/** What an update says about components, where it can be named: a component may have left the page since. */
function impactsOf({ words }: PageContext, incident: IncidentView, { impacts }: UpdateView): Html | null {
  const named = impacts.flatMap(({ componentId, status }) => {
    const name = incident.componentNames[incident.componentIds.indexOf(componentId)];
    return name === undefined ? [] : [html`<li>${icon(toneOf(status))}${name}: ${words.status[status]}</li>`];
  });
  return named.length === 0 ? null : html`<ul class="im">${named}</ul>`;
}
