import type { BrokerServer } from '../models/broker/server.ts';
import type { Database } from '../models/database/database.ts';
import type { RoundWrite } from '../models/database/results.ts';
import type { Disk } from '../models/disk.ts';
import type { SessionNetwork } from '../models/sessions.ts';
import type { UplinkView } from '../models/uplink.ts';
import type { Engine, Process } from './engine.ts';

/** What stands in for the outside of the product, of the world that runs now. */
export type Surroundings = {
  readonly engine: Engine;
  readonly broker: BrokerServer;
  readonly database: Database;
  readonly sessions: SessionNetwork;
  readonly uplink: UplinkView;
  /** The disk of the machine whose process runs. */
  readonly diskHere: () => Disk;
  /** The owner of a shard reads what is configured, now; undefined: it begins to. */
  readonly onConfigurationRead: (owner: Process | undefined, shard: number | undefined) => void;
  /** When the process that runs last did so. */
  readonly configuredUs: (shard: number) => number;
  /** A round is about to be seen, and is. */
  readonly beforeCommit: (write: RoundWrite) => void;
  readonly afterCommit: (write: RoundWrite) => void;
};

let surroundings: Surroundings | undefined;

/** Of the world that runs. */
export function current(): Surroundings {
  if (surroundings === undefined) throw new Error('no world runs');
  return surroundings;
}

export function setCurrent(next: Surroundings | undefined): void {
  surroundings = next;
}
