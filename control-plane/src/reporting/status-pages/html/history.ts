import type { IncidentView, MaintenanceView, TroubledDay } from '../view/page-view.ts';
import { trouble } from './components.ts';
import { type PageContext, date } from './context.ts';
import { framed, summaryOf } from './frame.ts';
import { incidentCard } from './incidents.ts';
import { maintenanceCard } from './maintenance.ts';
import { type Html, html } from './markup.ts';

type NamedDay = TroubledDay & { readonly name: string };
type Month = {
  readonly month: string;
  readonly incidents: readonly IncidentView[];
  readonly maintenance: readonly MaintenanceView[];
  readonly days: readonly { readonly date: string; readonly troubles: readonly NamedDay[] }[];
};

/** All that was wrong as far as the page reaches back, by month. */
export function renderHistory(context: PageContext): string {
  const { view, words } = context;
  const months = monthsOf(context);
  const main = html`
    <h1>${words.history}</h1>
    ${months.length === 0 && html`<p class="card">${words.nothingInHistory}</p>`}
    ${months.map((each) => monthPart(context, each))}`;
  return framed(context, {
    title: `${words.history} – ${view.name}`,
    summary: summaryOf(view, words.history),
    path: '/history',
    drawing: 'below',
    main,
  });
}

function monthsOf({ view, formats }: PageContext): readonly Month[] {
  const troubles = view.sections
    .flatMap(({ components }) => components)
    .flatMap(({ name, troubles }) => troubles.map((day) => ({ ...day, name })));
  const incidents = Map.groupBy(view.incidents, ({ startedMs }) => formats.dateOf(startedMs).slice(0, 7));
  const completed = view.maintenance.filter(({ status }) => status === 'completed');
  const maintenance = Map.groupBy(completed, ({ startsMs }) => formats.dateOf(startsMs).slice(0, 7));
  const days = Map.groupBy(troubles, (day) => day.date);
  const dates = [...days.keys()].sort().reverse();
  const datesOf = Map.groupBy(dates, (date) => date.slice(0, 7));
  const months = new Set([...incidents.keys(), ...maintenance.keys(), ...datesOf.keys()]);
  return [...months]
    .sort()
    .reverse()
    .map((month) => ({
      month,
      incidents: incidents.get(month) ?? [],
      maintenance: maintenance.get(month) ?? [],
      days: (datesOf.get(month) ?? []).map((date) => ({ date, troubles: days.get(date) ?? [] })),
    }));
}

function monthPart(context: PageContext, { month, incidents, maintenance, days }: Month): Html {
  const { formats, words } = context;
  return html`
    <section aria-labelledby="m${month}">
      <h2 id="m${month}">${formats.month(`${month}-01`)}</h2>
      ${incidents.map((each) => incidentCard(context, each, { level: 3, updates: 1 }))}
      ${maintenance.map((each) => maintenanceCard(context, each))}
      ${days.length > 0 && html`<div class="card pm"><h3>${words.troubles}</h3><ul class="hi">${days.map((each) => dayItem(context, each))}</ul></div>`}
    </section>`;
}

function dayItem(context: PageContext, { date: day, troubles }: Month['days'][number]): Html {
  return html`
    <li>
      <b>${date(day, context.formats.shortDate(day))}</b>
      <ul>${troubles.map((each) => html`<li>${each.name}: ${trouble(context, each)}</li>`)}</ul>
    </li>`;
}
