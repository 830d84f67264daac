import type { CheckContext } from '../check.ts';
import { Stop } from '../stop.ts';

/** A context that ends earlier than the whole check, for a part that others wait for. `release` must be called. */
export type Earlier = { readonly context: CheckContext; readonly release: () => void };

/** Ends at `limitMs` from now (at most what the check has), or with the check. */
export function endingAfter(context: CheckContext, limitMs: number): Earlier {
  const stop = new Stop();
  const end = (): void => stop.abort();
  const timer = setTimeout(end, limitMs);
  if (context.signal.aborted) end();
  else context.signal.addEventListener('abort', end);
  return {
    context: { ...context, signal: stop, timeoutMs: Math.min(limitMs, context.timeoutMs) },
    release: () => {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', end);
    },
  };
}
