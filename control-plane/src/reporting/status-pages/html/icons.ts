import type { ComponentStatus, Indicator } from '../view/page-view.ts';
import { Html } from './markup.ts';
import type { Tone } from './theme.ts';

export const tones: readonly Tone[] = ['u', 'm', 'd', 'p', 'x', 'n'];

const statusTones: Readonly<Record<ComponentStatus, Tone>> = {
  operational: 'u',
  maintenance: 'm',
  degraded: 'd',
  partial_outage: 'p',
  major_outage: 'x',
  unknown: 'n',
};
const indicatorTones: Readonly<Record<Indicator, Tone>> = {
  none: 'u',
  maintenance: 'm',
  minor: 'd',
  major: 'p',
  critical: 'x',
  unknown: 'n',
};

export const toneOf = (status: ComponentStatus): Tone => statusTones[status];
export const toneOfIndicator = (indicator: Indicator): Tone => indicatorTones[indicator];

/** A ground and a sign upon it, in a square of 16: no two tones have the same outline. */
const shapes: Readonly<Record<Tone, readonly [ground: string, sign: string]>> = {
  // Circle with a tick.
  u: ['M8 .5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z', 'M4.6 8.3 7 10.7l4.4-5'],
  // Rounded square with a bar.
  m: ['M4 1h8a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H4a3 3 0 0 1-3-3V4a3 3 0 0 1 3-3z', 'M6 5v6M10 5v6'],
  // Triangle with an exclamation mark.
  d: [
    'M8 .8c.6 0 1 .3 1.3.8l6.4 11.6c.5 1-.2 2.1-1.3 2.1H1.6c-1.1 0-1.8-1.1-1.3-2.1L6.7 1.6C7 1.1 7.4.8 8 .8z',
    'M8 5.5v4M8 12v.2',
  ],
  // Diamond with an exclamation mark.
  p: ['M8 0l8 8-8 8-8-8z', 'M8 4.5v4M8 11v.2'],
  // Octagon with a cross.
  x: ['M4.9.5h6.2l4.4 4.4v6.2l-4.4 4.4H4.9L.5 11.1V4.9z', 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4'],
  // Ring with a question mark.
  n: [
    'M8 .5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15z',
    'M5.9 6.2c0-1.3.9-2.1 2.1-2.1s2.1.8 2.1 2c0 1.5-2.1 1.6-2.1 3.2M8 11.7v.2',
  ],
};

function shape(tone: Tone): string {
  const [ground, sign] = shapes[tone];
  return `<path d="${ground}"/><path class=k d="${sign}"/>`;
}

/** The icons once for the whole document; `icon` refers to them. */
export const iconSheet = new Html(
  `<svg class=o aria-hidden=true>${tones.map((tone) => `<symbol id=${tone} viewBox="0 0 16 16">${shape(tone)}</symbol>`).join('')}</svg>`,
);

const icons = new Map(
  tones.map((tone) => [tone, new Html(`<svg class=${tone} aria-hidden=true><use href=#${tone} /></svg>`)]),
);

/** A shape in its tone, beside which its meaning stands in words. */
export function icon(tone: Tone): Html {
  return icons.get(tone) ?? new Html('');
}

const favicons: Readonly<Record<Tone, string>> = {
  u: '#3c9e92',
  m: '#3027c1',
  d: '#b77b1f',
  p: '#cf5d1b',
  x: '#b61e1b',
  n: '#636971',
};

/** What a browser shows in its tab: the state at a glance, without a request. */
export function favicon(tone: Tone): string {
  const [ground, sign] = shapes[tone];
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path fill='${favicons[tone]}' d='${ground}'/><path fill='none' stroke='#fff' stroke-width='1.8' stroke-linecap='round' d='${sign}'/></svg>`;
  return `data:image/svg+xml,${svg.replaceAll('#', '%23').replaceAll('<', '%3C').replaceAll('>', '%3E')}`;
}
