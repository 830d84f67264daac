import type { PageColours, PageTheme } from '../view/page-view.ts';
import { colourOf, contrast, mix, standingOut } from './colours.ts';

/** One letter for each way that something can be; the page's classes and icons are named after it, as the letters of days are. */
export type Tone = 'u' | 'm' | 'd' | 'p' | 'x' | 'n';

type Scheme = 'light' | 'dark';
type Defaults = Readonly<Record<Exclude<keyof PageColours, 'accent'>, string>> & {
  readonly tones: Readonly<Record<Tone, string>>;
};

// The colours of the product. Good, caution, bad, maintenance and unknown stay apart for people who see red, green or blue otherwise. A partial outage
// lies between caution and bad: its icon and the height of its bar tell it from both.
const defaults: Readonly<Record<Scheme, Defaults>> = {
  light: {
    background: '#f6f7f9',
    surface: '#ffffff',
    text: '#14181f',
    tones: { u: '#3c9e92', m: '#3027c1', d: '#b77b1f', p: '#cf5d1b', x: '#b61e1b', n: '#636971' },
  },
  dark: {
    background: '#0d1015',
    surface: '#151a21',
    text: '#e9edf2',
    tones: { u: '#5ccdb6', m: '#a794e7', d: '#debe3c', p: '#f0903f', x: '#e93432', n: '#757c86' },
  },
};

const fonts: Readonly<Record<PageTheme['font'], string>> = {
  system: "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif",
  serif: "Georgia,'Noto Serif','Times New Roman',serif",
  mono: "ui-monospace,'SF Mono',Menlo,'Noto Sans Mono',monospace",
};

/**
 * The part of the style sheet that a page decides: colours of both schemes, corners, font. Nothing that somebody wrote gets into it as it was written.
 * @param banner the tone of its ground
 */
export function themeCss(theme: PageTheme, banner: Tone): string {
  const light = variables(theme.light, 'light', banner);
  const dark = variables(theme.dark, 'dark', banner);
  const font = Object.hasOwn(fonts, theme.font) ? fonts[theme.font] : fonts.system;
  const radius = Number.isFinite(theme.radius) ? Math.min(24, Math.max(0, Math.round(theme.radius))) : 8;
  const colours =
    theme.scheme === 'dark'
      ? `:root{color-scheme:dark;${dark}}@media print{:root{color-scheme:light;${light}}}`
      : theme.scheme === 'light'
        ? `:root{color-scheme:light;${light}}`
        : `:root{color-scheme:light dark;${light}}@media screen and (prefers-color-scheme:dark){:root{${dark}}}`;
  return `:root{--f:${font};--r:${radius}px}${colours}`;
}

function variables(colours: PageColours, scheme: Scheme, banner: Tone): string {
  const usual = defaults[scheme];
  const background = colourOf(colours.background, usual.background);
  const surface = colourOf(colours.surface, usual.surface);
  const grounds = [background, surface];
  const text = readable(colourOf(colours.text, usual.text), grounds);
  const accent = standingOut(colourOf(colours.accent, text), grounds, 4.5, text);
  // As soft as text may be.
  const soft = standingOut(mix(text, surface, 0.35), grounds, 4.6, text);
  const tones = Object.entries(usual.tones).map(([tone, colour]) => {
    const shape = standingOut(colour, grounds, 3, text);
    if (tone !== banner) return `--${tone}:${shape}`;
    const ground = tint(shape, surface, text);
    return `--${tone}:${shape};--b:${ground};--i:${standingOut(shape, [ground, background], 3, text)}`;
  });
  return [
    `--bg:${background};--s:${surface};--t:${text};--a:${accent};--q:${soft}`,
    `--l:${mix(surface, text, 0.14)}`,
    ...tones,
  ].join(';');
}

/** The text's colour; black or white where it cannot be read. */
function readable(text: string, grounds: readonly string[]): string {
  const worst = (colour: string): number => Math.min(...grounds.map((ground) => contrast(colour, ground)));
  if (worst(text) >= 4.5) return text;
  return worst('#000000') >= worst('#ffffff') ? '#000000' : '#ffffff';
}

/** A ground in a tone's colour on which the text can be read. */
function tint(shape: string, surface: string, text: string): string {
  for (const share of [0.14, 0.1, 0.06, 0.03]) {
    const ground = mix(surface, shape, share);
    if (contrast(text, ground) >= 4.5) return ground;
  }
  return surface;
}
