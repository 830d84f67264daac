import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@parallax/telemetry';
import { ensureResultsStream } from '../../../platform/bus/results-stream.ts';
import { adopt, createMemory, freshWindow, restoreAll, underQuarantine } from './memory.ts';
import type { ShardMemory } from './memory.ts';
import {
  readChanged,
  readCursors,
  readMark,
  readMonitors,
  readProbes,
  readQuarantines,
  readRestored,
} from './queries.ts';
import type { ShardMonitor } from './queries.ts';
import { readWindows } from './windows/queries.ts';
import type { Reader } from './windows/queries.ts';

export type ConfigurationOptions = {
  readonly shard: number;
  /** Shards of the installation. */
  readonly shards: number;
  readonly reader: Reader;
  readonly connection: NatsConnection;
  readonly log: Logger;
  /** Resolves when the transaction that is under way is committed: memory is read beside it only then. */
  readonly settled: () => Promise<void>;
};

/** Reads a shard from the database: its cursors, probes and monitors, and of each monitor the results that may still matter. */
export async function readShard(
  options: Pick<ConfigurationOptions, 'shard' | 'reader'>,
  toldUntilUs: number,
): Promise<ShardMemory> {
  const { shard, reader } = options;
  // The mark first: what changes while the rest is read comes again with the first poll.
  const mark = await readMark(reader);
  const [restoredUs, probes, cursors, monitors] = await Promise.all([
    readRestored(reader),
    readProbes(reader),
    readCursors(reader, shard),
    readMonitors(reader, shard),
  ]);
  const memory = createMemory({ cursors, probes, mark, toldUntilUs, restoredUs });
  for (const monitor of monitors.values()) memory.monitors.set(monitor.monitorId, monitor);
  const wanted = [...monitors.values()].map((monitor) => freshWindow(monitor, toldUntilUs));
  restoreAll(memory, wanted, await readWindows(reader, wanted));
  return memory;
}

/** Keeps a shard's memory and the subjects of the stream at what is configured. */
export type Configuration = {
  /** Reads what changed since the last time. True when anything did. */
  readonly refresh: () => Promise<boolean>;
  readonly refreshProbes: () => Promise<void>;
  /** Reads these monitors, and takes them in. */
  readonly learn: (monitorIds: readonly number[]) => Promise<void>;
  /** Brings the stream up to date now. Rejects while the broker is away. */
  readonly ensureStream: () => Promise<void>;
};

export function createConfiguration(memory: ShardMemory, options: ConfigurationOptions): Configuration {
  const { shard, reader, log } = options;
  let ensured: string | undefined;
  let ensuring: Promise<void> | undefined;

  const publishers = (): number[] => [...memory.probes].flatMap(([id, probe]) => (probe.isRevoked ? [] : [id]));

  async function ensureStream(): Promise<void> {
    const probeIds = publishers();
    await ensureResultsStream(options.connection, { shards: options.shards, probeIds });
    ensured = probeIds.join();
  }

  async function learn(monitorIds: readonly number[]): Promise<void> {
    const read = await readMonitors(reader, shard, monitorIds);
    await takeIn(read.values());
  }

  async function takeIn(read: Iterable<ShardMonitor>): Promise<void> {
    const newcomers = adopt(memory, read);
    if (newcomers.length === 0) return;
    await options.settled();
    restoreAll(memory, newcomers, await readWindows(reader, newcomers));
  }

  return {
    learn,
    ensureStream,
    refresh: async () => {
      const { mark, changed, quarantined } = await readChanged(reader, shard, memory.mark);
      const fresh = changed.flatMap(({ monitorId, changedXid }) =>
        memory.monitors.get(monitorId)?.changedXid === changedXid ? [] : [monitorId],
      );
      if (fresh.length > 0) await learn(fresh);
      // They change nothing of a monitor's own: what is in memory is enough.
      const concerned =
        quarantined.length === 0 ? [] : underQuarantine(memory, await readQuarantines(reader, quarantined));
      if (concerned.length > 0) await takeIn(concerned);
      memory.mark = mark;
      return fresh.length + concerned.length > 0;
    },
    refreshProbes: async () => {
      memory.probes = await readProbes(reader);
      if (publishers().join() === ensured || ensuring !== undefined) return;
      // Beside everything else: a broker that is away must not hold up the shard. Tried again with the next reading.
      ensuring = ensureStream()
        .catch((error: unknown) => log.info({ err: error }, 'the subjects of the results are not up to date yet'))
        .finally(() => {
          ensuring = undefined;
        });
    },
  };
}
