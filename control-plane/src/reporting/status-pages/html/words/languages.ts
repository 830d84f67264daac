import type { Locale } from '../../view/locale.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';
import type { Words } from './words.ts';

const languages: Readonly<Record<Locale, Words>> = { en, ru };

export function wordsOf(locale: Locale): Words {
  return Object.hasOwn(languages, locale) ? languages[locale] : en;
}
