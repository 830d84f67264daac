import type { Picture } from './encode-png.ts';

/** A line through points; null breaks it. Places are shares of the picture from its left and from its bottom, 0 to 1. */
export type PictureLine = {
  readonly points: readonly ({ readonly x: number; readonly y: number } | null)[];
  /** `#rrggbb` */
  readonly color: string;
  /** Pixels. */
  readonly thickness: number;
};

export type LinePicture = {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  /** Horizontal rules, from the bottom up, as shares of the height. */
  readonly rules: readonly number[];
  readonly ruleColor: string;
  /** The last one lies on top. */
  readonly lines: readonly PictureLine[];
};

/** Draws lines with smooth edges. A point between two breaks is a dot. */
export function drawLines({ width, height, background, rules, ruleColor, lines }: LinePicture): Picture {
  const rgb = new Uint8Array(width * height * 3);
  const back = channels(background);
  for (let index = 0; index < rgb.length; index += 1) rgb[index] = back[index % 3] ?? 0;
  // So that no line is cut at an edge.
  const margin = Math.max(1, ...lines.map(({ thickness }) => thickness));
  const place = ({ x, y }: { readonly x: number; readonly y: number }): Point => ({
    x: margin + x * (width - 2 * margin),
    y: height - margin - y * (height - 2 * margin),
  });
  for (const rule of rules) {
    const y = Math.min(height - 1, Math.floor(place({ x: 0, y: rule }).y));
    for (let x = 0; x < width; x += 1) blend(rgb, (y * width + x) * 3, channels(ruleColor), 1);
  }
  for (const { points, color, thickness } of lines) {
    const coverage = new Float32Array(width * height);
    let before: Point | null = null;
    for (const point of points) {
      const at = point === null ? null : place(point);
      if (at !== null) cover(coverage, width, height, before ?? at, at, thickness);
      before = at;
    }
    const ink = channels(color);
    coverage.forEach((share, index) => {
      if (share > 0) blend(rgb, index * 3, ink, share);
    });
  }
  return { width, height, rgb };
}

type Point = { readonly x: number; readonly y: number };

/** Notes how much of each pixel a piece of a line covers: by its distance, so that edges are smooth. */
function cover(coverage: Float32Array, width: number, height: number, a: Point, b: Point, thickness: number): void {
  const reach = thickness / 2 + 0.5;
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const squared = dx * dx + dy * dy;
  const bounds = (one: number, other: number, most: number) => [
    Math.max(0, Math.floor(Math.min(one, other) - reach)),
    Math.min(most - 1, Math.ceil(Math.max(one, other) + reach)),
  ];
  const [left = 0, right = -1] = bounds(a.x, b.x, width);
  const [top = 0, bottom = -1] = bounds(a.y, b.y, height);
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const [px, py] = [x + 0.5 - a.x, y + 0.5 - a.y];
      const along = squared === 0 ? 0 : Math.min(1, Math.max(0, (px * dx + py * dy) / squared));
      const distance = Math.hypot(px - along * dx, py - along * dy);
      const share = Math.min(1, Math.max(0, reach - distance));
      const index = y * width + x;
      if (share > (coverage[index] ?? 0)) coverage[index] = share;
    }
  }
}

function blend(rgb: Uint8Array, at: number, ink: readonly number[], share: number): void {
  for (let channel = 0; channel < 3; channel += 1) {
    const before = rgb[at + channel] ?? 0;
    rgb[at + channel] = Math.round(before + ((ink[channel] ?? 0) - before) * share);
  }
}

function channels(color: string): readonly number[] {
  return [1, 3, 5].map((from) => Number.parseInt(color.slice(from, from + 2), 16));
}
