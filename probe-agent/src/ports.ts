/** What the agent writes about itself; pino has this shape. Fields first, then one sentence. */
export type Logger = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** A logger that says nothing; for tests and for commands that print for themselves. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Microseconds of the machine's monotonic clock (since its boot), whole. It stops while the machine sleeps. */
export function monotonicUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000_000 + Math.floor(nanoseconds / 1_000);
}

/** Ends a wait early or not; resolves in either case. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, milliseconds);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
