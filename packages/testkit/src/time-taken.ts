/**
 * The processor time, in milliseconds, that this thread spends on some work. A limit on it holds on a busy machine too, where a limit on
 * wall time would not. What runs on the thread beside asynchronous work counts as well; other processes and threads do not.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Runs something beside a bare timer of `afterMs`, and says by how many milliseconds the timer was first: a busy machine delays both.
 * `late` is below 0 if the run ended first. `onTime` is called when the timer fires.
 */
export async function lateness<Result>(
  afterMs: number,
  run: () => Promise<Result>,
  onTime?: () => void,
): Promise<{ readonly result: Result; readonly late: number }> {
  let due = Number.POSITIVE_INFINITY;
  const timer = setTimeout(() => {
    due = performance.now();
    onTime?.();
  }, afterMs);
  try {
    const result = await run();
    return { result, late: performance.now() - due };
  } finally {
    clearTimeout(timer);
  }
}
