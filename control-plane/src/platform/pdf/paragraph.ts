import LineBreaker from 'linebreak';
import type { Weight } from './faces.ts';
import { isIsolate } from './clean-text.ts';
import type { Cluster } from './itemize.ts';
import type { Direction, ShapedRun } from './shape.ts';
import { analyse, isReordered, runsOf } from './text-runs.ts';
import type { AnalysedText, BaseDirection } from './text-runs.ts';

export type TextStyle = {
  /** Points. */
  readonly size: number;
  readonly weight: Weight;
  /** From one base line to the next, in multiples of the size. */
  readonly leading: number;
};

export type Line = {
  /** From left to right. */
  readonly runs: readonly ShapedRun[];
  /** Points. */
  readonly width: number;
  /**
   * The text, where its glyphs do not tell it one by one, as in Thai and Devanagari; else undefined. Of lines that hold text from right to
   * left never: programs reverse what they find there.
   */
  readonly readAs: string | undefined;
};

/** Text on lines. Lengths in points. */
export type Paragraph = {
  readonly lines: readonly Line[];
  readonly style: TextStyle;
  /** Of the paragraph as a whole. */
  readonly direction: Direction;
  readonly height: number;
  /** Of its widest line. */
  readonly width: number;
  /** The text in the order of reading, where that on paper is another one; else undefined. */
  readonly readAs: string | undefined;
  /** Text was left out at the end, and an ellipsis says so. */
  readonly isCut: boolean;
};

export type ParagraphOptions = {
  readonly width: number;
  /** What does not fit is cut with an ellipsis. Default: no limit. */
  readonly maxLines?: number;
  readonly base?: BaseDirection;
};

const ellipsis = '…';

/** Sets text on lines no wider than asked; a word that is wider than a line is broken between characters. */
export function setParagraph(text: string, style: TextStyle, options: ParagraphOptions): Paragraph {
  const { width, maxLines = Infinity, base = 'ltr' } = options;
  const analysed = analyse(text, style.weight, base);
  const lines: Line[] = [];
  let rest: readonly Cluster[] = analysed.clusters;
  const breaks = rest.length === 0 ? new Set<number>() : breaksOf(text);
  let isCut = false;
  do {
    const isLast = lines.length + 1 >= maxLines;
    const count = fittingClusters(analysed, rest, style, width, breaks);
    if (isLast && count < rest.length) {
      lines.push(cutLine(analysed, rest, style, width));
      isCut = true;
      break;
    }
    lines.push(lineOf(analysed, rest.slice(0, count), style));
    rest = withoutLeadingSpace(rest.slice(count));
  } while (rest.length > 0);
  return {
    lines,
    style,
    direction: analysed.direction,
    readAs: isReordered(analysed) ? readable(analysed.clusters) : undefined,
    height: lines.length * style.size * style.leading,
    width: Math.max(...lines.map((line) => line.width)),
    isCut,
  };
}

function lineOf(analysed: AnalysedText, clusters: readonly Cluster[], style: TextStyle): Line {
  const drawn = withoutTrailingSpace(clusters);
  const runs = runsOf(analysed, drawn);
  const isPlain = drawn.every(({ face, isIndic }) => face === 'sans' && !isIndic);
  return { runs, width: widthOf(runs, style), readAs: isPlain || isReordered(analysed) ? undefined : readable(drawn) };
}

function readable(clusters: readonly Cluster[]): string {
  return clusters
    .filter(({ text }) => !isIsolate(text))
    .map(({ text }) => text)
    .join('');
}

function widthOf(runs: readonly ShapedRun[], style: TextStyle): number {
  return (runs.reduce((sum, run) => sum + run.width, 0) * style.size) / 1000;
}

/** How many characters go onto the next line; at least one. */
function fittingClusters(
  analysed: AnalysedText,
  rest: readonly Cluster[],
  style: TextStyle,
  width: number,
  breaks: ReadonlySet<number>,
): number {
  let best = 0;
  let filled = 0;
  for (let end = 1; end <= rest.length; end += 1) {
    if (end < rest.length && !breaks.has(rest[end]!.at)) continue;
    // Words are measured by themselves: kerning across a space is less than what a reader sees.
    const word = rest.slice(best, end);
    if (filled + widthOf(runsOf(analysed, withoutTrailingSpace(word)), style) > width) break;
    filled += widthOf(runsOf(analysed, word), style);
    best = end;
  }
  if (best > 0 || rest.length === 0) return best;
  return Math.max(1, partOfWord(analysed, rest, style, width));
}

/**
 * How many characters of a long word are no wider than that. Characters are measured one by one, since all would be shaped anew for each guess;
 * what is narrower when it joins, as in Arabic, leaves some room.
 */
function partOfWord(analysed: AnalysedText, rest: readonly Cluster[], style: TextStyle, width: number): number {
  let count = 0;
  let filled = 0;
  while (count < rest.length) {
    filled += widthOf(runsOf(analysed, [rest[count]!]), style);
    if (filled > width) break;
    count += 1;
  }
  while (count > 0 && widthOf(runsOf(analysed, rest.slice(0, count)), style) > width) count -= 1;
  return count;
}

/** The beginning of what is left, and an ellipsis. */
function cutLine(analysed: AnalysedText, rest: readonly Cluster[], style: TextStyle, width: number): Line {
  const mark = analyse(ellipsis, style.weight, analysed.direction);
  const room = width - widthOf(runsOf(mark, mark.clusters), style);
  const next = rest[partOfWord(analysed, rest, style, room)];
  const text = analysed.text.slice(rest[0]!.at, next?.at).trimEnd();
  const cut = analyse(`${text}${ellipsis}`, style.weight, analysed.direction);
  return lineOf(cut, cut.clusters, style);
}

const words = new Intl.Segmenter('th', { granularity: 'word' });
// Scripts that are written without spaces between words; where a word ends takes a dictionary.
const spaceless = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Where a line may end, in UTF-16 units. */
function breaksOf(text: string): Set<number> {
  const places = new Set<number>();
  const breaker = new LineBreaker(text);
  for (let next = breaker.nextBreak(); next !== null; next = breaker.nextBreak()) places.add(next.position);
  if (spaceless.test(text)) {
    for (const { segment, index } of words.segment(text))
      if (spaceless.test(segment) && spaceless.test(text[index - 1] ?? '')) places.add(index);
  }
  return places;
}

function withoutLeadingSpace(clusters: readonly Cluster[]): readonly Cluster[] {
  const first = clusters.findIndex(({ text }) => text !== ' ');
  return first === -1 ? [] : clusters.slice(first);
}

function withoutTrailingSpace(clusters: readonly Cluster[]): readonly Cluster[] {
  const last = clusters.findLastIndex(({ text }) => text !== ' ');
  return clusters.slice(0, last + 1);
}
