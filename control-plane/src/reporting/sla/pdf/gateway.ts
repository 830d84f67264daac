import { RenderProcess } from '../../../platform/pdf/render-process.ts';
import type { SlaReport } from '../report.ts';
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
