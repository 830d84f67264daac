import { commonWords } from './common-passwords.ts';

// Rows of keyboards, the alphabet and the digits: runs along them are no secret.
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  '`1234567890-=',
  '~!@#$%^&*()_+',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'qwertzuiopü',
  'azertyuiop',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
];
const runs = rows.flatMap((row) => [row, Array.from(row).toReversed().join('')]);

const longestRun = Math.max(...rows.map((row) => row.length));

// Two of the longest words.
const longestPair = 40;

const lookAlikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Why a password is among those that guessing begins with; undefined when it is not. Judges the well-known words and names with
 * what people put around them, runs along the keyboard, repetitions, dates, and the address of the account.
 * @param email the address of the account, lower case
 */
export function whyTooCommon(password: string, email: string): string | undefined {
  const text = password.normalize('NFC').toLowerCase();
  if (isOfAddress(text, email)) return 'must not be made of the mail address';
  if (isRepetition(text)) return 'must not repeat a few characters';
  if (isRunAlongKeyboard(text)) return 'must not be a run along the keyboard or the alphabet';
  if (isDate(text)) return 'must not be a date';
  if (isCommonWord(text)) return 'is one of the most common passwords';
  return undefined;
}

function isOfAddress(text: string, email: string): boolean {
  const local = email.split('@', 1)[0] ?? '';
  return text === email || text === local || (core(local).length >= 3 && core(text) === core(local));
}

/** A unit of up to four characters again and again, or fewer than four different characters. */
function isRepetition(text: string): boolean {
  const characters = Array.from(text);
  if (new Set(characters).size < 4) return true;
  return [2, 3, 4].some((length) => characters.every((character, index) => character === characters[index % length]));
}

/** Cut into at most three pieces, each of which is a run of at least three characters along some row. */
function isRunAlongKeyboard(text: string): boolean {
  return coveredByRuns(text, 3);
}

function coveredByRuns(text: string, pieces: number): boolean {
  if (text === '') return true;
  if (pieces === 0) return false;
  for (let length = Math.min(text.length, longestRun); length >= 3; length -= 1) {
    const piece = text.slice(0, length);
    if (runs.some((run) => run.includes(piece)) && coveredByRuns(text.slice(length), pieces - 1)) return true;
  }
  return false;
}

/** Eight digits that read as a date of the last or this century, in any order, with or without separators. */
function isDate(text: string): boolean {
  const digits = text.replaceAll(/[-./ ]/g, '');
  if (!/^[0-9]{8}$/.test(digits)) return false;
  const part = (from: number, to: number): string => digits.slice(from, to);
  return (
    (isYear(part(0, 4)) && isDayAndMonth(part(4, 6), part(6, 8))) ||
    (isYear(part(4, 8)) && isDayAndMonth(part(0, 2), part(2, 4)))
  );
}

function isDayAndMonth(a: string, b: string): boolean {
  const [x, y] = [Number(a), Number(b)];
  return x >= 1 && y >= 1 && ((x <= 12 && y <= 31) || (y <= 12 && x <= 31));
}

function isYear(year: string): boolean {
  return /^(19|20)/.test(year);
}

/** A common word, or two of them, when digits and punctuation around it and look-alike characters in it are taken away. */
function isCommonWord(text: string): boolean {
  return [text, core(text), plain(text), core(plain(text)), plain(core(text))].some((form) => {
    if (commonWords.has(form)) return true;
    if (form.length > longestPair) return false;
    for (let cut = 3; cut <= form.length - 3; cut += 1) {
      if (commonWords.has(form.slice(0, cut)) && commonWords.has(core(form.slice(cut)))) return true;
    }
    return false;
  });
}

/** Without leading and trailing digits, punctuation and space. */
function core(text: string): string {
  return text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
}

/** With look-alike characters read as the letters that they stand for. */
function plain(text: string): string {
  return Array.from(text)
    .map((character) => lookAlikes[character] ?? character)
    .join('');
}
