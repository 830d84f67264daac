import type { Locale } from '../../messages/index.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';
import type { Words } from './sayings.ts';

export type { Counts, Listed, OtherKind, Others, Words } from './sayings.ts';

const languages: Readonly<Record<Locale, Words>> = { en, ru };

export function wordsOf(locale: Locale): Words {
  return languages[locale];
}

/** The language of somebody without an account, by what the messenger says of them (an IETF language tag). */
export function localeOf(language: string | null): Locale {
  return language !== null && /^ru(?:-|$)/i.test(language) ? 'ru' : 'en';
}
