import PDFKitDocument from 'pdfkit';
import { writeLine } from './glyph-writer.ts';
import type { Paragraph } from './paragraph.ts';
import { informationXml } from './information-xml.ts';
import type { DocumentInformation } from './information-xml.ts';

/** Points. */
export type Paper = { readonly width: number; readonly height: number; readonly margin: number };

export const a4: Paper = { width: 595.28, height: 841.89, margin: 48 };

/** Standard structure types (ISO 32000-1, 14.8.4) that are in use. */
type Tag = 'Document' | 'Sect' | 'H1' | 'H2' | 'P' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure' | 'Caption';

export type TagOptions = {
  /** What stands for a picture. */
  readonly alt?: string;
  /** What its text is in the order of reading. */
  readonly actual?: string | undefined;
  /** Of a header cell: what it heads. */
  readonly scope?: 'Column' | 'Row';
};

export type TextPlace = {
  readonly x: number;
  /** Upper edge of the first line. */
  readonly top: number;
  readonly color: string;
  /** Where lines lie in `width`. Default: at its left edge, and several lines from right to left at its right one. */
  readonly align?: 'left' | 'right';
  readonly width?: number;
};

type Undeclared = { _addInfo: () => void };

const creator = 'Parallax';
// Of a capital, in multiples of the size: what lies in the middle of a line.
const capitalHeight = 0.714;

/**
 * A tagged PDF in the making. Equal calls make equal bytes: nothing in it comes from a clock or from chance. Everything that is drawn
 * stands in a leaf of the structure or in an artifact.
 */
export class PdfDocument {
  readonly paper: Paper;
  /** For lines and areas; coordinates in points from the top left. */
  readonly canvas: PDFKit.PDFDocument;
  readonly #chunks: Buffer[] = [];
  readonly #open: PDFKit.PDFStructureElement[] = [];

  constructor(information: DocumentInformation, paper: Paper = a4) {
    this.paper = paper;
    this.canvas = new PDFKitDocument({
      pdfVersion: '1.7',
      tagged: true,
      displayTitle: true,
      lang: information.language,
      size: [paper.width, paper.height],
      margin: 0,
      bufferPages: true,
      autoFirstPage: false,
      // None of the fonts that every reader has: they know no scripts.
      font: '',
      info: {
        Title: information.title,
        Subject: information.subject,
        Author: information.author,
        Creator: creator,
        Producer: creator,
        CreationDate: new Date(information.createdMs),
      },
    });
    // pdfkit writes titles into this XML as they are.
    (this.canvas as unknown as Undeclared)._addInfo = () => this.canvas.appendXML(informationXml(information, creator));
    this.canvas.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    const root = this.canvas.struct('Document');
    this.canvas.addStructure(root);
    this.#open.push(root);
    this.addPage();
  }

  get contentWidth(): number {
    return this.paper.width - 2 * this.paper.margin;
  }

  addPage(): void {
    this.canvas.addPage();
  }

  /** Opens a part of the structure around what `body` draws. */
  group<T>(tag: Tag, body: () => T, options: TagOptions = {}): T {
    const element = this.#add(tag, options);
    this.#open.push(element);
    try {
      return body();
    } finally {
      this.#open.pop();
      element.end();
    }
  }

  /** What `draw` draws on the present page is one piece of content. */
  leaf(tag: Tag, draw: () => void, options: TagOptions = {}): void {
    const element = this.#add(tag, options);
    const content = this.canvas.markStructureContent(tag);
    draw();
    this.canvas.endMarkedContent();
    element.add(content);
    element.end();
  }

  /** Text by itself as a leaf. */
  textLeaf(tag: Tag, paragraph: Paragraph, place: TextPlace, options: TagOptions = {}): void {
    this.leaf(tag, () => this.text(paragraph, place), { actual: paragraph.readAs, ...options });
  }

  /** What `draw` draws says nothing that a reader needs. */
  artifact(draw: () => void, type: 'Layout' | 'Pagination' = 'Layout'): void {
    this.canvas.markContent('Artifact', { type });
    draw();
    this.canvas.endMarkedContent();
  }

  bookmark(title: string): void {
    this.canvas.outline.addItem(title);
  }

  /** Draws text; to be called inside a leaf or an artifact. */
  text(paragraph: Paragraph, place: TextPlace): void {
    const { size, leading } = paragraph.style;
    const lineHeight = size * leading;
    const align = place.align ?? naturalAlign(paragraph);
    this.canvas.fillColor(place.color);
    paragraph.lines.forEach((line, index) => {
      const room = (place.width ?? line.width) - line.width;
      const base = place.top + (index + 0.5) * lineHeight + (size * capitalHeight) / 2;
      writeLine(this.canvas, line, size, place.x + (align === 'right' ? room : 0), base);
    });
  }

  /** Draws on every page what depends on how many there are, such as its number. */
  onEveryPage(draw: (page: number, pages: number) => void): void {
    const { start, count } = this.canvas.bufferedPageRange();
    for (let index = 0; index < count; index += 1) {
      this.canvas.switchToPage(start + index);
      this.artifact(() => draw(index + 1, count), 'Pagination');
    }
  }

  /** Ends the document, once. */
  async finish(): Promise<Buffer> {
    for (const element of this.#open) element.end();
    const ended = new Promise<void>((resolve, reject) => {
      this.canvas.once('end', resolve);
      this.canvas.once('error', reject);
    });
    this.canvas.end();
    await ended;
    return Buffer.concat(this.#chunks);
  }

  #add(tag: Tag, { alt, actual, scope }: TagOptions): PDFKit.PDFStructureElement {
    const element = this.canvas.struct(tag, {
      ...(alt !== undefined && { alt }),
      ...(actual !== undefined && { actual }),
      ...(scope !== undefined && { scope }),
    });
    this.#open.at(-1)!.add(element);
    return element;
  }
}

function naturalAlign({ direction, lines }: Paragraph): 'left' | 'right' {
  return direction === 'rtl' && lines.length > 1 ? 'right' : 'left';
}
