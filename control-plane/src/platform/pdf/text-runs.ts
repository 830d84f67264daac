import bidiFactory from 'bidi-js';
import type { Bidi } from 'bidi-js';
import { isIsolate } from './clean-text.ts';
import { clustersOf } from './itemize.ts';
import type { Cluster } from './itemize.ts';
import { shape } from './shape.ts';
import type { Direction, ShapedRun } from './shape.ts';
import type { Weight } from './faces.ts';

/** `auto` takes the direction of the first letter that has one (UAX #9, P2 and P3). */
export type BaseDirection = 'ltr' | 'rtl' | 'auto';

/** Text, divided into characters with their fonts and levels of embedding (UAX #9). */
export type AnalysedText = {
  readonly text: string;
  readonly clusters: readonly Cluster[];
  /** Of each UTF-16 unit; odd is from right to left. */
  readonly levels: Uint8Array;
  readonly direction: Direction;
  readonly weight: Weight;
};

// The package is CommonJS whose whole export is this function; its types say otherwise.
const bidi = (bidiFactory as unknown as () => Bidi)();

/** @param text clean, see `cleanText` */
export function analyse(text: string, weight: Weight, base: BaseDirection): AnalysedText {
  return { text, clusters: clustersOf(text, weight), ...levelsOf(text, base), weight };
}

/** The runs of some characters of a text as they stand on one line, from left to right. */
export function runsOf(analysed: AnalysedText, clusters: readonly Cluster[]): ShapedRun[] {
  const runs = logicalRuns(analysed, clusters);
  return visualOrder(runs).map(({ text, face, level }) =>
    level % 2 === 0 ? shape(text, face, analysed.weight, 'ltr') : shape(mirrored(text), face, analysed.weight, 'rtl'),
  );
}

/** Whether the order on paper differs from the order of reading. */
export function isReordered(analysed: AnalysedText): boolean {
  return analysed.levels.some((level) => level > 0);
}

function levelsOf(text: string, base: BaseDirection): Pick<AnalysedText, 'levels' | 'direction'> {
  // Below the Hebrew block everything is from left to right, or follows its neighbours.
  if (base !== 'rtl' && !/[^\0-\u02FF]/.test(text)) return { levels: new Uint8Array(text.length), direction: 'ltr' };
  const { levels, paragraphs } = bidi.getEmbeddingLevels(text, base);
  return { levels, direction: (paragraphs[0]?.level ?? 0) % 2 === 1 ? 'rtl' : 'ltr' };
}

type LogicalRun = { text: string; face: Cluster['face']; level: number };

function logicalRuns({ levels }: AnalysedText, clusters: readonly Cluster[]): LogicalRun[] {
  const runs: (LogicalRun & { isIndic: boolean })[] = [];
  for (const cluster of clusters) {
    if (isIsolate(cluster.text)) continue;
    const level = levels[cluster.at]!;
    const last = runs.at(-1);
    if (
      last !== undefined &&
      last.face === cluster.face &&
      last.level === level &&
      last.isIndic === cluster.isIndic &&
      !endsWord(last)
    )
      last.text += cluster.text;
    else runs.push({ text: cluster.text, face: cluster.face, level, isIndic: cluster.isIndic });
  }
  return runs;
}

/** Words from left to right are shaped one by one, since they come again: nothing of their shape reaches over a space. */
function endsWord(run: LogicalRun): boolean {
  return run.level % 2 === 0 && run.text.endsWith(' ');
}

/** Rule L2: from the highest level down to the lowest odd one, whatever lies at that level or above is reversed. */
function visualOrder(runs: readonly LogicalRun[]): LogicalRun[] {
  const ordered = [...runs];
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level >= 1; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      let end = start;
      while (end < ordered.length && ordered[end]!.level >= level) end += 1;
      if (end > start + 1) ordered.splice(start, end - start, ...ordered.slice(start, end).reverse());
      start = Math.max(start, end);
    }
  }
  return ordered;
}

/** Rule L4: brackets open in the direction of their text. */
function mirrored(text: string): string {
  if (!/\p{Bidi_Mirrored}/u.test(text)) return text;
  return Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join('');
}
