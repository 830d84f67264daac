/** The languages that pages are written in. */
export type Locale = 'en' | 'ru';
