import { answerJobs } from '../../../platform/pdf/answer-jobs.ts';
import type { Book } from './book.ts';
import { drawBook } from './book.ts';

/** What is sent to the process that renders reports on several subjects. */
export type BookJob = { readonly book: Book; readonly locale: string };

answerJobs(({ book, locale }: BookJob) => drawBook(book, locale));
