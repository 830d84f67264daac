import type { Locale } from '../view/locale.ts';

/** What a reader is told where no page is published. */
export const notFoundWords: Readonly<Record<Locale, { readonly head: string; readonly text: string }>> = {
  en: { head: 'There is no status page here', text: 'It may have moved, or it is not published.' },
  ru: { head: 'Здесь нет страницы статуса', text: 'Возможно, она переехала или не опубликована.' },
};
