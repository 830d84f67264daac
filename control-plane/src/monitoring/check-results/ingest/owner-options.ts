import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@parallax/telemetry';
import type pg from 'pg';
import type { Bus } from '../../../platform/bus/bus.ts';
import type { CentralRunner } from '../../central-checks/index.ts';
import type { LiveNews } from './live.ts';
import type { Reader } from './windows/queries.ts';
import type { Ownership } from './write.ts';

/** How much and how long; injected so that tests need not wait. */
export type OwnerLimits = {
  /** Rows of one transaction. */
  readonly rows: number;
  /** How long the first message of a round waits for others. */
  readonly lingerMs: number;
  /** The shard's mark moves at least so often. */
  readonly idleMs: number;
  /** How often changed configuration is looked for where nobody tells of changes, and where somebody does. */
  readonly pollMs: number;
  readonly slowPollMs: number;
  readonly probesMs: number;
  /** How long time stands still after a takeover while a backlog is read. */
  readonly holdMs: number;
  /** Votes that end are looked at this often at most. */
  readonly expiryMs: number;
  /** A transaction that takes longer has an unknown fate. */
  readonly commitMs: number;
  /** No fallback begins so soon after a takeover. */
  readonly fallbackGraceMs: number;
};

export const ownerLimits: OwnerLimits = {
  rows: 5_000,
  lingerMs: 250,
  idleMs: 1_000,
  pollMs: 250,
  slowPollMs: 10_000,
  probesMs: 1_000,
  holdMs: 120_000,
  expiryMs: 50,
  commitMs: 60_000,
  fallbackGraceMs: 60_000,
};

export type CommittedRound = { readonly rows: number; readonly messages: number };

export type OwnerOptions = {
  readonly ownership: Ownership;
  /** The owner's own connection: holds the lock, writes. */
  readonly client: pg.ClientBase;
  /** Reads beside a transaction that runs. */
  readonly reader: Reader;
  readonly connection: NatsConnection;
  readonly bus: Bus;
  readonly log: Logger;
  /** The database's clock, milliseconds. */
  readonly now: () => number;
  /** Shards of the installation, for the subjects of the stream. */
  readonly shards: number;
  /** Up to when the owner before has told; undefined when nobody ever has. */
  readonly foldedUntilUs: number | undefined;
  readonly limits: OwnerLimits;
  /** Whether changes of the configuration are hinted at now, by whomever they are made; absent: they are not. */
  readonly areChangesTold?: (() => boolean) | undefined;
  /** Runs the control plane's own checks; absent: there are none. */
  readonly central?: CentralRunner | undefined;
  /** Hears of what is committed, for those who watch. */
  readonly live?: Pick<LiveNews, 'tell'> | undefined;
  readonly onCommitted?: ((round: CommittedRound) => void) | undefined;
};
