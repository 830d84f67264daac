import type { Locale } from '../locale.ts';
import { en } from './en.ts';
import { ru } from './ru.ts';
import type { Words } from './words.ts';

/** The words of every language. A new one is a file beside these, and a line here. */
const all: Readonly<Record<Locale, Words>> = { en, ru };

export function wordsOf(locale: Locale): Words {
  return all[locale];
}
