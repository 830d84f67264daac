import type { PdfDocument } from '../../../platform/pdf/document.ts';
import type { PageFlow } from '../../../platform/pdf/page-flow.ts';
import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { Paragraph, TextStyle } from '../../../platform/pdf/paragraph.ts';
import type { Formats } from './formats.ts';
import { colors, styles } from './style.ts';
import type { Words } from './words.ts';

/** What every part of a report draws on, and how it speaks. */
export type Sheet = {
  readonly document: PdfDocument;
  readonly flow: PageFlow;
  readonly words: Words;
  readonly formats: Formats;
  /** Of a chapter in a report of several subjects: it has one bookmark, and lists less. */
  readonly chapter?: { readonly bookmark: string; readonly mostOutages: number };
};

const beforeSection = 18;
const afterHeading = 7;

/**
 * A part of the report with its heading and its bookmark. It begins on a new page rather than leave its heading alone at the end of one.
 *
 * @param height of what must stand with the heading on one page, points
 */
export function section(sheet: Sheet, title: string, height: number, body: () => void): void {
  const { document, flow } = sheet;
  const heading = setParagraph(title, styles.heading, { width: flow.width });
  flow.take(beforeSection);
  flow.ensure(heading.height + afterHeading + height);
  document.group('Sect', () => {
    if (sheet.chapter === undefined) document.bookmark(title);
    document.textLeaf('H2', heading, { x: flow.left, top: flow.take(heading.height), color: colors.ink });
    flow.take(afterHeading);
    body();
  });
}

/** Text over the whole width. */
export function text(sheet: Sheet, content: string, style: TextStyle = styles.body, color: string = colors.soft): void {
  const { document, flow } = sheet;
  const paragraph = setParagraph(content, style, { width: flow.width });
  flow.ensure(paragraph.height);
  document.textLeaf('P', paragraph, { x: flow.left, top: flow.take(paragraph.height), color });
}

/** One line, cut where it has to be. */
export function line(content: string, style: TextStyle, width: number): Paragraph {
  return setParagraph(content, style, { width, maxLines: 1 });
}
