import { Problem } from '@parallax/api-contract';
import type { InputError, StatusPageColoursInput, StatusPageThemeInput } from '@parallax/api-contract';
import { contrast, contrastOf, luminance, nearestColour } from './colours.ts';

export type Scheme = 'light' | 'dark';
type Place = 'background' | 'surface' | 'text' | 'accent';

/** What pages are drawn with where their theme says nothing else. */
type Palette = {
  readonly background: string;
  readonly surface: string;
  readonly text: string;
  /** Of texts that no theme changes: soft text and the words of statuses. */
  readonly fixedTexts: readonly string[];
  /** Of the shapes of statuses, such as bars. */
  readonly fixedShapes: readonly string[];
};

/** The colours of the product, as its console has them. */
export const palettes: Readonly<Record<Scheme, Palette>> = {
  light: {
    background: '#f6f7f9',
    surface: '#ffffff',
    text: '#14181f',
    fixedTexts: ['#505a68', '#1f756b', '#85560e', '#b61e1b', '#3027c1', '#5c636c'],
    fixedShapes: ['#3c9e92', '#b77b1f', '#b61e1b', '#3027c1', '#636971'],
  },
  dark: {
    background: '#0d1015',
    surface: '#151a21',
    text: '#e9edf2',
    fixedTexts: ['#a3adba', '#5ccdb6', '#debe3c', '#ff6f6a', '#b3a3ec', '#9aa3af'],
    fixedShapes: ['#5ccdb6', '#debe3c', '#e93432', '#a794e7', '#757c86'],
  },
};

/** By WCAG 2.2: 1.4.3 of texts, 1.4.11 of shapes. */
const leastOfText = 4.5;
const leastOfShape = 3;
const backgrounds = ['background', 'surface'] as const;

/** Something that is drawn on a background. */
type Pair = {
  /** Null: of the product, in which case the background is what can be changed. */
  readonly front: 'text' | 'accent' | null;
  readonly colour: string;
  readonly back: (typeof backgrounds)[number];
  readonly behind: string;
  readonly least: number;
};

type Colours = Readonly<Record<(typeof backgrounds)[number] | 'text', string>> & { readonly accent: string | null };

/**
 * Requires that all that a theme draws can be told from what lies behind it, in each scheme that it shows.
 * @throws Problem `contrast_too_low` that names the nearest colours that pass
 */
export function requireContrast(theme: StatusPageThemeInput): void {
  const shown: readonly Scheme[] = theme.scheme === 'system' ? ['light', 'dark'] : [theme.scheme];
  const errors = shown.flatMap((scheme) => {
    const error = errorOf(scheme, theme[scheme]);
    return error === undefined ? [] : [error];
  });
  const [first] = errors;
  if (first !== undefined) throw new Problem('contrast_too_low', `${first.path} ${first.message}`, { errors });
}

/** The first thing that is wrong with the colours of a scheme. */
function errorOf(scheme: Scheme, given: StatusPageColoursInput): InputError | undefined {
  const pairs = allPairs(scheme, resulting(scheme, given));
  const failing = pairs.filter((pair) => contrast(pair.colour, pair.behind) < pair.least);
  // What lies in front is named first: who chooses a background rather changes the text on it than the background.
  const places = (['text', 'accent', 'surface', 'background'] as const).filter(
    (place) => given[place] != null && failing.some((pair) => isPartOf(pair, place)),
  );
  for (const place of places) {
    const nearest = nearestColour(given[place] ?? '', passesBeside(pairs, place));
    const pair = failing.find((each) => isPartOf(each, place));
    if (nearest === undefined || pair === undefined) continue;
    return told({ scheme, place, pair, advice: `the nearest colour that passes is ${nearest}` });
  }
  const [place] = places;
  const pair = failing.find((each) => place !== undefined && isPartOf(each, place));
  if (place === undefined || pair === undefined) return undefined;
  return told({ scheme, place, pair, advice: 'no colour passes beside the others that are given' });
}

type Finding = { readonly scheme: Scheme; readonly place: Place; readonly pair: Pair; readonly advice: string };

function told({ scheme, place, pair, advice }: Finding): InputError {
  const to = place === pair.back ? `${pair.colour}, which is drawn on it` : `the ${pair.back} ${pair.behind}`;
  const needed = pair.least === leastOfText ? `texts need ${leastOfText}` : `shapes need ${leastOfShape}`;
  return {
    in: 'body',
    path: `/theme/${scheme}/${place}`,
    code: 'contrast_too_low',
    message: `has a contrast of ${cut(contrast(pair.colour, pair.behind))} to ${to}; ${needed}; ${advice}`,
  };
}

/** Cut and not rounded: 4.496 is less than 4.5. */
const cut = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);

function resulting(scheme: Scheme, given: StatusPageColoursInput): Colours {
  const { background, surface, text } = palettes[scheme];
  return {
    background: given.background ?? background,
    surface: given.surface ?? surface,
    text: given.text ?? text,
    accent: given.accent ?? null,
  };
}

function allPairs(scheme: Scheme, colours: Colours): readonly Pair[] {
  const { fixedTexts, fixedShapes } = palettes[scheme];
  const fronts: readonly Pick<Pair, 'front' | 'colour' | 'least'>[] = [
    { front: 'text', colour: colours.text, least: leastOfText },
    ...(colours.accent === null ? [] : [{ front: 'accent' as const, colour: colours.accent, least: leastOfShape }]),
    ...fixedTexts.map((colour) => ({ front: null, colour, least: leastOfText })),
    ...fixedShapes.map((colour) => ({ front: null, colour, least: leastOfShape })),
  ];
  return backgrounds.flatMap((back) => fronts.map((front) => ({ ...front, back, behind: colours[back] })));
}

/** Whether a colour in a place passes beside all others. Those are looked at once, since hundreds of colours are tried. */
function passesBeside(pairs: readonly Pair[], place: Place): (tried: string) => boolean {
  const others = pairs
    .filter((pair) => isPartOf(pair, place))
    .map(({ front, colour, behind, least }) => ({ other: luminance(front === place ? behind : colour), least }));
  return (tried) => {
    const own = luminance(tried);
    return others.every(({ other, least }) => contrastOf(own, other) >= least);
  };
}

function isPartOf(pair: Pair, place: Place): boolean {
  return pair.front === place || pair.back === place;
}
