import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Figures of deliveries, by channel. */
export type DeliveryMetrics = {
  /** What came of one sending: `sent`, or the code of the error. */
  readonly tried: (channel: string, outcome: string, latencyMs: number) => void;
  /** That a message of a problem has arrived, so long after the problem was found. */
  readonly told: (channel: string, afterMs: number) => void;
};

// From an answer of a near machine to the longest that a channel may take.
const attemptBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

// What may have company waits 3 s, what is more than five a minute 15 s; then come repetitions, up to two hours.
const toldBuckets = [0.5, 1, 2, 3.5, 4, 5, 7.5, 10, 15, 20, 30, 60, 300, 1_800, 7_200];

/**
 * Counts deliveries by channel and outcome, how long they took, and how long after its finding a problem was told. Channels and codes are closed
 * lists, so the series are few.
 * @param registry absent: nobody reads, and nothing is counted
 */
export function createDeliveryMetrics(registry: Registry | undefined): DeliveryMetrics {
  if (registry === undefined) return { tried: () => undefined, told: () => undefined };
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
    buckets: attemptBuckets,
    registers: [registry],
  });
  const told = new Histogram({
    name: 'parallax_alert_told_seconds',
    help: 'From the finding of a problem, or the end of what held it back, to the arrival of its message, by channel.',
    labelNames: ['channel'] as const,
    buckets: toldBuckets,
    registers: [registry],
  });
  return {
    tried: (channel, outcome, latencyMs) => {
      attempts.inc({ channel, outcome });
      seconds.observe({ channel }, latencyMs / 1_000);
    },
    told: (channel, afterMs) => told.observe({ channel }, afterMs / 1_000),
  };
}
