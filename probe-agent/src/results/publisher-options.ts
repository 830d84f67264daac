import type { Logger } from '../ports.ts';
import type { ResultLog } from './log.ts';

/** What the publisher needs of the broker's connection. */
export type Broker = {
  readonly connected: boolean;
  /** Resolves when the broker has taken the message; rejects when it refused or did not answer in time. */
  publish(subject: string, payload: Uint8Array, timeoutMs: number): Promise<void>;
  onConnected(listener: () => void): void;
  onDisconnected(listener: () => void): void;
};

export type PublisherLimits = {
  readonly holdMs: number;
  readonly window: number;
  readonly publishTimeoutMs: number;
  readonly backOffFirstMs: number;
  readonly backOffMostMs: number;
  readonly resendAfterMs: number;
  /** A backlog of the present epoch above this, when the broker comes back, is left behind in its epoch and drained beside live results. */
  readonly overtakeResults: number;
  readonly drainLeastPerSecond: number;
};

export const publisherLimits: PublisherLimits = {
  holdMs: 250,
  window: 32,
  publishTimeoutMs: 5_000,
  backOffFirstMs: 30,
  backOffMostMs: 5_000,
  resendAfterMs: 60_000,
  overtakeResults: 1_000,
  drainLeastPerSecond: 1_000,
};

export type PublisherOptions = {
  readonly log: ResultLog;
  readonly broker: Broker;
  readonly probeId: number;
  /** Ed25519 by the probe's key. */
  readonly sign: (content: Uint8Array) => Uint8Array;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  readonly limits?: Partial<PublisherLimits>;
};
