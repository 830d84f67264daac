import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Notes what came of one sending: `sent`, or the code of the error. */
export type NoteDelivery = (channel: string, outcome: string, latencyMs: number) => void;

// From an answer of a near machine to the longest that a channel may take.
const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Counts deliveries by channel and outcome, and how long they took. Channels and codes are closed lists, so the series are few.
 * @param registry absent: nobody reads, and nothing is counted
 */
export function createDeliveryMetrics(registry: Registry | undefined): NoteDelivery {
  if (registry === undefined) return () => undefined;
  const attempts = new Counter({
    name: 'parallax_channel_attempts_total',
    help: 'Messages that were tried, by channel and outcome: sent, or the code of the error.',
    labelNames: ['channel', 'outcome'] as const,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'parallax_channel_attempt_seconds',
    help: 'How long a sending took, by channel.',
    labelNames: ['channel'] as const,
    buckets: secondsBuckets,
    registers: [registry],
  });
  return (channel, outcome, latencyMs) => {
    attempts.inc({ channel, outcome });
    seconds.observe({ channel }, latencyMs / 1_000);
  };
}
