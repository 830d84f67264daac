import { answerJobs } from '../answer-jobs.ts';

/** What the renderer of the tests is told to do. */
export type TestJob = 'echo' | 'throw' | 'hang' | 'exit' | 'grow';

let rendered = 0;

answerJobs(async (job: TestJob) => {
  if (job === 'throw') throw new Error('not this one');
  if (job === 'exit') process.exit(3);
  if (job === 'hang') for (;;);
  if (job === 'grow') for (const kept: unknown[] = []; ; ) kept.push(Array.from({ length: 100 }, (_, at) => ({ at })));
  rendered += 1;
  return Buffer.from(`file ${rendered}`);
});
