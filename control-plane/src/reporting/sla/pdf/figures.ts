import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { SlaReport } from '../report.ts';
import { nothing } from './formats.ts';
import { line, section } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

type Figure = readonly [label: string, value: string];
type FigureTable = { readonly title: string; readonly figures: readonly Figure[] };

const columnGap = 22;
const rowHeight = 13.5;

/** Three short tables side by side: times, outages, response times. */
export function drawFigures(sheet: Sheet, report: SlaReport): void {
  const tables = [timeTable(sheet, report), outageTable(sheet, report), responseTable(sheet, report)];
  const rows = Math.max(...tables.map(({ figures }) => figures.length));
  const height = (rows + 1) * rowHeight + 4;
  section(sheet, sheet.words.figures.heading, height, () => {
    const { flow } = sheet;
    const width = (flow.width - columnGap * (tables.length - 1)) / tables.length;
    const top = flow.take(height);
    tables.forEach((table, index) => drawOne(sheet, table, { x: flow.left + index * (width + columnGap), top, width }));
  });
}

function drawOne(
  { document }: Sheet,
  { title, figures }: FigureTable,
  { x, top, width }: { x: number; top: number; width: number },
): void {
  document.group('Table', () => {
    document.group('TR', () =>
      document.leaf('TH', () => document.text(line(title, styles.subheading, width), { x, top, color: colors.soft }), {
        scope: 'Column',
      }),
    );
    figures.forEach(([label, value], index) => {
      const rowTop = top + (index + 1) * rowHeight + 2;
      document.artifact(() =>
        document.canvas
          .moveTo(x, rowTop)
          .lineTo(x + width, rowTop)
          .lineWidth(0.5)
          .stroke(colors.rule),
      );
      const set = line(value, styles.value, width);
      const head = setParagraph(label, styles.small, { width: width - set.width - 6, maxLines: 1 });
      document.group('TR', () => {
        document.leaf('TH', () => document.text(head, { x, top: rowTop + 1.5, color: colors.soft }), { scope: 'Row' });
        document.leaf('TD', () => document.text(set, { x, top: rowTop + 1, width, align: 'right', color: colors.ink }));
      });
    });
  });
}

function timeTable({ words, formats }: Sheet, { availability, window }: SlaReport): FigureTable {
  const { figures } = words;
  const rows: Figure[] = [
    [figures.window, formats.duration(window.toMs - window.fromMs)],
    [figures.up, formats.duration(availability.upMs)],
    [figures.degraded, formats.duration(availability.degradedMs)],
    [figures.down, formats.duration(availability.downMs)],
    [figures.timeout, formats.duration(availability.timeoutMs)],
    [figures.unknown, formats.duration(availability.unknownMs)],
    [figures.maintenance, formats.duration(availability.maintenanceMs)],
    [figures.paused, formats.duration(availability.pausedMs)],
    [figures.excluded, formats.duration(availability.excludedMs)],
  ];
  return { title: figures.time, figures: rows };
}

function outageTable({ words, formats }: Sheet, report: SlaReport): FigureTable {
  const { figures } = words;
  const duration = (ms: number | null): string => (ms === null ? nothing : formats.duration(ms));
  const longest = report.outages.reduce((most, { downtimeMs }) => Math.max(most, downtimeMs), 0);
  const rows: Figure[] = [
    [figures.count, formats.count(report.incidents)],
    [figures.downtime, formats.duration(report.availability.downtimeMs)],
    [figures.longest, longest === 0 ? nothing : formats.duration(longest)],
    [figures.mttr, duration(report.mttrMs)],
    [figures.mtbf, duration(report.mtbfMs)],
    [figures.corrected, formats.duration(report.correctedMs)],
  ];
  return { title: figures.outages, figures: rows };
}

function responseTable({ words, formats }: Sheet, { latency }: SlaReport): FigureTable {
  const { figures } = words;
  const rows: Figure[] = [
    [figures.answers, formats.count(latency.count)],
    [figures.mean, formats.latency(latency.meanMs)],
    [figures.median, formats.latency(latency.p50Ms)],
    [figures.percentile(90), formats.latency(latency.p90Ms)],
    [figures.percentile(95), formats.latency(latency.p95Ms)],
    [figures.percentile(99), formats.latency(latency.p99Ms)],
    [figures.fastest, formats.latency(latency.minMs)],
    [figures.slowest, formats.latency(latency.maxMs)],
  ];
  return { title: figures.response, figures: rows };
}
