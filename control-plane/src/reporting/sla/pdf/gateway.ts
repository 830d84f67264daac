import { RenderProcess } from '../../../platform/pdf/render-process.ts';
import type { SlaReport } from '../report.ts';
import type { Book } from './book.ts';
import type { BookJob } from './render-book.program.ts';
import type { ReportJob } from './render.program.ts';

export type SlaPdfOptions = {
  /** Of the words, BCP 47. Default and for languages that there are no words of: English. */
  readonly locale?: string;
};

// The longest reports take about a second; 30 s are for a machine under load.
const limits = { maxWaiting: 20, maxMs: 30_000, maxHeapMb: 512, idleMs: 60_000 };
const renderer = new RenderProcess<ReportJob>(new URL('./render.program.ts', import.meta.url), limits);

/**
 * A report as a PDF file that ends with `%%EOF` and a line feed. Equal reports make equal bytes. A comment of less than 1 kB may be added at the end:
 * readers look for the end mark in the last kilobyte.
 *
 * @throws {Problem} `busy`, `deadline_exceeded` or `internal`, see `RenderProcess`
 */
export function renderSlaPdf(report: SlaReport, { locale = 'en' }: SlaPdfOptions = {}): Promise<Buffer> {
  return renderer.run({ report, locale });
}

// A book of fifty chapters takes some seconds. In a process of its own: nobody who exports one report waits for it.
const bookLimits = { maxWaiting: 20, maxMs: 120_000, maxHeapMb: 768, idleMs: 30_000 };
const bookRenderer = new RenderProcess<BookJob>(new URL('./render-book.program.ts', import.meta.url), bookLimits);

/**
 * A report on several subjects as a PDF file, as `renderSlaPdf` makes one of a monitor.
 *
 * @throws {Problem} `busy`, `deadline_exceeded` or `internal`, see `RenderProcess`
 */
export function renderBook(book: Book, locale: string): Promise<Buffer> {
  return bookRenderer.run({ book, locale });
}
