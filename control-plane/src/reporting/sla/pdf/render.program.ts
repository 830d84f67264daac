import { answerJobs } from '../../../platform/pdf/answer-jobs.ts';
import type { SlaReport } from '../report.ts';
import { renderReport } from './render.ts';

/** What is sent to the process that renders reports. */
export type ReportJob = { readonly report: SlaReport; readonly locale: string };

answerJobs(({ report, locale }: ReportJob) => renderReport(report, locale));
