/** What the control plane is to check of a monitor. Made by the owner of its shard, carried out by the runner. */
export type CentralWish = {
  readonly monitorId: number;
  /** Beside probes that cannot vote, and not as the monitor's own voter. */
  readonly isFallback: boolean;
  /** Seconds from one check to the next. */
  readonly cadenceS: number;
  /** Seconds that a result stays fresh, by that cadence. */
  readonly freshS: number;
  /** Failures in a row that confirm one. */
  readonly confirmations: number;
  /** What is checked is read again when this changes. */
  readonly version: string;
};

/** When a monitor is checked first: at once, or at its next regular time. */
export type FirstCheck = 'at_once' | 'on_phase';

/** The fallback checks a monitor at most this often (rule 1). */
export const fallbackCadenceS = 60;
