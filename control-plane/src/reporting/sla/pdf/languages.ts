import { formatsOf } from './formats.ts';
import type { Formats } from './formats.ts';
import { english } from './words-en.ts';
import { russian } from './words-ru.ts';
import type { Words } from './words.ts';

const languages = [english, russian];

/** The words of a language; those of English for a language that there is not. `ru-RU` is `ru`. */
export function wordsFor(locale: string): Words {
  const language = locale.toLowerCase().split(/[-_]/)[0];
  return languages.find((words) => words.language === language) ?? english;
}

/** How reports write numbers and times in a language. @param timeZone of days and times */
export function formatsFor(locale: string, timeZone: string): Formats {
  return formatsOf(wordsFor(locale), timeZone);
}
