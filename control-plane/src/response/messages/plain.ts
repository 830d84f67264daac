// Names and texts of others are hostile: they may hold control characters, turn the direction of what follows, or pretend to be empty.
// What leaves this file is plain text; that it stays text in a service's markup is the business of `escape/`.

/** U+2068 and U+2069 hold a text of unknown direction apart from what stands around it (Unicode 15, annex 9, 2.4). */
const isolateStart = '\u2068';
const isolateEnd = '\u2069';
const ellipsis = '…';

/** More marks than this on one letter are there to run over the lines around it. */
const mostMarks = 4;

const controls = /[\p{Cc}\u2028\u2029]/gu;
const noncharacters = /[\ufffe\uffff\ufff9-\ufffb]|\p{Noncharacter_Code_Point}/gu;
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u206a-\u206f]/gu;
// Soft hyphen, grapheme joiner, fillers of Hangul and Khmer, the separator of Mongolian, zero-width space, joiners of words and invisible operators, byte order mark,
// tags and the variation selectors beyond the first sixteen. Joiners (U+200C, U+200D) are looked at one by one.
const invisible =
  /\u034f|[\u00ad\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u3164\ufeff\uffa0]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const marks = new RegExp(`(\\p{M}{${mostMarks}})\\p{M}+`, 'gu');
// Scripts in which a joiner changes what is read.
const joining =
  '\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mand}\\p{scx=Nkoo}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}';
const usefulJoiner = new RegExp(
  `(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})|(?<=(?=\\p{L}|\\p{M})[${joining}])[\\u200c\\u200d](?=(?=\\p{L}|\\p{M})[${joining}])`,
  'gu',
);
const rightToLeft =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** One line: without control characters, what is invisible, and what turns the direction; white space is one space, ends are bare. */
export function plainLine(text: string): string {
  return visible(text.toWellFormed().replace(controls, ' ')).replaceAll(/\s+/gu, ' ').trim();
}

/** As `plainLine`, but lines stay lines (at most one empty one in a row). */
export function plainLines(text: string): string {
  return text
    .replaceAll(/\r\n?|[\u0085\u2028\u2029\v\f]/gu, '\n')
    .split('\n')
    .map((line) => plainLine(line))
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim();
}

function visible(text: string): string {
  const shown = text
    .replace(noncharacters, '\ufffd')
    .replace(directions, '')
    .replace(invisible, '')
    .replace(marks, '$1');
  if (!/[\u200c\u200d]/u.test(shown)) return shown;
  const kept = new Set([...shown.matchAll(usefulJoiner)].map(({ index }) => index));
  return shown.replaceAll(/[\u200c\u200d]/gu, (joiner, index: number) => (kept.has(index) ? joiner : ''));
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * The text as far as it fits, cut between graphemes with "…" at its end; isolates stay balanced.
 * @param most UTF-16 code units, so that no other way of counting characters finds more
 */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  if (most <= 0) return '';
  let end = 0;
  let open = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    const opened = open + count(segment, isolateStart) - count(segment, isolateEnd);
    if (index + segment.length + Math.max(opened, 0) + ellipsis.length > most) break;
    end = index + segment.length;
    open = Math.max(opened, 0);
  }
  return text.slice(0, end).trimEnd() + ellipsis + isolateEnd.repeat(open);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** A foreign text as a part of a sentence: where it runs from right to left, it is held apart. Only of what is plain already. */
export function isolated(text: string): string {
  return rightToLeft.test(text) ? isolateStart + text + isolateEnd : text;
}

/** Whether isolates are balanced and nothing else turns directions: what `cut` and `isolated` keep. */
export function isBalanced(text: string): boolean {
  let open = 0;
  for (const character of text) {
    if (character === isolateStart) open += 1;
    else if (character === isolateEnd) open -= 1;
    if (open < 0) return false;
  }
  return open === 0;
}
