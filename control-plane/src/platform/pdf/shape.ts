import type { Glyph } from 'fontkit';
import { face } from './faces.ts';
import type { Face, FaceName, Weight } from './faces.ts';

/** A glyph and where it stands; lengths in thousandths of the font size. */
export type PlacedGlyph = {
  readonly id: number;
  /** What the font says of its width. */
  readonly width: number;
  /** How far the pen moves. */
  readonly advance: number;
  readonly right: number;
  readonly up: number;
  /** What it stands for. Of ligatures from right to left as they stand on paper: programs reverse what they find there. */
  readonly codePoints: readonly number[];
};

/** A stretch of text in one font and one direction, its glyphs from left to right. */
export type ShapedRun = {
  readonly face: Face;
  readonly glyphs: readonly PlacedGlyph[];
  /** In thousandths of the font size. */
  readonly width: number;
};

export type Direction = 'ltr' | 'rtl';

/** Words come again and again in a table; more than this and the memory is emptied. */
const maxRemembered = 20_000;
const remembered = new Map<string, ShapedRun>();

/**
 * Turns a run into glyphs by the rules of its script. Glyph 0, the box for what a font lacks, never comes out.
 *
 * @param text of one font and direction; for `rtl`, brackets are already mirrored
 */
export function shape(text: string, name: FaceName, weight: Weight, direction: Direction): ShapedRun {
  const key = `${name} ${weight} ${direction} ${text}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  if (remembered.size >= maxRemembered) remembered.clear();
  const shaped = shapeAnew(text, face(name, weight), direction);
  remembered.set(key, shaped);
  return shaped;
}

function shapeAnew(text: string, from: Face, direction: Direction): ShapedRun {
  const glyphs = byRules(text, from, direction) ?? oneByOne(text, from, direction);
  return { face: from, glyphs, width: glyphs.reduce((sum, glyph) => sum + glyph.advance, 0) };
}

/** Undefined when the shaper fails or yields what the font lacks, which hostile sequences of marks can bring about. */
function byRules(text: string, from: Face, direction: Direction): PlacedGlyph[] | undefined {
  const scale = 1000 / from.font.unitsPerEm;
  try {
    const { glyphs, positions } = from.font.layout(text, undefined, undefined, undefined, direction);
    if (glyphs.some((glyph) => glyph.id === 0)) return undefined;
    return glyphs.map((glyph, index) => {
      const position = positions[index]!;
      return {
        id: glyph.id,
        width: glyph.advanceWidth * scale,
        advance: position.xAdvance * scale,
        right: position.xOffset * scale,
        up: position.yOffset * scale,
        codePoints: direction === 'rtl' ? glyph.codePoints.toReversed() : glyph.codePoints,
      };
    });
  } catch {
    return undefined;
  }
}

/** Each character by itself; those that the font lacks are left out. */
function oneByOne(text: string, from: Face, direction: Direction): PlacedGlyph[] {
  const scale = 1000 / from.font.unitsPerEm;
  const glyphs: Glyph[] = Array.from(text, (character) => from.font.glyphForCodePoint(character.codePointAt(0)!));
  const seen = glyphs.filter((glyph) => glyph.id !== 0);
  if (direction === 'rtl') seen.reverse();
  return seen.map((glyph) => {
    const width = glyph.advanceWidth * scale;
    return { id: glyph.id, width, advance: width, right: 0, up: 0, codePoints: glyph.codePoints };
  });
}
