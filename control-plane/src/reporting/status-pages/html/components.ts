import type { ComponentView, SectionView, TroubledDay } from '../view/page-view.ts';
import { bars, letters, oneBar } from './bars.ts';
import { type PageContext, shortTime } from './context.ts';
import { icon, toneOf } from './icons.ts';
import { type Html, html } from './markup.ts';
import { sparkline } from './sparkline.ts';

/** A page of so few components shows all of them at once. */
const fewComponents = 8;
/** More of them stand in the history. */
const shownTroubles = 2;

export function sections(context: PageContext): Html {
  const { view, words } = context;
  const count = view.sections.reduce((sum, { components }) => sum + components.length, 0);
  if (count === 0) return html`<p class="card">${words.empty}</p>`;
  return html`
    <section aria-labelledby="components">
      <h2 id="components">${words.components}</h2>
      ${view.sections.map((each) => section(context, each, count <= fewComponents))}
      ${view.sections.some(({ components }) => components.some(({ showsUptime }) => showsUptime)) && legend(context)}
    </section>`;
}

function section(context: PageContext, { id, name, status, components }: SectionView, isOpen: boolean): Html {
  const list = html`<ul class="cs">${components.map((each) => component(context, each))}</ul>`;
  if (name === null) return html`<div class="card">${list}</div>`;
  const opens = isOpen || status !== 'operational' || components.some((each) => each.status !== 'operational');
  const tone = toneOf(status);
  return html`
    <details class="card g"${opens && html` open`}${id !== null && html` id="s-${id}"`}>
      <summary><h3>${name}</h3><span class="s ${tone}">${icon(tone)}${context.words.status[status]}</span></summary>
      ${list}
    </details>`;
}

function component(context: PageContext, view: ComponentView): Html {
  const { words } = context;
  const tone = toneOf(view.status);
  const since =
    view.sinceMs !== null &&
    view.status !== 'operational' &&
    html` <small>${words.since} ${shortTime(context, view.sinceMs)}</small>`;
  return html`
    <li id="c-${view.id}">
      <div class="h"><b>${view.name}</b><span class="s">${icon(tone)}${words.status[view.status]}${since}</span></div>
      ${view.description !== '' && html`<p>${view.description}</p>`}
      ${view.showsUptime && uptime(context, view)}
      ${view.responseTimesMs !== undefined && sparkline(context, view.responseTimesMs)}
    </li>`;
}

function uptime(context: PageContext, view: ComponentView): Html {
  const { words, formats } = context;
  const { uptimePercent, measuredPercent } = view;
  const said = [
    uptimePercent === null ? words.noUptime : words.uptime(formats.percent(uptimePercent)),
    words.days(view.days.length),
    measuredPercent !== null && measuredPercent < 90 && words.measured(formats.wholePercent(measuredPercent)),
  ].filter((each) => each !== false);
  return html`${view.days.length > 0 && bars(context, view)}<p>${said.join(' · ')}</p>${troubles(context, view.troubles)}`;
}

function troubles(context: PageContext, days: readonly TroubledDay[]): Html | null {
  if (days.length === 0) return null;
  const { words } = context;
  const shown = days.slice(0, shownTroubles);
  const title =
    shown.length < days.length ? words.latestOf(shown.length, days.length) : words.troubledDays(days.length);
  return html`
    <details>
      <summary>${title}</summary>
      <ul>${shown.map((each) => html`<li>${context.formats.shortDate(each.date)}: ${trouble(context, each)}</li>`)}</ul>
    </details>`;
}

/** What was wrong on a day, for how long, and in which incidents. */
export function trouble({ words, formats }: PageContext, day: TroubledDay): string {
  const said = [
    day.downSeconds > 0 && words.down(formats.duration(day.downSeconds)),
    day.degradedSeconds > 0 && words.degraded(formats.duration(day.degradedSeconds)),
    day.maintenanceSeconds > 0 && words.maintained(formats.duration(day.maintenanceSeconds)),
  ].filter((each) => each !== false);
  return [said.join(', '), day.incidents.join('; ')].filter((each) => each !== '').join(' – ');
}

function legend({ words, formats, view }: PageContext): Html {
  const first = new Date(Date.parse(`${view.lastDate}T12:00:00Z`) - (view.dayCount - 1) * 86_400_000);
  const from = formats.shortDate(first.toISOString().slice(0, 10));
  return html`
    <details class="lg">
      <summary>${words.legend}</summary>
      <p>${words.legendOf(from, formats.shortDate(view.lastDate))}</p>
      <ul>
        ${letters.map((letter) => html`<li>${oneBar(letter)}${words.legends[letter]}</li>`)}
      </ul>
    </details>`;
}
