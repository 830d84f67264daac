import { cleanText, isolated } from '../../../platform/pdf/clean-text.ts';
import { PdfDocument } from '../../../platform/pdf/document.ts';
import { PageFlow } from '../../../platform/pdf/page-flow.ts';
import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import { drawTable, tableStart } from '../../../platform/pdf/table.ts';
import type { Cell } from '../../../platform/pdf/table.ts';
import type { SlaReport } from '../report.ts';
import { bookWordsFor } from './book-words.ts';
import type { BookWords } from './book-words.ts';
import { drawMethod, drawProof } from './closing.ts';
import { formatsOf, nothing, pointsOf } from './formats.ts';
import { wordsFor } from './languages.ts';
import { drawBody, drawFeet } from './render.ts';
import { line, section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles, tableStyle } from './style.ts';
import type { Words } from './words.ts';

/** One subject of a report on several. Shares are 0 to 1; null where nothing was measured or it does not apply. */
export type BookRow = {
  readonly type: 'monitor' | 'heartbeat' | 'webhook_check';
  readonly name: string;
  readonly uptime: number | null;
  /** Of the period before; undefined where none is compared. */
  readonly uptimeBefore: number | null | undefined;
  readonly downtimeMs: number;
  readonly outages: number | null;
  readonly longestMs: number | null;
  readonly p95Ms: number | null;
  /** Null without a target. */
  readonly isMet: boolean | null;
};

/** Everything that a report on several subjects shows. Times are milliseconds since the epoch. */
export type Book = {
  readonly name: string;
  readonly workspaceName: string;
  readonly timezone: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly before: { readonly fromMs: number; readonly toMs: number } | null;
  readonly generatedMs: number;
  /** Per cent. */
  readonly sloTarget: number | null;
  /** Of all subjects together. */
  readonly uptime: number | null;
  readonly uptimeBefore: number | null;
  readonly isProvisional: boolean;
  /** The scope covers more than are listed. */
  readonly isCut: boolean;
  /** The least available first. */
  readonly rows: readonly BookRow[];
  readonly chapters: readonly SlaReport[];
};

const footHeight = 14;
/** Outages that a chapter lists: its own report lists more. */
const mostOutages = 15;

/** Draws a report on several subjects: an overview with a table of all, then a chapter for some. Equal books make equal bytes. */
export async function drawBook(book: Book, locale: string): Promise<Buffer> {
  const words = wordsFor(locale);
  const own = bookWordsFor(words.language);
  const formats = formatsOf(words, book.timezone);
  const name = cleanText(book.name, 300);
  const period = periodText(book, (ms) => formats.day(ms));
  const document = new PdfDocument({
    title: `${own.title}: ${name}`,
    subject: own.subject(name, period),
    author: cleanText(book.workspaceName, 200),
    language: words.language,
    createdMs: book.generatedMs,
  });
  const sheet: Sheet = { document, flow: new PageFlow(document, footHeight), words, formats };
  drawHead(sheet, own, book, period);
  drawTotals(sheet, own, book);
  drawSubjects(sheet, own, book);
  for (const report of book.chapters) drawChapter(sheet, report);
  const closing = { ...sheet, words: closingWords(words, own) };
  drawMethod(closing);
  drawProof(closing, null);
  drawFeet(sheet, `${isolated(book.name, 80)} · ${period}`);
  return document.finish();
}

/** Days of the period, the last one that lies in it whole. */
function periodText({ fromMs, toMs }: { fromMs: number; toMs: number }, day: (ms: number) => string): string {
  const [first, last] = [day(fromMs), day(Math.max(fromMs, toMs - 1))];
  return first === last ? first : `${first} – ${last}`;
}

/** The words of one report, but for what is not so of several. */
function closingWords(words: Words, own: BookWords): Words {
  const { method, proof } = words;
  return {
    ...words,
    method: { ...method, lines: [own.method, ...method.lines.slice(1)] },
    proof: { ...proof, verify: own.verify },
  };
}

function drawChapter(sheet: Sheet, report: SlaReport): void {
  sheet.flow.newPage();
  const bookmark = cleanText(report.monitor.name, 100);
  drawBody({ ...sheet, formats: formatsOf(sheet.words), chapter: { bookmark, mostOutages } }, report);
}

function drawHead(sheet: Sheet, own: BookWords, book: Book, period: string): void {
  const { document, flow, formats } = sheet;
  document.group('Sect', () => {
    document.bookmark(own.title);
    const kicker = line(own.title, styles.kicker, flow.width);
    document.textLeaf('P', kicker, { x: flow.left, top: flow.take(kicker.height), color: colors.accent });
    flow.take(6);
    const title = setParagraph(cleanText(book.name, 300), styles.title, {
      width: flow.width,
      maxLines: 3,
      base: 'auto',
    });
    document.textLeaf('H1', title, {
      x: flow.left,
      top: flow.take(title.height),
      width: flow.width,
      color: colors.ink,
    });
    flow.take(14);
    const before = book.before === null ? [] : [[own.before, periodText(book.before, formats.day)] as const];
    drawFacts(sheet, [
      [own.period, period],
      ...before,
      [own.timezone, book.timezone],
      [own.generated, formats.dayAndTime(book.generatedMs)],
      [own.workspace, cleanText(book.workspaceName, 200)],
    ]);
  });
}

