import { cleanText } from '../../../platform/pdf/clean-text.ts';
import { drawTable, tableStart } from '../../../platform/pdf/table.ts';
import type { Cell, Column } from '../../../platform/pdf/table.ts';
import type { ProbeFigures, SlaReport } from '../report.ts';
import { section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles, tableStyle } from './style.ts';

const maxListedProbes = 200;

/** What each probe saw by itself. */
export function drawProbes(sheet: Sheet, { probes }: SlaReport): void {
  const { words, document, flow, formats } = sheet;
  if (probes.length === 0) {
    section(sheet, words.probes.heading, 20, () => text(sheet, words.probes.none));
    return;
  }
  const table = {
    columns: columnsOf(sheet),
    rows: probes.slice(0, maxListedProbes).map((probe) => rowOf(sheet, probe)),
    style: { ...tableStyle, maxLines: 2 },
  };
  section(sheet, words.probes.heading, tableStart(flow, table), () => {
    drawTable(document, flow, table);
    flow.take(6);
    const omitted = probes.length - maxListedProbes;
    if (omitted > 0) text(sheet, words.probes.omitted(formats.count(omitted)), styles.small);
    text(sheet, words.probes.note, styles.small);
  });
}

function columnsOf({ words }: Sheet): Column[] {
  const { columns } = words.probes;
  return [
    { title: columns.probe, share: 22 },
    { title: columns.region, share: 16 },
    { title: columns.checks, share: 10, align: 'right' },
    { title: columns.answered, share: 10.5, align: 'right' },
    { title: columns.uptime, share: 13, align: 'right' },
    { title: columns.downtime, share: 13, align: 'right' },
    { title: columns.median, share: 10, align: 'right' },
    { title: columns.p95, share: 10.5, align: 'right' },
  ];
}

function rowOf({ words, formats }: Sheet, probe: ProbeFigures): readonly Cell[] {
  return [
    { text: probe.probeId === null ? words.probes.controlPlane : cleanText(probe.name, 200), base: 'auto' },
    { text: cleanText(probe.region, 100), base: 'auto', color: colors.soft },
    { text: formats.count(probe.checks) },
    { text: formats.count(probe.answered) },
    { text: formats.uptime(probe.availability.uptime), weight: 'bold' },
    { text: formats.duration(probe.availability.downtimeMs) },
    { text: formats.latency(probe.latency.p50Ms) },
    { text: formats.latency(probe.latency.p95Ms) },
  ];
}
