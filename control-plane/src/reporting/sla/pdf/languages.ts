import { english } from './words-en.ts';
import { russian } from './words-ru.ts';
import type { Words } from './words.ts';

const languages = [english, russian];

/** The words of a language; those of English for a language that there is not. `ru-RU` is `ru`. */
export function wordsFor(locale: string): Words {
  const language = locale.toLowerCase().split(/[-_]/)[0];
  return languages.find((words) => words.language === language) ?? english;
}
