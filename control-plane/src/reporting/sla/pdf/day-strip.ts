import type { DayFigures, SlaReport } from '../report.ts';
import { line, section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

const barHeight = 34;
const widestBar = 26;
const labelHeight = 13;
const legendHeight = 15;

/** Uptime of a day, as a share, from which it has the next better colour. */
const nearlyFull = 0.999;
const poor = 0.99;

/** A bar for each day, the darker the more downtime it had. */
export function drawDays(sheet: Sheet, { days }: SlaReport): void {
  const { words, document, flow } = sheet;
  section(sheet, words.days.heading, legendHeight + barHeight + labelHeight + 14, () => {
    if (days.length === 0) {
      text(sheet, words.days.none);
      return;
    }
    const lowest = lowestText(sheet, days);
    const withDowntime = days.filter(({ downtimeMs }) => downtimeMs > 0).length;
    drawLegend(sheet, flow.take(legendHeight));
    const top = flow.take(barHeight + labelHeight);
    document.leaf('Figure', () => drawBars(sheet, days, top), {
      alt: words.days.alt(days.length, withDowntime, lowest),
    });
    text(sheet, lowest, styles.small);
  });
}

function drawBars({ document, flow, formats }: Sheet, days: readonly DayFigures[], top: number): void {
  const step = Math.min(widestBar, flow.width / days.length);
  // The bars of a year are too narrow for gaps.
  const gap = step > 8 ? 2 : step > 3 ? 1 : 0;
  days.forEach((day, index) => {
    const { color, isOutlined } = lookOf(day);
    const box = [flow.left + index * step, top, step - gap, barHeight] as const;
    document.canvas.rect(...box).fill(color);
    if (isOutlined)
      document.canvas
        .rect(box[0] + 0.25, box[1] + 0.25, box[2] - 0.5, box[3] - 0.5)
        .lineWidth(0.5)
        .stroke(colors.faint);
  });
  const width = step * days.length - gap;
  const ends = days.length === 1 ? [days[0]!] : [days[0]!, days.at(-1)!];
  ends.forEach((day, index) => {
    const label = line(formats.day(day.fromMs), styles.label, flow.width / 3);
    // A strip that is shorter than its two dates lets the second one stick out.
    const left = index === 0 ? 0 : Math.max(width - label.width, label.width + 12);
    document.text(label, { x: flow.left + left, top: top + barHeight + 2, color: colors.soft });
  });
}

type Look = { readonly color: string; readonly isOutlined: boolean };

function lookOf({ uptime }: DayFigures): Look {
  if (uptime === null) return { color: colors.unmeasured, isOutlined: true };
  if (uptime >= 1) return { color: colors.full, isOutlined: false };
  if (uptime >= nearlyFull) return { color: colors.nearly, isOutlined: false };
  return { color: uptime >= poor ? colors.poor : colors.worst, isOutlined: false };
}

function drawLegend({ document, flow, words, formats }: Sheet, top: number): void {
  const entries = [
    { color: colors.full, label: words.days.full(formats.percent(100)), isOutlined: false },
    { color: colors.nearly, label: words.days.atLeast(formats.percent(nearlyFull * 100)), isOutlined: false },
    { color: colors.poor, label: words.days.atLeast(formats.percent(poor * 100)), isOutlined: false },
    { color: colors.worst, label: words.days.below(formats.percent(poor * 100)), isOutlined: false },
    { color: colors.unmeasured, label: words.days.notMeasured, isOutlined: true },
  ];
  document.leaf('P', () => {
    let left = flow.left;
    for (const { color, label, isOutlined } of entries) {
      const set = line(label, styles.label, flow.width);
      document.canvas.rect(left, top + 1.5, 7, 7).fill(color);
      if (isOutlined)
        document.canvas
          .rect(left + 0.25, top + 1.75, 6.5, 6.5)
          .lineWidth(0.5)
          .stroke(colors.faint);
      document.text(set, { x: left + 10, top, color: colors.soft });
      left += 10 + set.width + 14;
    }
  });
}

function lowestText({ words, formats }: Sheet, days: readonly DayFigures[]): string {
  const measured = days.filter(({ uptime }) => uptime !== null);
  if (measured.length === 0) return words.summary.notMeasured;
  const lowest = measured.reduce((worst, day) => (day.uptime! < worst.uptime! ? day : worst));
  return lowest.uptime! >= 1
    ? words.days.allFull
    : words.days.lowest(formats.day(lowest.fromMs), formats.uptime(lowest.uptime));
}
