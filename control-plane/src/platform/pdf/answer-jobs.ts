export type JobMessage<Job> = { readonly job: Job };
export type JobAnswer = { readonly file: Uint8Array } | { readonly error: unknown };

/** To be called once in the program of a `RenderProcess`: renders what it is sent, one job after the other, and ends with whoever sends. */
export function answerJobs(render: (job: never) => Promise<Buffer>): void {
  if (process.send === undefined) throw new Error('this program renders for another process and was started by itself');
  const answer = (what: JobAnswer): void => void process.send?.(what);
  process.on('disconnect', () => process.exit());
  process.on('message', ({ job }: JobMessage<never>) => {
    render(job).then(
      (file) => answer({ file }),
      (error: unknown) => answer({ error }),
    );
  });
}
