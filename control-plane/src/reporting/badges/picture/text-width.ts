/**
 * Widths of characters in Verdana and DejaVu Sans, which differ little, at 11 pixels: in tenths of a pixel, with the characters that have it. A picture
 * names the width of each of its texts, so that any other font is fitted to it.
 */
const widths: readonly (readonly [number, string])[] = [
  [30, "'ijl"],
  [33, 'IJ ,.·’'],
  [37, '/:;\\|'],
  [39, 'f-'],
  [43, '()[]t!r'],
  [51, '"'],
  [55, '*_`–°'],
  [57, 's“”?zгз'],
  [60, 'cсэ'],
  [63, 'LFkт'],
  [65, 'vxyвухчь'],
  [67, 'TYaoГТУао«»PРкя'],
  [68, 'eбеё'],
  [70, '$0123456789ESbdghnpqu{}ЕлрЁ€Зий'],
  [73, 'Kнп'],
  [75, 'ABVXZАБВХЧЬц'],
  [77, 'CСЭRЯд'],
  [79, 'КъU'],
  [83, 'NИЙHЛНПм'],
  [85, 'DGЦ&Д'],
  [87, 'OQОы'],
  [91, 'w#+<=>^~Ъ×→✓'],
  [94, 'юфMМФ'],
  [98, 'Ыж'],
  [102, 'шщ'],
  [106, '%m'],
  [110, 'W@—…'],
  [116, '№'],
  [119, 'ЖШЮЩ'],
];

const widthOf = new Map(
  widths.flatMap(([width, characters]) => Array.from(characters, (one) => [one, width] as const)),
);
/** What most letters of other alphabets have. */
const usualWidth = 72;
const wideWidth = 115;

/** Characters that stand on another one, or that nobody sees. */
const withoutWidth = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Ideographs, syllables of Korean and Japanese, and pictures. */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\p{Regional_Indicator}\u3000-\u303f\uff01-\uff60]$/u;

/** How wide a text is in pixels at the size of 11, and whether the width of each of its characters is known. */
export function measure(text: string): { readonly width: number; readonly isKnown: boolean } {
  let tenths = 0;
  let isKnown = true;
  for (const character of text) {
    // A letter with a mark is as wide as without: é is e.
    const known = widthOf.get(character) ?? widthOf.get(character.normalize('NFD').charAt(0));
    if (known === undefined) isKnown = false;
    if (known !== undefined) tenths += known;
    else if (withoutWidth.test(character)) continue;
    else tenths += wide.test(character) ? wideWidth : usualWidth;
  }
  return { width: tenths / 10, isKnown };
}
