import type { ComponentView, PageView } from '../view/page-view.ts';
import { pathTo } from './context.ts';
import type { PageContext } from './context.ts';
import { type Html, html } from './markup.ts';

/** A page with more lines than this shows charts in their place, which are fetched when somebody opens them: a line takes 600 bytes. */
const maxLines = 10;
/** The size of the line in its own units. */
const height = 24;

/** The response times of a component with their bounds in words, as a line or a chart; nothing where none was measured. */
export function responseTimes(context: PageContext, { id, responseTimesMs: times = [] }: ComponentView): Html | null {
  const { view, words, formats } = context;
  const known = times.filter((each): each is number => each !== null && Number.isFinite(each));
  const latest = known.at(-1);
  if (latest === undefined) return null;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const range = `${words.responseTime}: ${words.responseRange(formats.whole(least), formats.whole(most))}`;
  const detail = words.responseDetail(words.days(times.length), formats.whole(latest));
  if (lineCount(view) > maxLines) {
    const chart = html`<img loading="lazy" src="${pathTo(context, `/charts/${id}.svg`)}" alt="${detail}">`;
    return html`
      <details>
        <summary>${range}</summary>
        ${chart}
      </details>`;
  }
  return html`
    <div class="rt">
      <span>${range}</span>
      <svg class="sp" viewBox="0 -2 ${Math.max(1, times.length - 1)} ${height + 4}" preserveAspectRatio="none" role="img" aria-label="${detail}">
        <path d="${line(times, least, most)}"/>
      </svg>
    </div>`;
}

function lineCount({ sections }: PageView): number {
  return sections.reduce(
    (sum, { components }) => sum + components.filter((each) => each.responseTimesMs !== undefined).length,
    0,
  );
}

/** Relative steps, which are short; a day without a time is a gap. */
function line(times: readonly (number | null)[], least: number, most: number): string {
  const span = most - least;
  let path = '';
  let previous: { readonly x: number; readonly y: number } | undefined;
  let isDrawing = false;
  for (const [x, time] of times.entries()) {
    if (time === null || !Number.isFinite(time)) {
      isDrawing = false;
      continue;
    }
    const y = span === 0 ? height / 2 : Math.round(height - ((time - least) / span) * height);
    const step = pair(x - (previous?.x ?? 0), y - (previous?.y ?? 0));
    if (isDrawing) path += /[a-z]$/.test(path) || step.startsWith('-') ? step : ` ${step}`;
    // A line of no length, with round ends, is a dot: a day between two gaps is seen.
    else path += `m${step}l0 0`;
    isDrawing = true;
    previous = { x, y };
  }
  return path;
}

function pair(x: number, y: number): string {
  return y < 0 ? `${x}${y}` : `${x} ${y}`;
}
