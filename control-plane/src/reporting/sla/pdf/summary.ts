import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { SlaReport } from '../report.ts';
import { setBudget } from './budget-figure.ts';
import { nothing } from './formats.ts';
import { line, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

const padding = { side: 16, top: 14 };
const figuresHeight = 66;

/** The answer first: uptime in large, and whether it was enough. */
export function drawSummary(sheet: Sheet, report: SlaReport): void {
  const { document, flow, words, formats } = sheet;
  flow.take(16);
  document.group('Sect', () => {
    if (sheet.chapter === undefined) document.bookmark(words.summary.heading);
    const half = flow.width * 0.42;
    const width = { left: half - padding.side, right: flow.width - half - 2 * padding.side };
    const budget = report.budget === null ? undefined : setBudget(sheet, report.budget, width.right);
    const height = Math.max(figuresHeight, budget?.height ?? 0) + 2 * padding.top;
    const panelTop = flow.take(height);
    document.artifact(() => document.canvas.roundedRect(flow.left, panelTop, flow.width, height, 5).fill(colors.panel));
    const top = panelTop + padding.top;
    drawUptime(sheet, report, { x: flow.left + padding.side, top, width: width.left });
    const right = { x: flow.left + half + padding.side, top, width: width.right };
    if (budget === undefined) drawOutageFigures(sheet, report, right);
    else budget.draw(right.x, top);
    if (report.correctedMs > 0) {
      flow.take(6);
      const corrected = formats.duration(report.correctedMs);
      text(sheet, words.summary.corrected(corrected, formats.uptime(report.measured.uptime)), styles.small);
    }
  });
}

type Place = { readonly x: number; readonly top: number; readonly width: number };

function drawUptime({ document, words, formats }: Sheet, { availability }: SlaReport, { x, top, width }: Place): void {
  const label = line(words.summary.uptime, styles.subheading, width);
  const value = line(formats.uptime(availability.uptime), styles.huge, width);
  const under = line(
    availability.uptime === null
      ? words.summary.notMeasured
      : words.summary.ofMeasured(formats.duration(availability.measuredMs)),
    styles.value,
    width,
  );
  document.leaf('P', () => {
    document.text(label, { x, top, color: colors.soft });
    document.text(value, {
      x,
      top: top + label.height + 1,
      color: availability.uptime === null ? colors.faint : colors.ink,
    });
    document.text(under, { x, top: top + label.height + value.height + 3, color: colors.soft });
  });
}

/** Without a target: the three figures that say how bad it was. */
function drawOutageFigures({ document, words, formats }: Sheet, report: SlaReport, { x, top, width }: Place): void {
  const figures = [
    [words.figures.count, formats.count(report.incidents)],
    [words.figures.downtime, formats.duration(report.availability.downtimeMs)],
    [words.figures.mttr, report.mttrMs === null ? nothing : formats.duration(report.mttrMs)],
  ] as const;
  const step = width / figures.length;
  figures.forEach(([label, value], index) => {
    const head = setParagraph(label, styles.label, { width: step - 8, maxLines: 3 });
    const body = line(value, styles.verdict, step - 8);
    document.leaf('P', () => {
      document.text(body, { x: x + index * step, top: top + 14, color: colors.ink });
      document.text(head, { x: x + index * step, top: top + 16 + body.height, color: colors.soft });
    });
  });
}
