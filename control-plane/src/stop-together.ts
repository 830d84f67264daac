import type { Logger, Shutdown } from '@parallax/telemetry';

/** What is still not over after so long is named in the log. */
const slowMs = 3_000;

/**
 * One step of the stop for all that is registered here: everything in it is stopped at the same time. The parts of a process wait for
 * nothing of each other, and what another replica is to take over (sessions, shards) must not wait for the slowest request.
 */
export function stopTogether(shutdown: Shutdown, log: Pick<Logger, 'warn'>): Pick<Shutdown, 'onShutdown'> {
  const parts: { readonly name: string; readonly stop: () => unknown }[] = [];
  let isStopping = false;
  shutdown.onShutdown('parts', async () => {
    isStopping = true;
    const left = new Set(parts.map((part) => part.name));
    const timer = setTimeout(() => log.warn({ parts: [...left] }, 'the stop waits for these'), slowMs);
    const results = await Promise.allSettled(
      parts.map(async ({ name, stop }) => {
        await stop();
        left.delete(name);
      }),
    );
    clearTimeout(timer);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    if (errors.length > 0) throw new AggregateError(errors, `not stopped well: ${[...left].join(', ')}`);
  });
  return {
    onShutdown: (name, stop) => {
      // What came up after the stop began is a step of its own, taken before those that were registered earlier.
      if (isStopping) shutdown.onShutdown(name, stop);
      else parts.push({ name, stop });
    },
  };
}
