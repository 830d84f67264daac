import type { Message } from './message.ts';
import { cut, isBalanced } from './plain.ts';

// 3GPP TS 23.038, 6.2.1: the default alphabet, and what stands in its extension table and takes two septets.
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
const extended = new Set('\f^{}\\[~]|€');
// Signs of ours for which the alphabet has another of the same meaning: a message need not cost double for a dash.
const simpler: ReadonlyMap<string, string> = new Map([
  ['…', '...'],
  ['–', '-'],
  ['—', '-'],
  ['“', '"'],
  ['”', '"'],
  ['’', "'"],
  ['‘', "'"],
  ['\u00a0', ' '],
  ['\u202f', ' '],
  ['→', '->'],
  ['·', '-'],
]);

/** How many septets a text takes in GSM-7; undefined when it cannot be written so. */
export function septetsOf(text: string): number | undefined {
  let septets = 0;
  for (const character of text) {
    if (basic.has(character)) septets += 1;
    else if (extended.has(character)) septets += 2;
    else return undefined;
  }
  return septets;
}

/** Segments that a text takes: 160 septets or 70 UCS-2 units in one, 153 or 67 in each of several. No character is split between two. */
export function segmentsOf(text: string): number {
  const septets = septetsOf(text);
  const [size, alone, among] = septets === undefined ? [text.length, 70, 67] : [septets, 160, 153];
  if (size <= alone) return 1;
  let segments = 1;
  let filled = 0;
  for (const character of text) {
    const width = septets === undefined ? character.length : extended.has(character) ? 2 : 1;
    if (filled + width > among) {
      segments += 1;
      filled = 0;
    }
    filled += width;
  }
  return segments;
}

/**
 * The message for a telephone: title, link, and as much of the summary as is left, within `segments` of a short message. Plain ASCII signs take the place of
 * typographic ones where that lets it be written in GSM-7.
 */
export function asShort(message: Message, segments = 1): string {
  const link = message.links.find(({ purpose }) => purpose === 'open')?.url;
  const whole = [message.title, message.summary].filter((text) => text !== '');
  const text = `${whole.join('\n')}${link === undefined ? '' : `\n${link}`}`;
  const isGsm = septetsOf(inGsm(text)) !== undefined;
  const written = (each: string): string => (isGsm ? inGsm(each) : each);
  const fits = (each: string): boolean => segmentsOf(each) <= segments;
  const end = link === undefined ? '' : `\n${written(link)}`;
  if (fits(written(whole.join('\n')) + end)) return written(whole.join('\n')) + end;
  const start = written(message.title);
  const sentences = firstSentences(message.summary, (each) => fits(`${start}\n${written(each)}${end}`));
  if (sentences !== '') return `${start}\n${written(sentences)}${end}`;
  // A summary of a few words says nothing.
  const summary = longest(message.summary, (each) => fits(`${start}\n${written(each)}${end}`));
  if (summary.length >= 20) return `${start}\n${written(summary)}${end}`;
  if (fits(start + end)) return start + end;
  const title = longest(message.title, (each) => fits(written(each) + end));
  return title.length >= 15 ? written(title) + end : written(longest(message.title, (each) => fits(written(each))));
}

function inGsm(text: string): string {
  return Array.from(text, (character) => simpler.get(character) ?? character).join('');
}

/** As many whole sentences as fit. */
function firstSentences(text: string, fits: (text: string) => boolean): string {
  const sentences = text.split(/(?<=[.!?]) /u);
  for (let count = sentences.length; count > 0; count -= 1) {
    const some = sentences.slice(0, count).join(' ');
    if (isBalanced(some) && fits(some)) return some;
  }
  return '';
}

/** The longest cut of a text that fits. */
function longest(text: string, fits: (text: string) => boolean): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(cut(text, middle))) low = middle;
    else high = middle - 1;
  }
  return cut(text, low);
}
