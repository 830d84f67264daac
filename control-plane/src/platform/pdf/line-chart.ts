import { timeTicks, valueAxis } from './axis.ts';
import type { PdfDocument } from './document.ts';
import { setParagraph } from './paragraph.ts';

export type ChartPoint = { readonly atMs: number /** Null where there is a gap. */; readonly value: number | null };

export type Series = {
  readonly color: string;
  /** Of the line, points. */
  readonly thickness: number;
  readonly points: readonly ChartPoint[];
};

export type LineChart = {
  readonly fromMs: number;
  readonly toMs: number;
  /** Later ones are drawn over earlier ones. */
  readonly series: readonly Series[];
  /** What is written at the axes. */
  readonly valueLabel: (value: number) => string;
  readonly timeLabel: (atMs: number, stepMs: number) => string;
  readonly ink: string;
  readonly rule: string;
};

export type Box = { readonly x: number; readonly top: number; readonly width: number; readonly height: number };

const labelSize = 7.5;
const labelStyle = { size: labelSize, weight: 'regular', leading: 1.2 } as const;
const labelHeight = labelSize * labelStyle.leading;
const gap = 5;
const valueTicks = 4;
const mostTimeTicks = 8;
/** A few peaks must not press all the rest onto the ground: the scale then ends at this multiple of what nearly all stay below. */
const headroom = 1.6;
const usual = 0.98;

/** Draws lines over time. Gives the highest value if it lies above the end of the scale, else undefined. */
export function drawLineChart(document: PdfDocument, chart: LineChart, box: Box): number | undefined {
  const values = chart.series
    .flatMap(({ points }) => points.map(({ value }) => value))
    .filter((value) => value !== null);
  const highest = Math.max(0, ...values);
  const axis = valueAxis(scaleEnd(values, highest), valueTicks);
  const labels = axis.ticks.map((tick) => setParagraph(chart.valueLabel(tick), labelStyle, { width: box.width }));
  const left = box.x + Math.max(...labels.map(({ width }) => width)) + gap;
  const plot = {
    x: left,
    top: box.top + labelHeight / 2,
    width: box.x + box.width - left,
    height: box.height - labelHeight * 1.5 - gap,
  };
  const yOf = (value: number): number => plot.top + plot.height * (1 - value / axis.max);
  const xOf = (atMs: number): number => plot.x + (plot.width * (atMs - chart.fromMs)) / (chart.toMs - chart.fromMs);

  axis.ticks.forEach((tick, index) => {
    const y = yOf(tick);
    document.canvas
      .moveTo(plot.x, y)
      .lineTo(plot.x + plot.width, y)
      .lineWidth(tick === 0 ? 0.8 : 0.5)
      .stroke(tick === 0 ? chart.ink : chart.rule);
    document.text(labels[index]!, {
      x: box.x,
      top: y - labelHeight / 2,
      width: left - gap - box.x,
      align: 'right',
      color: chart.ink,
    });
  });
  drawTimes(document, chart, plot, xOf);
  document.canvas.save();
  document.canvas.rect(plot.x, plot.top, plot.width, plot.height + 1).clip();
  for (const series of chart.series) drawSeries(document, series, xOf, yOf);
  document.canvas.restore();
  return highest > axis.max ? highest : undefined;
}

function scaleEnd(values: readonly number[], highest: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const common = sorted[Math.floor((sorted.length - 1) * usual)] ?? 0;
  return highest > 2.5 * common * headroom ? common * headroom : highest;
}

function drawTimes(document: PdfDocument, chart: LineChart, plot: Box, xOf: (atMs: number) => number): void {
  const { stepMs, atMs } = timeTicks(chart.fromMs, chart.toMs, mostTimeTicks);
  const bottom = plot.top + plot.height;
  for (const at of atMs) {
    const label = setParagraph(chart.timeLabel(at, stepMs), labelStyle, { width: plot.width });
    const x = xOf(at);
    const start = Math.min(Math.max(x - label.width / 2, plot.x), plot.x + plot.width - label.width);
    document.canvas
      .moveTo(x, bottom)
      .lineTo(x, bottom + 3)
      .lineWidth(0.8)
      .stroke(chart.ink);
    document.text(label, { x: start, top: bottom + gap, color: chart.ink });
  }
}

/** A value between two gaps is a dot: a line takes two. */
function drawSeries(
  document: PdfDocument,
  { points, color, thickness }: Series,
  xOf: (atMs: number) => number,
  yOf: (value: number) => number,
): void {
  document.canvas.lineJoin('round').lineCap('round').lineWidth(thickness);
  let isOpen = false;
  points.forEach(({ atMs, value }, index) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    const [x, y] = [xOf(atMs), yOf(value)];
    const isAlone = !isOpen && (points[index + 1]?.value ?? null) === null;
    if (isAlone) document.canvas.moveTo(x, y).lineTo(x, y);
    else if (isOpen) document.canvas.lineTo(x, y);
    else document.canvas.moveTo(x, y);
    isOpen = true;
  });
  if (points.some(({ value }) => value !== null)) document.canvas.stroke(color);
}
