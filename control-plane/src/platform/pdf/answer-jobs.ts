import { parentPort } from 'node:worker_threads';

export type JobMessage<Job> = { readonly job: Job };
export type JobAnswer = { readonly file: Uint8Array } | { readonly error: unknown };

/** To be called once in the program of a `RenderThread`: renders what it is sent, one job after the other. */
export function answerJobs(render: (job: never) => Promise<Buffer>): void {
  const port = parentPort;
  if (port === null) throw new Error('this program renders for another thread and was started by itself');
  port.on('message', ({ job }: JobMessage<never>) => {
    render(job).then(
      // Moved, not copied: nothing else looks at a file that is finished.
      (file) => answerFile(port, file),
      (error: unknown) => port.postMessage({ error } satisfies JobAnswer),
    );
  });
}

function answerFile(port: NonNullable<typeof parentPort>, file: Buffer): void {
  const own = new Uint8Array(file);
  port.postMessage({ file: own } satisfies JobAnswer, [own.buffer]);
}
