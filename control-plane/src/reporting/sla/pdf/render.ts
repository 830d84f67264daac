import { cleanText, isolated } from '../../../platform/pdf/clean-text.ts';
import { PdfDocument } from '../../../platform/pdf/document.ts';
import { PageFlow } from '../../../platform/pdf/page-flow.ts';
import type { SlaReport } from '../report.ts';
import { drawMethod, drawProof } from './closing.ts';
import { drawCorrections } from './correction-table.ts';
import { drawDays } from './day-strip.ts';
import { drawFigures } from './figures.ts';
import { formatsOf } from './formats.ts';
import { drawOutages } from './outage-table.ts';
import { drawProbes } from './probe-table.ts';
import { drawResponseTimes } from './response-chart.ts';
import { line } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';
import { drawSummary } from './summary.ts';
import { drawTitleBlock } from './title-block.ts';
import { wordsFor } from './languages.ts';

const footHeight = 14;

/**
 * Draws a report. Equal reports make equal bytes. Everything in it may come from strangers: text is cleaned, and what there can be very
 * much of is listed up to a limit that the report names.
 *
 * @param locale BCP 47; English for a language that there is no file of
 */
export async function renderReport(report: SlaReport, locale: string): Promise<Buffer> {
  const words = wordsFor(locale);
  const formats = formatsOf(words);
  const name = cleanText(report.monitor.name, 300);
  const period = formats.period(report.window.fromMs, report.window.toMs);
  const document = new PdfDocument({
    title: `${words.title}: ${name}`,
    subject: words.subject(name, `${period} ${words.head.utc}`),
    author: cleanText(report.monitor.workspaceName, 200),
    language: words.language,
    createdMs: report.generatedMs,
  });
  const sheet: Sheet = { document, flow: new PageFlow(document, footHeight), words, formats };
  drawBody(sheet, report);
  drawMethod(sheet);
  drawProof(sheet, report);
  drawFeet(sheet, `${isolated(report.monitor.name, 80)} · ${period} ${words.head.utc}`);
  return document.finish();
}

/** All that is about the monitor itself. */
export function drawBody(sheet: Sheet, report: SlaReport): void {
  drawTitleBlock(sheet, report);
  drawSummary(sheet, report);
  drawFigures(sheet, report);
  drawDays(sheet, report);
  drawResponseTimes(sheet, report);
  drawOutages(sheet, report);
  drawProbes(sheet, report);
  // The overview of several says what counts; a chapter says what is to be said of it.
  if (sheet.chapter === undefined || report.corrections.length > 0) drawCorrections(sheet, report);
}

/** What the report is about, and the number of the page, at the foot of each. */
export function drawFeet({ document, flow, words }: Sheet, about: string): void {
  const top = document.paper.height - document.paper.margin + 2;
  const left = line(about, styles.foot, flow.width * 0.8);
  document.onEveryPage((page, pages) => {
    document.canvas
      .moveTo(flow.left, top - 6)
      .lineTo(flow.left + flow.width, top - 6)
      .lineWidth(0.5)
      .stroke(colors.rule);
    document.text(left, { x: flow.left, top, color: colors.faint });
    const number = line(words.page(page, pages), styles.foot, flow.width * 0.2);
    document.text(number, { x: flow.left, top, width: flow.width, align: 'right', color: colors.faint });
  });
}