/** Labels beside their values, one below the other. */
function drawFacts({ document, flow }: Sheet, facts: readonly (readonly [label: string, value: string])[]): void {
  const labelWidth = 110;
  for (const [label, value] of facts) {
    const head = line(label, styles.value, labelWidth - 8);
    const body = setParagraph(value, styles.value, { width: flow.width - labelWidth, maxLines: 2, base: 'auto' });
    const top = flow.take(Math.max(head.height, body.height) + 2);
    document.textLeaf('P', head, { x: flow.left, top, color: colors.faint });
    document.textLeaf('P', body, { x: flow.left + labelWidth, top, color: colors.ink });
  }
}

const panelPadding = 16;

function drawTotals(sheet: Sheet, own: BookWords, book: Book): void {
  const { document, flow, formats } = sheet;
  flow.take(14);
  document.group('Sect', () => {
    document.bookmark(own.summary);
    const width = flow.width - 2 * panelPadding;
    const label = line(own.uptime, styles.subheading, width);
    const value = line(formats.uptime(book.uptime), styles.huge, width);
    const notes = totalNotes(sheet, own, book).map((note) => line(note, styles.value, width));
    const height = [label, value, ...notes].reduce((sum, one) => sum + one.height + 1, 0) + 2 * panelPadding - 6;
    const panelTop = flow.take(height);
    document.artifact(() => document.canvas.roundedRect(flow.left, panelTop, flow.width, height, 5).fill(colors.panel));
    let top = panelTop + panelPadding - 3;
    const draw = (paragraph: typeof label, color: string): void => {
      document.textLeaf('P', paragraph, { x: flow.left + panelPadding, top, color });
      top += paragraph.height + 1;
    };
    draw(label, colors.soft);
    draw(value, book.uptime === null ? colors.faint : colors.ink);
    for (const note of notes) draw(note, colors.soft);
  });
}

function totalNotes({ words, formats }: Sheet, own: BookWords, book: Book): string[] {
  const notes = [book.uptime === null ? words.summary.notMeasured : own.ofSubjects(book.rows.length)];
  if (book.uptime !== null && book.uptimeBefore !== null) {
    const change = pointsOf(book.uptime - book.uptimeBefore, words.language);
    notes.push(change === null ? own.unchanged : own.change(change));
  }
  const judged = book.rows.filter(({ isMet }) => isMet !== null);
  if (book.sloTarget !== null && judged.length > 0) {
    const met = judged.filter(({ isMet }) => isMet === true).length;
    notes.push(`${own.target(formats.percent(book.sloTarget))}: ${own.met(met, judged.length)}`);
  }
  return notes;
}

function drawSubjects(sheet: Sheet, own: BookWords, book: Book): void {
  const { document, flow } = sheet;
  if (book.rows.length === 0) {
    section(sheet, own.table, 20, () => text(sheet, own.none));
    return;
  }
  const monitors = book.rows.filter(({ type }) => type === 'monitor').length;
  const notes = [
    ...(book.rows.length > 1 ? [own.order] : []),
    ...(monitors === 0 ? [] : [own.chapters(book.chapters.length, monitors)]),
    ...(book.isCut ? [own.omitted(book.rows.length)] : []),
    ...(book.isProvisional ? [own.provisional] : []),
    own.zones(book.timezone),
  ];
  const table = subjectTable(sheet, own, book);
  section(sheet, own.table, tableStart(flow, table), () => {
    drawTable(document, flow, table);
    flow.take(8);
    for (const note of notes) text(sheet, note, styles.small);
  });
}

function subjectTable(sheet: Sheet, own: BookWords, book: Book) {
  const { columns } = own;
  const compares = book.before !== null;
  const judges = book.sloTarget !== null;
  return {
    columns: [
      { title: columns.subject, share: 31 },
      { title: columns.uptime, share: 13, align: 'right' as const },
      ...(compares ? [{ title: columns.before, share: 12, align: 'right' as const }] : []),
      { title: columns.downtime, share: 14, align: 'right' as const },
      { title: columns.outages, share: 9, align: 'right' as const },
      { title: columns.longest, share: 14, align: 'right' as const },
      { title: columns.p95, share: 12, align: 'right' as const },
      ...(judges ? [{ title: columns.target, share: 10 }] : []),
    ],
    rows: book.rows.map((row) => cellsOf(sheet, own, row, { compares, judges })),
    style: { ...tableStyle, maxLines: 3 },
  };
}

function cellsOf(
  { formats }: Sheet,
  own: BookWords,
  row: BookRow,
  { compares, judges }: { readonly compares: boolean; readonly judges: boolean },
): readonly Cell[] {
  const kind = { monitor: '', heartbeat: ` (${own.heartbeat})`, webhook_check: ` (${own.webhookCheck})` }[row.type];
  const duration = (ms: number | null): string => (ms === null || ms === 0 ? nothing : formats.duration(ms));
  const target: Cell =
    row.isMet === null
      ? { text: nothing }
      : row.isMet
        ? { text: own.yes, color: colors.good }
        : { text: own.no, color: colors.bad, weight: 'bold' };
  return [
    { text: `${isolated(row.name, 120)}${kind}`, mark: markOf(row.uptime) },
    { text: formats.uptime(row.uptime), weight: 'bold' },
    ...(compares ? [{ text: formats.uptime(row.uptimeBefore ?? null), color: colors.soft }] : []),
    { text: duration(row.downtimeMs) },
    { text: row.outages === null ? nothing : formats.count(row.outages) },
    { text: duration(row.longestMs) },
    { text: formats.latency(row.p95Ms) },
    ...(judges ? [target] : []),
  ];
}

function markOf(uptime: number | null): string {
  if (uptime === null) return colors.unmeasured;
  if (uptime >= 1) return colors.full;
  if (uptime >= 0.999) return colors.nearly;
  return uptime >= 0.99 ? colors.poor : colors.worst;
}
