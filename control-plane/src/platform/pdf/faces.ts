import { readFileSync } from 'node:fs';
import { create } from 'fontkit';
import type { Font } from 'fontkit';
import { unpackedFont } from './woff.ts';

export type Weight = 'regular' | 'bold';

/** A font with a role. `last` has a bitmap-like glyph for nearly every character: plain, but never an empty box. */
export type FaceName =
  | 'sans'
  | 'arabic'
  | 'hebrew'
  | 'thai'
  | 'armenian'
  | 'georgian'
  | 'japanese'
  | 'korean'
  | 'chinese'
  | 'emoji'
  | 'last';

/** Where the files are; looked up when they are needed. Each is named in full, so that tools see which packages are in use. */
const files: Record<FaceName, Record<Weight, () => string>> = {
  sans: {
    regular: () => import.meta.resolve('@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/noto-sans/600SemiBold/NotoSans_600SemiBold.ttf'),
  },
  // One glyph for each letter and form. Fonts that put the dots on separately leave a reader's program no letters to search for.
  arabic: {
    regular: () =>
      import.meta.resolve('@expo-google-fonts/ibm-plex-sans-arabic/400Regular/IBMPlexSansArabic_400Regular.ttf'),
    bold: () =>
      import.meta.resolve('@expo-google-fonts/ibm-plex-sans-arabic/600SemiBold/IBMPlexSansArabic_600SemiBold.ttf'),
  },
  hebrew: {
    regular: () => import.meta.resolve('@expo-google-fonts/noto-sans-hebrew/400Regular/NotoSansHebrew_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/noto-sans-hebrew/600SemiBold/NotoSansHebrew_600SemiBold.ttf'),
  },
  thai: {
    regular: () => import.meta.resolve('@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/noto-sans-thai/600SemiBold/NotoSansThai_600SemiBold.ttf'),
  },
  armenian: {
    regular: () =>
      import.meta.resolve('@expo-google-fonts/noto-sans-armenian/400Regular/NotoSansArmenian_400Regular.ttf'),
    bold: () =>
      import.meta.resolve('@expo-google-fonts/noto-sans-armenian/600SemiBold/NotoSansArmenian_600SemiBold.ttf'),
  },
  georgian: {
    regular: () =>
      import.meta.resolve('@expo-google-fonts/noto-sans-georgian/400Regular/NotoSansGeorgian_400Regular.ttf'),
    bold: () =>
      import.meta.resolve('@expo-google-fonts/noto-sans-georgian/600SemiBold/NotoSansGeorgian_600SemiBold.ttf'),
  },
  japanese: {
    regular: () => import.meta.resolve('@expo-google-fonts/biz-udpgothic/400Regular/BIZUDPGothic_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/biz-udpgothic/700Bold/BIZUDPGothic_700Bold.ttf'),
  },
  korean: {
    regular: () => import.meta.resolve('@expo-google-fonts/gothic-a1/400Regular/GothicA1_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/gothic-a1/600SemiBold/GothicA1_600SemiBold.ttf'),
  },
  chinese: {
    regular: () => import.meta.resolve('@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/noto-sans-sc/600SemiBold/NotoSansSC_600SemiBold.ttf'),
  },
  emoji: {
    regular: () => import.meta.resolve('@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf'),
    bold: () => import.meta.resolve('@expo-google-fonts/noto-emoji/600SemiBold/NotoEmoji_600SemiBold.ttf'),
  },
  last: { regular: lastResort, bold: lastResort },
};

/** A font file, read. */
export type Face = {
  readonly key: string;
  readonly font: Font;
};

const opened = new Map<string, Face>();

/**
 * Reads a font when it is first asked for and keeps it: nobody who writes no Chinese pays for ten megabytes of it.
 *
 * @throws when the package of the font is not installed
 */
export function face(name: FaceName, weight: Weight): Face {
  const key = `${name}-${weight}`;
  const known = opened.get(key);
  if (known !== undefined) return known;
  const location = files[name][weight]();
  const font = create(unpackedFont(readFileSync(new URL(location))));
  if (!('layout' in font)) throw new Error(`${location} is a collection of fonts, and one font was expected`);
  const read = { key, font };
  opened.set(key, read);
  return read;
}

function lastResort(): string {
  return import.meta.resolve('@fontsource/unifontex/files/unifontex-latin-400-normal.woff');
}
