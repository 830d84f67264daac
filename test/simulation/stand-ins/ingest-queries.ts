import { freshSeconds } from '@parallax/checks';
import type { KnownProbe } from '../../../control-plane/src/monitoring/check-results/ingest/admit.ts';
import type { ShardMonitor } from '../../../control-plane/src/monitoring/check-results/ingest/queries.ts';
import { quarantinesOf } from '../../../control-plane/src/monitoring/check-results/ingest/quarantines.ts';
import type { Quarantines } from '../../../control-plane/src/monitoring/check-results/ingest/quarantines.ts';
import { cursorKey } from '../../../control-plane/src/monitoring/check-results/ingest/trim.ts';
import type { Cursors } from '../../../control-plane/src/monitoring/check-results/ingest/trim.ts';
import { current } from '../engine/current.ts';
import type { MonitorRecord, Quarantine } from '../models/database/tables.ts';
import { inputsOf } from '../models/database/tables.ts';

/* What the ingest reads of the configuration, on the modelled database. */

type Reader = unknown;

export function readProbes(_reader: Reader): Promise<Map<number, KnownProbe>> {
  const { database } = current();
  return database.ask(
    () =>
      new Map(
        [...database.configuration.probes.values()].map(({ id, publicKey }) => [id, { publicKey, isRevoked: false }]),
      ),
  );
}

export function readCursors(_reader: Reader, shard: number): Promise<Cursors> {
  const { database } = current();
  return database.ask(
    () =>
      new Map(
        [...database.results.cursors.values()]
          .filter((cursor) => cursor.shard === shard)
          .map((cursor) => [cursorKey(cursor), cursor.seq]),
      ),
  );
}

export function readMark(_reader: Reader): Promise<string> {
  const { database, engine, onConfigurationRead } = current();
  const owner = engine.current;
  return database.ask(() => {
    onConfigurationRead(owner, undefined);
    return String(database.configuration.mark);
  });
}

export async function readRestored(_reader: Reader): Promise<number | undefined> {
  return undefined;
}

export function readChanged(
  _reader: Reader,
  shard: number,
  mark: string,
): Promise<{
  readonly mark: string;
  readonly changed: { readonly monitorId: number; readonly changedXid: string }[];
  readonly quarantined: readonly number[];
}> {
  const { database, engine, onConfigurationRead } = current();
  const owner = engine.current;
  return database.ask(() => {
    onConfigurationRead(owner, shard);
    return {
      mark: String(database.configuration.mark),
      changed: [...database.configuration.monitors.values()]
        .filter((monitor) => monitor.shard === shard && monitor.changedXid >= Number(mark))
        .map(({ id, changedXid }) => ({ monitorId: id, changedXid: String(changedXid) })),
      quarantined: database.configuration.quarantines
        .filter(({ changedXid }) => changedXid >= Number(mark))
        .map(({ voter }) => voter),
    };
  });
}

export function readQuarantines(_reader: Reader, only?: readonly number[]): Promise<Quarantines> {
  const { database } = current();
  return database.ask(() => byProbe(database.configuration.quarantines, only));
}

function byProbe(quarantines: readonly Quarantine[], only?: readonly number[]): Quarantines {
  const wanted = quarantines.filter(({ voter }) => only === undefined || only.includes(voter));
  return new Map(
    [...Map.groupBy(wanted, ({ voter }) => voter)].map(([voter, rows]) => [
      voter,
      rows.map(({ fromUs, toUs }) => ({ fromUs, toUs })),
    ]),
  );
}

export function readMonitors(
  _reader: Reader,
  shard: number,
  only?: readonly number[],
): Promise<Map<number, ShardMonitor>> {
  const { database } = current();
  return database.ask(() => {
    const { monitors, quarantines } = database.configuration;
    const wanted = [...monitors.values()].filter(
      (monitor) => monitor.shard === shard && (only === undefined ? !monitor.isDeleted : only.includes(monitor.id)),
    );
    return new Map(wanted.map((monitor) => [monitor.id, shardMonitor(monitor, quarantines)]));
  });
}

/** As `readMonitors` of the product makes it of its rows. */
function shardMonitor(monitor: MonitorRecord, quarantines: readonly Quarantine[]): ShardMonitor {
  const freshUs = (row: { readonly intervalS: number; readonly timeoutS: number }): number =>
    freshSeconds(Math.max(row.intervalS, 60), row.timeoutS) * 1_000_000;
  const { id, workspaceId, isDeleted, status, statusSinceUs, changedXid, intervalS, timeoutS, confirmations } = monitor;
  const inputs = inputsOf(monitor, []);
  return {
    monitorId: id,
    workspaceId,
    isDeleted,
    probes: new Set(monitor.seats.map(({ probeId }) => probeId)),
    status,
    statusSinceUs,
    announcedStatus: monitor.announcedStatus,
    changedXid: String(changedXid),
    intervalS,
    timeoutS,
    confirmations,
    longestFreshUs: Math.max(freshUs(monitor), ...monitor.history.map(freshUs)),
    inputs: { ...inputs, quarantines: quarantinesOf(inputs.assignments, byProbe(quarantines)) },
  };
}
