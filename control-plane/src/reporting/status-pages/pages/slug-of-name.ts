import { reservedSlugs } from '@parallax/api-contract';

const latinOf = new Map<string, string>(
  Object.entries({
    // Russian, as passports write it (ICAO 9303), without signs that stand for no sound.
    а: 'a',
    б: 'b',
    в: 'v',
    г: 'g',
    д: 'd',
    е: 'e',
    ё: 'e',
    ж: 'zh',
    з: 'z',
    и: 'i',
    й: 'i',
    к: 'k',
    л: 'l',
    м: 'm',
    н: 'n',
    о: 'o',
    п: 'p',
    р: 'r',
    с: 's',
    т: 't',
    у: 'u',
    ф: 'f',
    х: 'kh',
    ц: 'ts',
    ч: 'ch',
    ш: 'sh',
    щ: 'shch',
    ъ: '',
    ы: 'y',
    ь: '',
    э: 'e',
    ю: 'iu',
    я: 'ia',
    // Ukrainian, Belarusian, Serbian, Macedonian.
    і: 'i',
    ї: 'i',
    є: 'ie',
    ґ: 'g',
    ў: 'u',
    ђ: 'dj',
    ј: 'j',
    љ: 'lj',
    њ: 'nj',
    ћ: 'c',
    џ: 'dz',
    ѓ: 'g',
    ќ: 'k',
    ѕ: 'dz',
    // Latin letters that are no letter with a mark.
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    þ: 'th',
    ł: 'l',
    ħ: 'h',
    ı: 'i',
    ŋ: 'ng',
    ŧ: 't',
  }),
);

/** Leaves room for a number behind it. */
const mostOfName = 52;

/** A slug made from a name; what has no form in ASCII is left out. It may be reserved. */
export function slugOfName(name: string): string {
  const latin = Array.from(name.normalize('NFC').toLowerCase(), (letter) => latinOf.get(letter) ?? letter).join('');
  const plain = trimmed(
    latin
      .normalize('NFKD')
      .replaceAll(/\p{M}|['’]/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '-'),
  );
  const short = trimmed(plain.slice(0, mostOfName));
  if (short === '') return 'page';
  return short.length === 1 ? `${short}-page` : short;
}

/**
 * Slugs to try for a name, in this order: the name, the name with a number, the name with one of some random numbers.
 * @param random a number from 0 to 1
 */
export function slugsToTry(base: string, random: () => number): readonly string[] {
  const numbered = Array.from({ length: 48 }, (_, index) => `${base}-${index + 2}`);
  const scattered = Array.from({ length: 8 }, () => `${base}-${100_000 + Math.floor(random() * 900_000)}`);
  return [...(reservedSlugs.has(base) ? [] : [base]), ...numbered, ...scattered];
}

/** Whether a slug is that of a name, with or without a number. */
export function isSlugOf(slug: string, base: string): boolean {
  return slug === base || (slug.startsWith(`${base}-`) && /^[0-9]+$/.test(slug.slice(base.length + 1)));
}

function trimmed(text: string): string {
  return text.replaceAll(/^-+|-+$/g, '');
}
