/** Languages that people are told in. A new one is one file beside `words/en.ts`. */
export const locales = ['en', 'ru'] as const;
export type Locale = (typeof locales)[number];
