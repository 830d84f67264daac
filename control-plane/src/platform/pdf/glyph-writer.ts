import type { Face } from './faces.ts';
import type { Line } from './paragraph.ts';
import type { PlacedGlyph } from './shape.ts';

type Canvas = PDFKit.PDFDocument;

/** What a glyph stands for that is part of the letter beside it: a joiner, which is not seen and changes no word. */
const noLetter = [0x200d];

/**
 * What pdfkit knows of an embedded font and does not declare. Its own way to write text cannot be told the direction of a run, nor take
 * glyphs that are laid out already.
 */
type EmbeddedFont = {
  /** The name in the page's resources. */
  readonly id: string;
  readonly subset: { includeGlyph(glyphId: number): number };
  readonly widths: number[];
  readonly unicode: (readonly number[])[];
  ref(): unknown;
};
type Undeclared = { readonly _font: EmbeddedFont };

/** Writes a line with its left end at `x` and its base line at `y`, points from the top left, in the present fill colour. */
export function writeLine(canvas: Canvas, line: Line, size: number, x: number, y: number): void {
  if (line.readAs !== undefined) canvas.markContent('Span', { actual: line.readAs });
  canvas.addContent('BT');
  // The page's own coordinates run downwards; letters must not. From here on the pen moves by itself.
  canvas.addContent(`1 0 0 -1 ${number(x)} ${number(y)} Tm`);
  let present: EmbeddedFont | undefined;
  for (const run of line.runs) {
    const font = embedded(canvas, run.face);
    if (font !== present) selectFont(canvas, font, size);
    present = font;
    for (const show of showOperators(run.glyphs, size, (glyph) => embeddedId(font, glyph))) canvas.addContent(show);
  }
  canvas.addContent('ET');
  if (line.readAs !== undefined) canvas.endMarkedContent();
}

function selectFont(canvas: Canvas, font: EmbeddedFont, size: number): void {
  (canvas.page.fonts as Record<string, unknown>)[font.id] ??= font.ref();
  canvas.addContent(`/${font.id} ${number(size)} Tf`);
}

/** Glyphs with the distances between them; lifted ones, such as marks, apart. */
function showOperators(
  glyphs: readonly PlacedGlyph[],
  size: number,
  idOf: (glyph: PlacedGlyph) => number,
): readonly string[] {
  const operators: string[] = [];
  let items = '';
  let hex = '';
  let rise = 0;
  const endHex = (): void => {
    if (hex !== '') items += `<${hex}>`;
    hex = '';
  };
  const endShow = (): void => {
    endHex();
    if (items !== '') operators.push(`[${items}] TJ`);
    items = '';
  };
  const move = (right: number): void => {
    if (Math.abs(right) < 0.005) return;
    endHex();
    items += number(-right);
    items += ' ';
  };
  for (const glyph of glyphs) {
    if (glyph.up !== rise) {
      endShow();
      operators.push(`${number((glyph.up * size) / 1000)} Ts`);
      rise = glyph.up;
    }
    move(glyph.right);
    hex += idOf(glyph).toString(16).padStart(4, '0');
    move(glyph.advance - glyph.right - glyph.width);
  }
  endShow();
  if (rise !== 0) operators.push('0 Ts');
  return operators;
}

function embedded(canvas: Canvas, from: Face): EmbeddedFont {
  // pdfkit takes an open font as it is, so that all documents share one.
  canvas.font(from.font as unknown as PDFKit.Mixins.PDFFontSource, from.key);
  return (canvas as unknown as Undeclared)._font;
}

function embeddedId(font: EmbeddedFont, glyph: PlacedGlyph): number {
  if (glyph.id === 0) throw new Error(`a glyph is missing in ${font.id}: text must be shaped before it is written`);
  const id = font.subset.includeGlyph(glyph.id);
  font.widths[id] ??= glyph.width;
  font.unicode[id] ??= glyph.codePoints.length === 0 ? noLetter : glyph.codePoints;
  return id;
}

function number(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
