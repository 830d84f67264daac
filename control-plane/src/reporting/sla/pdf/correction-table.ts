import { cleanText, isolated } from '../../../platform/pdf/clean-text.ts';
import { drawTable, tableStart } from '../../../platform/pdf/table.ts';
import type { Cell, Column } from '../../../platform/pdf/table.ts';
import type { Correction, SlaReport, TimeByStatus } from '../report.ts';
import { section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles, tableStyle } from './style.ts';

const maxListedCorrections = 100;
/** Of a reason; the rest is in the list of corrections. */
const maxLines = 20;

/** Who said what of which time, and what it changed. */
export function drawCorrections(sheet: Sheet, { corrections }: SlaReport): void {
  const { words, document, flow, formats } = sheet;
  if (corrections.length === 0) {
    section(sheet, words.corrections.heading, 20, () => text(sheet, words.corrections.none));
    return;
  }
  const table = {
    columns: columnsOf(sheet),
    rows: corrections.slice(-maxListedCorrections).map((correction) => rowOf(sheet, correction)),
    style: { ...tableStyle, maxLines },
  };
  section(sheet, words.corrections.heading, tableStart(flow, table), () => {
    drawTable(document, flow, table);
    const omitted = corrections.length - maxListedCorrections;
    if (omitted <= 0) return;
    flow.take(6);
    text(sheet, words.corrections.omitted(formats.count(omitted)), styles.small);
  });
}

function columnsOf({ words }: Sheet): Column[] {
  const { columns } = words.corrections;
  return [
    { title: columns.time, share: 20 },
    { title: columns.countedAs, share: 13 },
    { title: columns.effect, share: 15 },
    { title: columns.reason, share: 33 },
    { title: columns.by, share: 19 },
  ];
}

function rowOf({ words, formats }: Sheet, correction: Correction): readonly Cell[] {
  const { startedMs, endedMs, countedAs, before, after, reason, by, createdMs } = correction;
  return [
    { text: `${formats.moment(startedMs)} – ${formats.moment(endedMs)}` },
    { text: words.corrections.countedAs[countedAs], weight: 'bold' },
    { text: words.corrections.effect(formats.duration(downtimeOf(before)), formats.duration(downtimeOf(after))) },
    { text: cleanText(reason, 1_000), base: 'auto' },
    { text: `${isolated(by, 120)}, ${formats.moment(createdMs)}`, color: colors.soft },
  ];
}

function downtimeOf({ downMs, timeoutMs }: TimeByStatus): number {
  return downMs + timeoutMs;
}
