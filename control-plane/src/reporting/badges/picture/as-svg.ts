import type { BadgeText } from './badge-text.ts';
import { escapeXml } from './text.ts';
import { measure } from './text-width.ts';

const height = 20;
const padding = 6;
const labelColour = '#3b4149';

/** A badge as a picture. It has no identifiers, styles or references, so that several may stand in one document. */
export function badgeSvg({ label, message, colour }: BadgeText): string {
  const [left, right] = [label === '' ? undefined : partOf(label), partOf(message)];
  const edge = left?.width ?? 0;
  const width = edge + right.width;
  const name = escapeXml(label === '' ? message : `${label}: ${message}`);
  const labelled =
    left === undefined
      ? ''
      : `<path fill="${labelColour}" d="M3 0H${edge}V${height}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z"/>`;
  const start = left === undefined ? `M3 0H${width - 3}` : `M${edge} 0H${width - 3}`;
  const end = left === undefined ? `H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z` : `H${edge}z`;
  const texts = [...(left === undefined ? [] : [textAt(left, 0)]), textAt(right, edge)].join('');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img" aria-label="${name}"><title>${name}</title>` +
    `${labelled}<path fill="${colour}" d="${start}a3 3 0 0 1 3 3V${height - 3}a3 3 0 0 1-3 3${end}"/>` +
    `<g fill="#fff" font-family="Verdana,'DejaVu Sans',Geneva,sans-serif" font-size="11">${texts}</g></svg>`
  );
}

type Part = { readonly text: string; readonly textWidth: number; readonly width: number; readonly isKnown: boolean };

function partOf(text: string): Part {
  const { width, isKnown } = measure(text);
  return { text, textWidth: width, width: Math.ceil(width) + 2 * padding, isKnown };
}

function textAt({ text, textWidth, width, isKnown }: Part, left: number): string {
  const x = figure(left + (width - textWidth) / 2);
  // Letters that are joined must not be pulled apart.
  const adjust = isKnown ? '' : ' lengthAdjust="spacingAndGlyphs"';
  return `<text x="${x}" y="14" textLength="${figure(textWidth)}"${adjust}>${escapeXml(text)}</text>`;
}

const figure = (pixels: number): string => String(Math.round(pixels * 10) / 10);
