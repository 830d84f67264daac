import { createMetrics } from '@parallax/telemetry/metrics';
import { Counter, Gauge } from 'prom-client';
import { LightHistogram } from './light-histogram.ts';
import type { AgentStatus } from './state/lock.ts';

/** What the agent tells while it works. */
export type AgentObserver = {
  /** A result was recorded. */
  readonly recorded: (outcome: string, kind: string) => void;
  /** A check began so long after it was due, milliseconds. */
  readonly began: (lateMs: number) => void;
  /** A slot was not run; not each of them becomes a result. */
  readonly skipped: (why: 'overrun' | 'overload') => void;
};

export type AgentMetrics = {
  readonly observer: AgentObserver;
  /** Serves `/metrics` on loopback; rejects when the port is taken. */
  readonly listen: (port: number) => Promise<{ readonly port: number; close(): Promise<void> }>;
};

/** Gauges that are read from the agent's status when somebody asks; true is 1. */
const gauges = {
  parallax_probe_results_waiting: ['unacknowledged_results', 'Results that the control plane has not committed yet'],
  parallax_probe_oldest_waiting_milliseconds: ['oldest_unacknowledged_ms', 'Age of the oldest of them'],
  parallax_probe_log_bytes: ['log_bytes', 'Size of the log of results on disk'],
  parallax_probe_checks_in_flight: ['in_flight', 'Checks under way'],
  parallax_probe_assignments: ['assignments', 'Monitors that this probe checks'],
  parallax_probe_session_up: ['session_connected', 'Whether the session with the control plane stands'],
  parallax_probe_broker_up: ['broker_connected', 'Whether the broker is connected'],
  parallax_probe_uplink_lost: ['uplink_lost', 'Whether this probe has found its own uplink to be lost'],
  parallax_probe_clock_synchronised: ['clock_synchronised', 'Whether results can be stamped with server time'],
  parallax_probe_clock_error_microseconds: ['clock_error_us', 'How far off server time may be now'],
  parallax_probe_clock_rate: ['clock_rate', 'Server time that passes in a second of the monotonic clock'],
  parallax_probe_clock_offset_milliseconds: ['clock_offset_ms', 'Wall clock minus server time'],
} as const;

/** The agent's own metrics beside those of its process. @param status of the running agent; undefined before it runs */
export function createAgentMetrics(status: () => AgentStatus | undefined): AgentMetrics {
  const metrics = createMetrics({ program: 'probe-agent' });
  const registers = [metrics.registry];
  for (const [name, [field, help]] of Object.entries(gauges)) {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        const value = status()?.[field];
        // What is not known has no value rather than a wrong one.
        if (typeof value === 'number' || typeof value === 'boolean') this.set(Number(value));
        else this.remove();
      },
    });
    metrics.registry.registerMetric(gauge);
  }
  // Counted for every check, so only when somebody asks are they put into the library's form.
  const counts = new Map<string, Map<string, number>>();
  const results = new Counter({
    name: 'parallax_probe_results_total',
    help: 'Results by outcome and kind',
    labelNames: ['outcome', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, kinds] of counts) for (const [kind, count] of kinds) results.inc({ outcome, kind }, count);
    },
  });
  const lateness = new LightHistogram(
    'parallax_probe_check_lateness_seconds',
    'Time from when a scheduled check was due until it began',
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2],
  );
  metrics.registry.registerMetric(lateness);
  const skipped = new Counter({
    name: 'parallax_probe_skipped_slots_total',
    help: 'Slots that were not run: the check before was still under way (overrun), or there was no place (overload)',
    labelNames: ['why'],
    registers,
  });
  return {
    observer: {
      recorded: (outcome, kind) => {
        let kinds = counts.get(outcome);
        if (kinds === undefined) counts.set(outcome, (kinds = new Map<string, number>()));
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      },
      began: (lateMs) => lateness.count(Math.max(0, lateMs) / 1_000),
      skipped: (why) => skipped.inc({ why }),
    },
    listen: (port) => metrics.listen({ port }),
  };
}
