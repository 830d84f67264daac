import fc from '@parallax/testkit/fast-check';
import { Problem } from '@parallax/api-contract';
import type { StatusPageThemeInput } from '@parallax/api-contract';
import t from 'tap';
import { contrast, difference, nearestColour } from './colours.ts';
import { palettes, requireContrast } from './theme.ts';

const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const colours = fc.record({ background: colour, surface: colour, text: colour, accent: colour }, { requiredKeys: [] });
const plain: StatusPageThemeInput = { scheme: 'system', light: {}, dark: {}, font: 'system', radius: 8 };

function problemOf(theme: StatusPageThemeInput): Problem | undefined {
  try {
    requireContrast(theme);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

void t.test('contrast is that of WCAG', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21);
  t.equal(contrast('#808080', '#808080'), 1);
  // From "Understanding SC 1.4.3": the grey that just passes on white.
  t.ok(contrast('#767676', '#ffffff') >= 4.5);
  t.ok(contrast('#777777', '#ffffff') < 4.5);
  t.ok(Math.abs(contrast('#ff0000', '#ffffff') - 3.998) < 0.001);
});

void t.test('the look of the product passes', async (t) => {
  t.equal(problemOf(plain), undefined);
  for (const scheme of ['light', 'dark'] as const) {
    const { background, surface, text } = palettes[scheme];
    t.equal(problemOf({ ...plain, scheme, [scheme]: { background, surface, text, accent: text } }), undefined);
  }
});

void t.test('the nearest colour passes, and none of those around it is nearer', async () => {
  const grid = [0, 51, 102, 153, 204, 255];
  const others = grid.flatMap((r) =>
    grid.flatMap((g) => grid.map((b) => `#${[r, g, b].map((value) => value.toString(16).padStart(2, '0')).join('')}`)),
  );
  fc.assert(
    fc.property(colour, colour, fc.constantFrom(3, 4.5), (given, behind, least) => {
      const passes = (tried: string) => contrast(tried, behind) >= least;
      const nearest = nearestColour(given, passes);
      if (nearest === undefined || !passes(nearest)) throw new Error(`${given} on ${behind}: ${nearest}`);
      if (passes(given) && nearest !== given) throw new Error(`${given} passes and became ${nearest}`);
      // Its hue is kept, so another hue may look a little nearer.
      const better = others.find(
        (other) => passes(other) && difference(given, other) < 0.75 * difference(given, nearest),
      );
      if (better !== undefined) throw new Error(`${given} on ${behind}: ${better} is nearer than ${nearest}`);
    }),
    { numRuns: 300 },
  );
});

void t.test(
  'whoever takes the advice, again and again, comes to a theme that passes, and what passes can be read',
  async (t) => {
    let refused = 0;
    fc.assert(
      fc.property(colours, colours, fc.constantFrom('system', 'light', 'dark'), (light, dark, scheme) => {
        let theme: StatusPageThemeInput = { ...plain, scheme, light, dark };
        for (let round = 0; ; round += 1) {
          const [first] = problemOf(theme)?.errors ?? [];
          if (first === undefined) break;
          refused += 1;
          if (round === 20) throw new Error(`no end: ${JSON.stringify(theme)}`);
          const [, of, field] = /^\/theme\/(light|dark)\/(\w+)$/.exec(first.path) ?? [];
          const advised = /passes is (#[0-9a-f]{6})$/.exec(first.message)?.[1];
          if (of !== 'light' && of !== 'dark') throw new Error(first.path);
          // Where nothing passes beside the others, the field is left to the product.
          theme = { ...theme, [of]: { ...theme[of], [String(field)]: advised ?? null } };
        }
        for (const of of scheme === 'system' ? (['light', 'dark'] as const) : ([scheme] as const)) {
          const { background, surface, text } = palettes[of];
          const shown = { background, surface, text, ...defined(theme[of]) };
          for (const back of [shown.background, shown.surface]) {
            if (contrast(shown.text, back) < 4.5) throw new Error(`text: ${JSON.stringify(theme)}`);
            if (shown.accent != null && contrast(shown.accent, back) < 3)
              throw new Error(`accent: ${JSON.stringify(theme)}`);
            if (palettes[of].fixedShapes.some((shape) => contrast(shape, back) < 3))
              throw new Error(JSON.stringify(theme));
          }
        }
      }),
      { numRuns: 100 },
    );
    t.ok(refused > 50, `${refused} refusals`);
  },
);

function defined(given: StatusPageThemeInput['light']): {
  background?: string;
  surface?: string;
  text?: string;
  accent?: string;
} {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}
