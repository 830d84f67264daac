import { cleanText } from '../../../platform/pdf/clean-text.ts';
import { drawTable, tableStart } from '../../../platform/pdf/table.ts';
import type { Cell, Column } from '../../../platform/pdf/table.ts';
import type { Outage, SlaReport } from '../report.ts';
import { nothing } from './formats.ts';
import { section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles, tableStyle } from './style.ts';

/** More rows nobody reads on paper: about thirty pages. */
export const maxListedOutages = 1_000;

/** All outages in order of time; of very many only the longest. */
export function drawOutages(sheet: Sheet, report: SlaReport): void {
  const { words, document, flow } = sheet;
  if (report.outages.length === 0) {
    section(sheet, words.outages.heading, 20, () => text(sheet, words.outages.none));
    return;
  }
  const listed = longestInOrder(report.outages, sheet.chapter?.mostOutages ?? maxListedOutages);
  const table = {
    columns: columnsOf(sheet),
    rows: listed.map((outage, index) => rowOf(sheet, outage, index)),
    style: { ...tableStyle, maxLines: 6 },
  };
  section(sheet, words.outages.heading, tableStart(flow, table), () => {
    drawTable(document, flow, table);
    drawOmitted(sheet, report, listed);
  });
}

function columnsOf({ words }: Sheet): Column[] {
  const { columns } = words.outages;
  return [
    { title: columns.number, share: 5.5, align: 'right' },
    { title: columns.began, share: 18 },
    { title: columns.ended, share: 18 },
    { title: columns.downtime, share: 12, align: 'right' },
    { title: columns.status, share: 13 },
    { title: columns.cause, share: 19 },
    { title: columns.remarks, share: 14.5 },
  ];
}

function drawOmitted(sheet: Sheet, report: SlaReport, listed: readonly Outage[]): void {
  const { words, flow, formats } = sheet;
  const omitted = report.outages.length - listed.length + report.outagesOmitted;
  if (omitted === 0) return;
  const restMs = listed.reduce((rest, outage) => rest - outage.downtimeMs, report.availability.downtimeMs);
  const rest = formats.duration(Math.max(0, restMs));
  flow.take(6);
  text(sheet, words.outages.omitted(formats.count(listed.length), formats.count(omitted), rest), styles.small);
}

function longestInOrder(outages: readonly Outage[], most: number): readonly Outage[] {
  if (outages.length <= most) return outages;
  const longest = new Set(
    [...outages].sort((a, b) => b.measuredMs - a.measuredMs || a.startedMs - b.startedMs).slice(0, most),
  );
  return outages.filter((outage) => longest.has(outage));
}

function rowOf(sheet: Sheet, outage: Outage, index: number): readonly Cell[] {
  const { words, formats } = sheet;
  const isTimeout = outage.status === 'TIMEOUT';
  return [
    { text: String(index + 1), color: colors.faint },
    { text: formats.moment(outage.startedMs) },
    outage.endedMs === null
      ? { text: words.outages.ongoing, weight: 'bold' }
      : { text: formats.moment(outage.endedMs) },
    { text: formats.duration(outage.downtimeMs), weight: 'bold' },
    { text: isTimeout ? words.outages.timeout : words.outages.down, mark: isTimeout ? colors.poor : colors.worst },
    { text: outage.cause === null ? nothing : cleanText(outage.cause, 120) },
    { text: remarksOf(sheet, outage), color: colors.soft },
  ];
}

function remarksOf({ words, formats }: Sheet, outage: Outage): string {
  const remarks = [
    outage.isCorrected ? words.outages.measured(formats.duration(outage.measuredMs)) : '',
    outage.isRevised ? words.outages.revised : '',
    outage.isCut ? words.outages.cut : '',
  ];
  return remarks.filter((remark) => remark !== '').join('; ');
}
