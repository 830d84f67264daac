/** How long a service finds a text. */
export type Measure = (text: string) => number;

/** UTF-16 code units: never fewer than the characters that any service counts. */
export const units: Measure = (text) => text.length;

/** UTF-8 bytes. */
export const bytes: Measure = (text) => Buffer.byteLength(text, 'utf8');

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const ellipsis = '…';

/**
 * A text of at most `limit`, cut between graphemes and then ended by "…". What `measure` finds of a whole is to be the sum of what it finds of
 * the parts, so a measure may escape: `cut(text, 100, (part) => escape(part).length)`. Empty where not even "…" has room.
 */
export function cut(text: string, limit: number, measure: Measure = units): string {
  if (measure(text) <= limit) return text;
  let room = limit - measure(ellipsis);
  if (room < 0) return '';
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    room -= measure(segment);
    if (room < 0) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${ellipsis}`;
}
