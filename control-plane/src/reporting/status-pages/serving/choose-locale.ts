import { boundedMemo } from '../../../platform/http/prepared/bounded-memo.ts';
import type { Locale } from '../view/locale.ts';

/** Which language a reader gets: the one that the address names, else the first of their own that the page is written in, else that of the page. */
export function chooseLocale(
  page: { readonly locale: Locale; readonly locales: readonly Locale[] },
  asked: { readonly query: string; readonly acceptLanguage: string | undefined },
): Locale {
  const named = asked.query === '' ? undefined : /(?:^|&)lang=([a-z]{2})\b/i.exec(asked.query)?.[1]?.toLowerCase();
  const chosen = page.locales.find((locale) => locale === named);
  if (chosen !== undefined) return chosen;
  if (asked.acceptLanguage === undefined) return page.locale;
  for (const language of knownLanguages(asked.acceptLanguage)) {
    const found = page.locales.find((locale) => locale === language);
    if (found !== undefined) return found;
  }
  return page.locale;
}

const mostLanguages = 20;

/** Browsers send few different headers. */
const knownLanguages = boundedMemo(1_000, languagesOf);

/** Languages of the header `Accept-Language`, the dearest first (RFC 9110, section 12.5.4). */
function languagesOf(header: string): string[] {
  return header
    .split(',', mostLanguages)
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      const quality = parameters.find((text) => text.startsWith('q='));
      return { language: tag.split('-')[0] ?? '', quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ language }) => language);
}
