import type { Logger } from '../ports.ts';

/** Limits of the log; the defaults are those of the design, tests inject smaller ones. */
export type LogLimits = {
  readonly segmentBytes: number;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
  /** A group is written and synced after so long or so many records, whichever is first. */
  readonly syncAfterMs: number;
  readonly syncAfterRecords: number;
  /** How long an acknowledgement may wait to be written down. */
  readonly acknowledgedAfterMs: number;
};

export const logLimits: LogLimits = {
  segmentBytes: 16 * 1024 * 1024,
  maxBytes: 1024 * 1024 * 1024,
  maxAgeMs: 48 * 3_600_000,
  syncAfterMs: 200,
  syncAfterRecords: 1_024,
  acknowledgedAfterMs: 1_000,
};

export type LogOptions = {
  readonly folder: string;
  /** Of the machine's boot; monotonic times of equal boots belong together. */
  readonly bootId: string;
  readonly monotonicUs: () => number;
  readonly wallMs: () => number;
  /** How long the machine has slept since its boot, where the system tells. */
  readonly sleptMs?: () => number | undefined;
  readonly limits?: Partial<LogLimits>;
  readonly logger: Logger;
  /** The disk failed: nothing is safe any more, the agent must end. Called once. */
  readonly onFatal: (error: Error) => void;
};
