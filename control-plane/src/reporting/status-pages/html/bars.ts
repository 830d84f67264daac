import type { ComponentView, DayLetter } from '../view/page-view.ts';
import { Html, html } from './markup.ts';
import type { PageContext } from './context.ts';

/** Out of 40: the worse a day, the taller its bar, so that colour alone need not tell; what is not known is a stub. */
export const heights: Readonly<Record<DayLetter, number>> = { x: 40, p: 36, d: 32, u: 27, m: 16, n: 7 };
export const letters: readonly DayLetter[] = ['u', 'd', 'p', 'x', 'm', 'n'];

/** Where a bar of that height has its middle; bars stand on a common ground. */
const middleOf = (letter: DayLetter): number => 40 - heights[letter] / 2;

/** Bars that hide one of a day that is up: it may stand beneath them, so that it is one run with its neighbours. */
const hidesUp: ReadonlySet<DayLetter> = new Set(['d', 'p', 'x']);

/**
 * A row of bars, one a day. All days of one tone are one path. Where they stand in runs, each run is one stroke, which the style sheet dashes into
 * bars: 90 days take 130 characters. Where they stand alone, the path has a corner at each of them, at which a marker draws the bar: 90 days
 * take 330 characters at worst, in place of 700.
 */
export function bars({ words }: PageContext, { days }: ComponentView): Html {
  const kinds: Record<DayLetter, number> = { u: 0, d: 0, p: 0, x: 0, m: 0, n: 0 };
  for (const letter of days) kinds[letter] += 1;
  const ground = days.map((letter) => (hidesUp.has(letter) ? 'u' : letter));
  const paths = letters.map((letter) => {
    const own = kinds[letter] === 0 ? '' : pathOf(days, letter);
    const beneath = letter === 'u' && own !== '' ? pathOf(ground, letter) : own;
    return beneath.length < own.length ? beneath : own;
  });
  // The gap after the last bar is left out.
  const width = Math.max(1, days.length) - 0.25;
  return html`<svg class="b" viewBox="0 0 ${width} 40" preserveAspectRatio="none" role="img" aria-label="${words.bar(days.length, kinds)}">${new Html(paths.join(''))}</svg>`;
}

/** One bar, as the legend shows it. */
export function oneBar(letter: DayLetter): Html {
  return html`<svg class="b" viewBox="0 0 .75 40" preserveAspectRatio="none" aria-hidden="true"><path class="${letter}" d="M0 ${middleOf(letter)}h1"/></svg>`;
}

/** The markers once for the whole document. */
export const markerSheet = new Html(
  `<svg class="b o" aria-hidden=true>${letters.map((letter) => `<marker id=k${letter} markerUnits=userSpaceOnUse markerWidth=1 markerHeight=40><path class=${letter} d="M0 ${middleOf(letter)}h1"/></marker>`).join('')}</svg>`,
);

function pathOf(days: readonly DayLetter[], letter: DayLetter): string {
  const [stroke, corner] = [strokes(days, letter), corners(days, letter)];
  return stroke.length <= corner.length
    ? `<path class=${letter} d="${stroke}"/>`
    : `<path class=k${letter} d="${corner}"/>`;
}

function strokes(days: readonly DayLetter[], letter: DayLetter): string {
  let path = '';
  let end = 0;
  for (let from = days.indexOf(letter); from !== -1; from = days.indexOf(letter, end)) {
    path += path === '' ? `M${from} ${middleOf(letter)}` : `m${from - end} 0`;
    end = from + 1;
    while (days[end] === letter) end += 1;
    path += `h${end - from}`;
  }
  return path;
}

function corners(days: readonly DayLetter[], letter: DayLetter): string {
  const first = days.indexOf(letter);
  const steps: number[] = [];
  for (let at = first, next = days.indexOf(letter, at + 1); next !== -1; next = days.indexOf(letter, at + 1)) {
    steps.push(next - at);
    at = next;
  }
  // A path without a line has no corner.
  return `M${first} 0h${steps.length === 0 ? '0' : steps.join(' ')}`;
}
