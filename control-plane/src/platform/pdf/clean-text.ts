/** Begins and ends a stretch of text whose direction is its own affair (UAX #9, FSI and PDI). */
const isolateStart = '\u2068';
const isolateEnd = '\u2069';

// Format characters change how their neighbours look without being seen, such as the overrides of direction that make a name read
// backwards. The joiners stay, which emoji, Persian and the Indic scripts need, and so do the tags of a flag.
const invisible = /(?<!\u{1F3F4}[\u{E0020}-\u{E007F}]*)(?![\u200C\u200D])[\p{Cc}\p{Cf}]/gu;
// Unassigned and private characters: nobody can know what they look like.
const unknowable = /[\p{Cn}\p{Co}]/gu;
// More marks on one letter than any script needs would be drawn over the lines around.
const piledMarks = /(\p{M}{4})\p{M}+/gu;

const defaultMaxLength = 2_000;

/**
 * Text of a stranger, fit to be drawn: one line, composed (NFC), without control and format characters, with a replacement character for
 * what cannot be drawn, and cut with an ellipsis when it is longer than `maxLength` UTF-16 units.
 */
export function cleanText(text: string, maxLength: number = defaultMaxLength): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return bounded
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(invisible, '')
    .replaceAll(unknowable, '\uFFFD')
    .replaceAll(piledMarks, '$1')
    .trim();
}

/** Clean text to stand inside a sentence of ours, whose direction it must not touch. */
export function isolated(text: string, maxLength?: number): string {
  return `${isolateStart}${cleanText(text, maxLength)}${isolateEnd}`;
}

/** Whether a character only steers direction: it takes part in ordering and is never drawn. */
export function isIsolate(character: string): boolean {
  return character === isolateStart || character === isolateEnd;
}
