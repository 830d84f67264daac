import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { PageColours, PageTheme } from '../view/page-view.ts';
import { contrast } from './colours.ts';
import { tones } from './icons.ts';
import { type Tone, themeCss } from './theme.ts';

type Variables = Readonly<Record<string, string>>;

/** The variables of the light and of the dark scheme. */
function schemesOf(theme: Partial<PageTheme>, banner: Tone): readonly [light: Variables, dark: Variables] {
  const css = themeCss({ scheme: 'system', light: {}, dark: {}, font: 'system', radius: 8, ...theme }, banner);
  const [light, dark] = [...css.matchAll(/--bg:[^}]*/g)].map(([text]) =>
    Object.fromEntries(
      [...text.matchAll(/--(\w+):(#[0-9a-f]{6})/g)].map(([, name = '', colour = '']) => [name, colour]),
    ),
  );
  if (light === undefined || dark === undefined) throw new Error(css);
  return [light, dark];
}

/** What is too faint: texts below 4.5, and shapes below 3, on the grounds that they stand on (WCAG 2.2, 1.4.3 and 1.4.11). */
function faint(variables: Variables): readonly string[] {
  const of = (name: string): string => variables[name] ?? '#000000';
  const texts = [...['t', 'q', 'a'].flatMap((text) => ['bg', 's'].map((ground) => [text, ground])), ['t', 'b']];
  const shapes = tones.flatMap((tone) => ['bg', 's'].map((ground) => [tone, ground]));
  const below = (pairs: readonly (readonly string[])[], least: number): readonly string[] =>
    pairs
      .filter(([shape = '', ground = '']) => contrast(of(shape), of(ground)) < least)
      .map(([shape = '', ground = '']) => `${shape} ${of(shape)} on ${ground} ${of(ground)}`);
  return [...below(texts, 4.5), ...below(shapes, 3)];
}

t.test('All that a page shows can be read in the colours that it has by default', async (t) => {
  for (const tone of tones)
    for (const variables of schemesOf({}, tone)) {
      t.same(faint(variables), [], tone);
      t.ok(contrast(variables['i'] ?? '', variables['b'] ?? '') >= 3, `the sign of the banner: ${tone}`);
    }
});

t.test('All that a page shows can be read whatever colours it is given', async (t) => {
  const colour = fc.integer({ min: 0, max: 0xffffff }).map((number) => `#${number.toString(16).padStart(6, '0')}`);
  const colours = fc.record({ background: colour, text: colour, accent: colour }, { requiredKeys: [] });
  fc.assert(
    fc.property(colours, fc.constantFrom(...tones), (chosen, tone) => {
      // Grounds that differ in lightness leave no text that can be read on both: the interface refuses those.
      const both: PageColours = {
        ...chosen,
        background: chosen.background ?? '#808080',
        surface: chosen.background ?? '#808080',
      };
      for (const variables of schemesOf({ light: both, dark: both }, tone)) {
        const found = faint(variables);
        if (found.length > 0) throw new Error(found.join('; '));
      }
    }),
  );
  t.pass();
});

t.test('A theme decides its scheme, and prints in light colours', async (t) => {
  const css = (scheme: PageTheme['scheme']): string =>
    themeCss(
      { scheme, light: { background: '#fefefe' }, dark: { background: '#010101' }, font: 'system', radius: 8 },
      'u',
    );
  t.match(css('system'), /#fefefe.*@media screen and \(prefers-color-scheme:dark\)\{:root\{--bg:#010101/);
  t.notMatch(css('light'), '#010101');
  t.match(css('dark'), /#010101.*@media print\{:root\{color-scheme:light;--bg:#fefefe/);
});

t.test('Nothing that is no colour, font or radius gets into the style', async (t) => {
  const wrong = 'red;}</style><script>alert(1)</script>';
  const css = themeCss(
    {
      scheme: 'system',
      light: { background: wrong, text: 'url(//evil.example)' },
      dark: { accent: '#12345' },
      font: 'system',
      radius: Number.NaN,
    },
    'u',
  );
  t.equal(css, themeCss({ scheme: 'system', light: {}, dark: {}, font: 'system', radius: 8 }, 'u'));
});
