import { element } from '../formats/markup.ts';
import type { Markup } from '../formats/markup.ts';
import type { PageContext } from '../html/context.ts';
import { visible } from '../html/markup.ts';
import { themeCss } from '../html/theme.ts';
import type { ComponentView, PageView } from '../view/page-view.ts';
import { scaleTo } from './scale.ts';
import type { Scale } from './scale.ts';

const [width, height] = [640, 200];
/** Of the plot; the scale stands to its left, the days below. */
const [left, right, top, bottom] = [84, width - 20, 20, height - 32];
const dayMs = 86_400_000;

const fixed =
  'rect{fill:var(--s);stroke:var(--l)}text{fill:var(--q);font:12px var(--f)}.g{stroke:var(--l)}' +
  '.p{fill:none;stroke:var(--a);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}' +
  '@media(forced-colors:active){:root{--s:Canvas;--q:CanvasText;--l:GrayText;--a:LinkText}}';

/** The style sheet of a page's charts: its own colours, light and dark. */
export function chartStyle({ theme }: PageView): string {
  // A chart has no banner, whose ground is the one thing that differs by tone.
  return themeCss(theme, 'u') + fixed;
}

/** The response times of a component over the days of its page. */
export function chart(context: PageContext, component: ComponentView, times: readonly (number | null)[]): string {
  const { view, words, formats } = context;
  const known = times.filter((each): each is number => each !== null && Number.isFinite(each));
  const latest = known.at(-1);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const said =
    latest === undefined
      ? words.status.unknown
      : `${words.responseRange(formats.whole(least), formats.whole(most))}. ` +
        words.responseDetail(words.days(times.length), formats.whole(latest));
  const title = `${visible(component.name)}: ${words.responseTime}`;
  const scale = scaleTo(latest === undefined ? 1 : most);
  const drawn =
    latest === undefined
      ? [textAt((left + right) / 2, (top + bottom) / 2, 'middle', words.status.unknown)]
      : [...grid(context, scale), element('path', { class: 'p', d: line(times, scale) })];
  const parts = [
    element('title', { id: 't' }, title),
    element('desc', { id: 'd' }, said),
    element('style', {}, [{ markup: chartStyle(view) }]),
    element('rect', { x: '.5', y: '.5', width: String(width - 1), height: String(height - 1), rx: '8' }),
    ...drawn,
    textAt(left, height - 12, 'start', formats.shortDate(dateBefore(view.lastDate, times.length - 1))),
    textAt(right, height - 12, 'end', formats.shortDate(view.lastDate)),
  ];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: String(width),
    height: String(height),
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'aria-labelledby': 't d',
    lang: context.locale,
  };
  return element('svg', attributes, parts).markup;
}

function grid({ words, formats }: PageContext, scale: Scale): Markup[] {
  return scale.ticks.flatMap((tick) => {
    const y = Math.round(yOf(tick, scale)) + 0.5;
    const said = formats.whole(tick);
    return [
      element('path', { class: 'g', d: `M${left} ${y}H${right}` }),
      textAt(left - 8, y + 4, 'end', words.responseRange(said, said)),
    ];
  });
}

/** Steps from each day to the next, in tenths of a pixel; a day without a time is a gap. */
function line(times: readonly (number | null)[], scale: Scale): string {
  const step = times.length > 1 ? (right - left) / (times.length - 1) : 0;
  let path = '';
  let isDrawing = false;
  for (const [day, time] of times.entries()) {
    if (time === null || !Number.isFinite(time)) {
      isDrawing = false;
      continue;
    }
    const place = `${tenths(left + day * step)} ${tenths(yOf(time, scale))}`;
    // A line of no length, with round ends, is a dot: a day between two gaps is seen.
    path += isDrawing ? `L${place}` : `M${place}h0`;
    isDrawing = true;
  }
  return path;
}

function yOf(time: number, { max }: Scale): number {
  return bottom - (Math.min(Math.max(time, 0), max) / max) * (bottom - top);
}

function textAt(x: number, y: number, anchor: 'start' | 'middle' | 'end', text: string): Markup {
  return element('text', { x: String(x), y: String(y), 'text-anchor': anchor }, text);
}

/** The date some days before one such as `2026-11-27`. */
function dateBefore(date: string, days: number): string {
  return new Date(Date.parse(date) - Math.max(0, days) * dayMs).toISOString().slice(0, 10);
}

const tenths = (pixels: number): string => String(Math.round(pixels * 10) / 10);
