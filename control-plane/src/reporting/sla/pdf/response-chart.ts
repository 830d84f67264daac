import { drawLineChart } from '../../../platform/pdf/line-chart.ts';
import type { ChartPoint } from '../../../platform/pdf/line-chart.ts';
import type { LatencyStep, SlaReport } from '../report.ts';
import { line, section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

const chartHeight = 106;
const legendHeight = 16;

/** Median and 95th percentile over the period. */
export function drawResponseTimes(sheet: Sheet, { latency, latencySteps, window }: SlaReport): void {
  const { document, flow, words, formats } = sheet;
  const isEmpty = latencySteps.every(({ count }) => count === 0);
  section(sheet, words.chart.heading, isEmpty ? 20 : legendHeight + chartHeight + 14, () => {
    if (isEmpty) {
      text(sheet, words.chart.none);
      return;
    }
    const lines = [
      { label: words.chart.median, color: colors.accent, thickness: 1.4, valueOf: (step: LatencyStep) => step.p50Ms },
      { label: words.chart.p95, color: colors.secondLine, thickness: 1, valueOf: (step: LatencyStep) => step.p95Ms },
    ];
    drawLegend(sheet, lines, flow.take(legendHeight));
    const box = { x: flow.left, top: flow.take(chartHeight), width: flow.width, height: chartHeight };
    let highest: number | undefined;
    document.leaf(
      'Figure',
      () => {
        highest = drawLineChart(
          document,
          {
            fromMs: window.fromMs,
            toMs: window.toMs,
            // The median is what matters most, so it lies on top.
            series: lines
              .toReversed()
              .map(({ valueOf, color, thickness }) => ({ color, thickness, points: pointsOf(latencySteps, valueOf) })),
            valueLabel: formats.latency,
            timeLabel: formats.tick,
            ink: colors.soft,
            rule: colors.rule,
          },
          box,
        );
      },
      { alt: words.chart.alt(formats.latency(latency.p50Ms), formats.latency(latency.p95Ms)) },
    );
    if (highest === undefined) return;
    flow.take(4);
    text(sheet, words.chart.above(formats.latency(highest)), styles.small);
  });
}

/** A step's figure stands in its middle. */
function pointsOf(steps: readonly LatencyStep[], valueOf: (step: LatencyStep) => number | null): ChartPoint[] {
  return steps.map((step) => ({ atMs: (step.fromMs + step.toMs) / 2, value: valueOf(step) }));
}

function drawLegend(
  { document, flow }: Sheet,
  lines: readonly { label: string; color: string; thickness: number }[],
  top: number,
): void {
  document.leaf('P', () => {
    let left = flow.left;
    for (const { label, color, thickness } of lines) {
      const set = line(label, styles.label, flow.width);
      document.canvas
        .moveTo(left, top + 5)
        .lineTo(left + 14, top + 5)
        .lineWidth(thickness + 0.4)
        .stroke(color);
      document.text(set, { x: left + 18, top, color: colors.soft });
      left += 18 + set.width + 16;
    }
  });
}
