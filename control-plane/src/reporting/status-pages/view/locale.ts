/** The languages that pages are written in. */
export const locales = ['en', 'ru'] as const;
export type Locale = (typeof locales)[number];
