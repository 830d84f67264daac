import type { PdfDocument } from './document.ts';

/** Where the next thing goes: from the top of a page to its bottom, then onto a new one. */
export class PageFlow {
  readonly #document: PdfDocument;
  readonly #footer: number;
  #top: number;

  /** @param footer what stays free above the lower margin for the foot of the page, points */
  constructor(document: PdfDocument, footer: number) {
    this.#document = document;
    this.#footer = footer;
    this.#top = document.paper.margin;
  }

  get top(): number {
    return this.#top;
  }

  get left(): number {
    return this.#document.paper.margin;
  }

  get width(): number {
    return this.#document.contentWidth;
  }

  /** Points left on the page. */
  get room(): number {
    return this.#document.paper.height - this.#document.paper.margin - this.#footer - this.#top;
  }

  /** Takes so much of the page; gives where it begins. */
  take(height: number): number {
    const top = this.#top;
    this.#top += height;
    return top;
  }

  /** Goes on to a new page if there is less room than that. */
  ensure(height: number): void {
    if (this.room < height) this.newPage();
  }

  newPage(): void {
    this.#document.addPage();
    this.#top = this.#document.paper.margin;
  }
}
