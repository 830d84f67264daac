import type { Transaction } from '../../platform/database/pools.ts';

/** An event as other systems are told of it; `body` is the JSON that they get, byte for byte. */
export type StoredEvent = {
  /** "evt_" and 32 hexadecimal digits. */
  readonly eventId: string;
  readonly workspaceId: number;
  /** A type of the catalogue, such as "monitor.down". */
  readonly type: string;
  readonly subjectType: string;
  readonly subjectId: number;
  /** Counts the events of one subject in one workspace, from 1 and without a gap. */
  readonly sequence: number;
  readonly body: string;
  /** When it was stored, in milliseconds since the epoch. */
  readonly atMs: number;
};

/** Acts on events in the transaction that stores them, such as by inserting deliveries. At most 1,000 events at once, in their order. */
export type EventTaker = (transaction: Transaction, events: readonly StoredEvent[]) => Promise<void>;
