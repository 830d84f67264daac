import { isIsolate } from './clean-text.ts';
import { face } from './faces.ts';
import type { FaceName, Weight } from './faces.ts';

/** What a reader takes for one character, and the font that has it. */
export type Cluster = {
  readonly text: string;
  /** Where it begins, in UTF-16 units. */
  readonly at: number;
  readonly face: FaceName;
  /** Devanagari shares a font with Latin and is shaped by rules of its own. */
  readonly isIndic: boolean;
};

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const emoji = /^(?:\p{RGI_Emoji}|\p{Emoji_Presentation}|\p{Regional_Indicator}|\p{Emoji}\uFE0F)/v;
// What has no shape of its own and needs no glyph: joiners, selectors of variants, tags.
const ignorable = /^\p{Default_Ignorable_Code_Point}$/u;
const indic = /\p{Script_Extensions=Devanagari}/u;
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const replacement = '\uFFFD';

/** Divides clean text into clusters, each with a font that has all of it; what no font has becomes a replacement character. */
export function clustersOf(text: string, weight: Weight): Cluster[] {
  if (isPlain(text))
    return Array.from(text, (character, at) => ({ text: character, at, face: 'sans', isIndic: false }));
  const isJapanese = kana.test(text);
  const clusters: Cluster[] = [];
  for (const { segment, index } of graphemes.segment(text)) {
    const found = faceOf(segment, isJapanese, weight);
    if (found === undefined) clusters.push(...separately(segment, index, isJapanese, weight));
    else clusters.push({ text: segment, at: index, face: found, isIndic: indic.test(segment) });
  }
  return clusters;
}

/** Text of printable ASCII, which most of a report is. */
function isPlain(text: string): boolean {
  return /^[\x20-\x7E]*$/.test(text);
}

/** The same ideograph is written differently in Japan and China; kana in the text tell which is meant. */
const orderOf = {
  japanese: order(['japanese', 'korean', 'chinese']),
  other: order(['korean', 'chinese', 'japanese']),
};

function order(eastAsian: readonly FaceName[]): FaceName[] {
  return ['sans', 'arabic', 'hebrew', 'thai', 'armenian', 'georgian', ...eastAsian, 'emoji', 'last'];
}

/** More than this and the memory is emptied. */
const maxRemembered = 50_000;
const remembered = new Map<string, FaceName | undefined>();

/** The font that has all of a cluster; undefined when none has. */
function faceOf(cluster: string, isJapanese: boolean, weight: Weight): FaceName | undefined {
  const key = `${isJapanese ? 'j' : 'o'}${weight} ${cluster}`;
  if (remembered.has(key)) return remembered.get(key);
  if (remembered.size >= maxRemembered) remembered.clear();
  const found = findFace(cluster, orderOf[isJapanese ? 'japanese' : 'other'], weight);
  remembered.set(key, found);
  return found;
}

function findFace(cluster: string, faces: readonly FaceName[], weight: Weight): FaceName | undefined {
  if (emoji.test(cluster) && hasAll('emoji', cluster, weight)) return 'emoji';
  return faces.find((name) => hasAll(name, cluster, weight));
}

function hasAll(name: FaceName, cluster: string, weight: Weight): boolean {
  if (isIsolate(cluster)) return name === 'sans';
  if (!mayHave(name, cluster)) return false;
  return Array.from(cluster).every(
    (character) => ignorable.test(character) || face(name, weight).font.hasGlyphForCodePoint(character.codePointAt(0)!),
  );
}

const scriptOf: Partial<Record<FaceName, RegExp>> = {
  arabic: /\p{Script_Extensions=Arabic}/u,
  hebrew: /\p{Script_Extensions=Hebrew}/u,
  thai: /\p{Script_Extensions=Thai}/u,
  armenian: /\p{Script_Extensions=Armenian}/u,
  georgian: /\p{Script_Extensions=Georgian}/u,
  korean: /\p{Script_Extensions=Hangul}/u,
};

/** Spares the reading of a font that is not for such text. */
function mayHave(name: FaceName, cluster: string): boolean {
  return scriptOf[name]?.test(cluster) ?? true;
}

/** A cluster that no single font has: a letter of one with a mark of another. */
function separately(cluster: string, at: number, isJapanese: boolean, weight: Weight): Cluster[] {
  let next = at;
  return Array.from(cluster, (character) => {
    const start = next;
    next += character.length;
    const found = faceOf(character, isJapanese, weight);
    return { text: found === undefined ? replacement : character, at: start, face: found ?? 'sans', isIndic: false };
  });
}
