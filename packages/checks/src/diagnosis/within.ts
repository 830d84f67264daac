import type { CheckContext } from '../check.ts';
import { follow, Stop, unfollow } from '../stop.ts';

/** Does a part of the work within its own time, or the rest of the whole when that is less; what it began is stopped when it is over. */
export async function within<Found>(
  ms: number,
  context: CheckContext,
  work: (context: CheckContext) => Promise<Found>,
): Promise<Found> {
  const timeoutMs = Math.min(ms, context.timeoutMs);
  const stop = new Stop();
  const end = (): void => stop.abort();
  const timer = setTimeout(end, timeoutMs);
  const follower = follow(context.signal, end);
  if (context.signal.aborted) end();
  try {
    return await work({ ...context, signal: stop, timeoutMs });
  } finally {
    end();
    clearTimeout(timer);
    unfollow(follower);
  }
}
