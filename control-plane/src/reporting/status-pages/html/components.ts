import type { ComponentView, SectionView, TroubledDay } from '../view/page-view.ts';
import { bars, letters, oneBar } from './bars.ts';
import { type PageContext, shortTime } from './context.ts';
import { icon, toneOf } from './icons.ts';
import { type Html, html } from './markup.ts';
import { responseTimes } from './response-times.ts';

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

function section(context: PageContext, { name, status, components }: SectionView, isOpen: boolean): Html {
  const list = html`<ul class="cs">${components.map((each) => component(context, each))}</ul>`;
  if (name === null) return html`<div class="card">${list}</div>`;
  const opens = isOpen || status !== 'operational' || components.some((each) => each.status !== 'operational');
  const tone = toneOf(status);
  return html`
    <details class="card g"${opens && html` open`}>
      <summary><h3>${name}</h3><span class="s">${icon(tone)}${context.words.status[status]}</span></summary>
      ${list}
    </details>`;
}

function component(context: PageContext, view: ComponentView): Html {
  const { words } = context;
  const tone = toneOf(view.status);
  const since =
    view.sinceMs !== null &&
    view.status !== 'operational' &&
    html`<small>${words.since} ${shortTime(context, view.sinceMs)}</small>`;
  const status = words.status[view.status];
  // Its end is left out, as in the lists of troubles.
  return html`
    <li>
      <div class="h"><b>${view.name}</b><span class="s">${icon(tone)}${since === false ? status : html`<span>${status} ${since}</span>`}</span></div>
      ${view.description !== '' && html`<p>${view.description}</p>`}
      ${view.showsUptime && uptime(context, view)}
      ${responseTimes(context, view)}`;
}

function uptime(context: PageContext, view: ComponentView): Html {
  const { words, formats } = context;
  const { uptimePercent, measuredPercent } = view;
  const said = [
    uptimePercent === null ? words.noUptime : words.uptime(formats.percent(uptimePercent)),
    measuredPercent !== null && measuredPercent < 90 && words.measured(formats.wholePercent(measuredPercent)),
  ].filter((each) => each !== false);
  return html`${view.days.length > 0 && bars(context, view)}${axis(context, said.join(' · '))}${troubles(context, view.troubles)}`;
}

/** What the bars come to, between the dates of the first and the last. */
function axis(context: PageContext, said: string): Html {
  const { view, words, formats, nowMs } = context;
  const last = formats.dateOf(nowMs) === view.lastDate ? words.today : formats.shortDate(view.lastDate);
  // What follows ends the paragraph.
  return html`<p class="ax">${formats.shortDate(firstDate(context))} <span>${said}</span> ${last}`;
}

function firstDate({ view }: PageContext): string {
  const last = Date.parse(`${view.lastDate}T12:00:00Z`);
  return new Date(last - (view.dayCount - 1) * 86_400_000).toISOString().slice(0, 10);
}

function troubles(context: PageContext, days: readonly TroubledDay[]): Html | null {
  if (days.length === 0) return null;
  const { words } = context;
  const shown = days.slice(0, shownTroubles);
  const title =
    shown.length < days.length ? words.latestOf(shown.length, days.length) : words.troubledDays(days.length);
  // The ends of list items may be left out (HTML, 13.1.2.4), which saves a large page 400 bytes.
  return html`
    <details>
      <summary>${title}</summary>
      <ul>${shown.map((each) => html`<li>${context.formats.shortDate(each.date)}: ${trouble(context, each)}`)}</ul>
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

function legend({ words }: PageContext): Html {
  return html`
    <details class="lg">
      <summary>${words.legend}</summary>
      <p>${words.howBarsRead}</p>
      <ul>
        ${letters.map((letter) => html`<li>${oneBar(letter)}${words.legends[letter]}</li>`)}
      </ul>
    </details>`;
}
