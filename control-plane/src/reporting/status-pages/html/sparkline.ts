import { type Html, html } from './markup.ts';
import type { PageContext } from './context.ts';

const height = 24;

/** The response times of a component as a line, with their bounds in words; nothing where none was measured. */
export function sparkline({ words, formats }: PageContext, times: readonly (number | null)[]): Html | null {
  const known = times.filter((each): each is number => each !== null && Number.isFinite(each));
  const latest = known.at(-1);
  if (latest === undefined) return null;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const range = words.responseRange(formats.whole(least), formats.whole(most));
  const detail = words.responseDetail(words.days(times.length), formats.whole(latest));
  return html`
    <div class="rt">
      <span>${words.responseTime}: ${range}</span>
      <svg class="sp" viewBox="0 -2 ${Math.max(1, times.length - 1)} ${height + 4}" preserveAspectRatio="none" role="img">
        <title>${words.responseTime}: ${range}</title>
        <desc>${detail}</desc>
        <path d="${line(times, least, most)}"/>
      </svg>
    </div>`;
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
