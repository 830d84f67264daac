import { freshSeconds } from '@parallax/checks';
import type { Assignment, ConfigurationEvent, Interval, MonitorInputs, Policy, Status } from '../../consensus/index.ts';
import { atMicroseconds } from '../../status-ranges/index.ts';
import type { KnownProbe } from './admit.ts';
import { quarantinesOf } from './quarantines.ts';
import type { Quarantines } from './quarantines.ts';
import { cursorKey } from './trim.ts';
import { microseconds } from './windows/queries.ts';
import type { Reader } from './windows/queries.ts';
import type { Cursors } from './trim.ts';

/**
 * Inputs that ended longer ago than this cannot matter to a result that is still accepted: 49 h, the longest streaks, and to spare. Nor to ranges
 * that are derived anew, when it is counted from where those begin.
 */
const inputsBackDays = 20;
const recentInputs = inputsSince(undefined);

/** SQL of the time from which on inputs matter; that of now, or of an earlier time in microseconds. */
function inputsSince(fromUs: number | undefined): string {
  const back = `interval '${inputsBackDays} days'`;
  return fromUs === undefined
    ? `now() - ${back}`
    : `least(now(), ${atMicroseconds(String(Math.floor(fromUs)))}) - ${back}`;
}

/** A monitor of the shard with all that its status depends on beside results. */
export type ShardMonitor = {
  readonly monitorId: number;
  readonly workspaceId: number;
  readonly isDeleted: boolean;
  /** Every probe that it was ever assigned to. */
  readonly probes: ReadonlySet<number>;
  readonly inputs: MonitorInputs;
  /** As last written. */
  readonly status: Status;
  readonly statusSinceUs: number | null;
  /** What others were last told, where it is not this status; null: the same. */
  readonly announcedStatus: Status | null;
  /** The longest that one of its results stays fresh, by its configurations. */
  readonly longestFreshUs: number;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly confirmations: number;
  readonly changedXid: string;
  /** Its ranges from here on are to be derived anew, microseconds; null or absent: they are as they should be. */
  readonly refoldFromUs?: number | null | undefined;
};

export async function readProbes(reader: Reader): Promise<Map<number, KnownProbe>> {
  const found = await reader.query<{ id: number; signing_public_key: Buffer; revoked: boolean }>(
    'select id, signing_public_key, revoked_at is not null as revoked from probes',
  );
  return new Map(found.rows.map((row) => [row.id, { publicKey: row.signing_public_key, isRevoked: row.revoked }]));
}

export async function readCursors(reader: Reader, shard: number): Promise<Cursors> {
  const found = await reader.query<{ probe_id: number; epoch: string; seq: string }>(
    'select probe_id, epoch, seq from cursors where shard = $1',
    [shard],
  );
  return new Map(
    found.rows.map((row) => [cursorKey({ probeId: row.probe_id, epoch: Number(row.epoch) }), Number(row.seq)]),
  );
}

/** The oldest transaction that is not over: what it and later ones change is found by `readChanged` from here. */
export async function readMark(reader: Reader): Promise<string> {
  const found = await reader.query<{ mark: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as mark');
  return found.rows[0]?.mark ?? '0';
}

/** When a backup was last restored into this database, microseconds; undefined when never. */
export async function readRestored(reader: Reader): Promise<number | undefined> {
  const found = await reader.query<{ us: string }>(
    'select (extract(epoch from restored_at) * 1000000)::bigint::text as us from installation where restored_at is not null',
  );
  const us = found.rows[0]?.us;
  return us === undefined ? undefined : Number(us);
}

/**
 * Monitors whose configuration changed in transactions that were not over at the mark, and the next mark: the oldest transaction
 * that is not over now. Some come again while an old transaction runs; none is missed.
 */
export async function readChanged(
  reader: Reader,
  shard: number,
  mark: string,
): Promise<{
  readonly mark: string;
  readonly changed: { readonly monitorId: number; readonly changedXid: string }[];
  /** Probes of which a quarantine was opened or ended. */
  readonly quarantined: readonly number[];
}> {
  const found = await reader.query<{
    mark: string;
    id: number | null;
    changed_xid: string | null;
    quarantined: number[] | null;
  }>({
    name: 'ingest-changed',
    text: `select s.mark::text as mark, m.id, m.changed_xid::text as changed_xid,
        (select array_agg(distinct q.probe_id) from quarantines q where q.changed_xid >= $2::xid8) as quarantined
      from (select pg_snapshot_xmin(pg_current_snapshot()) as mark) s
      left join monitors m on m.shard = $1 and m.changed_xid >= $2::xid8`,
    values: [shard, mark],
  });
  const changed = found.rows.flatMap((row) =>
    row.id === null || row.changed_xid === null ? [] : [{ monitorId: row.id, changedXid: row.changed_xid }],
  );
  return { mark: found.rows[0]?.mark ?? mark, changed, quarantined: found.rows[0]?.quarantined ?? [] };
}

/** When the votes of these probes did not count, by probe; of all probes when none are named. Those that are long over are left out. */
export async function readQuarantines(
  reader: Reader,
  only?: readonly number[],
  recent: string = recentInputs,
): Promise<Quarantines> {
  const found = await reader.query<{ probe_id: number; from_us: string; to_us: string | null }>(
    `select probe_id, ${microseconds('started_at')} as from_us, ${microseconds('ended_at')} as to_us
     from quarantines
     where (ended_at is null or ended_at > ${recent}) and ($1::integer[] is null or probe_id = any ($1)) order by started_at`,
    [only ?? null],
  );
  const byProbe = Map.groupBy(found.rows, (row) => row.probe_id);
  return new Map([...byProbe].map(([probeId, rows]) => [probeId, rows.map(interval)]));
}

/**
 * Monitors of a shard with their inputs: all that are not deleted, or those asked for, deleted ones too. Each kind of row is read at once.
 * @param fromUs inputs that matter to ranges from here on are read too, microseconds; the usual ones when absent
 */
export async function readMonitors(
  reader: Reader,
  shard: number,
  only?: readonly number[],
  fromUs?: number,
): Promise<Map<number, ShardMonitor>> {
  const monitors = await reader.query<MonitorRow>(
    `select m.id, m.workspace_id, m.status, m.announced_status, m.changed_xid::text as changed_xid, m.deleted_at is not null as deleted,
       m.confirmations, m.consensus_policy, m.probe_revision, m.interval_seconds, m.timeout_seconds,
       ${microseconds('m.created_at')} as created_us, ${microseconds('m.reset_at')} as reset_us, ${microseconds('m.status_since')} as since_us,
       ${microseconds('m.refold_from')} as refold_us
     from monitors m where m.shard = $1 and ${only === undefined ? 'm.deleted_at is null' : 'm.id = any ($2::integer[])'}`,
    only === undefined ? [shard] : [shard, only],
  );
  const ids = monitors.rows.map((row) => row.id);
  const refolds = monitors.rows.flatMap((row) => (row.refold_us === null ? [] : [Number(row.refold_us)]));
  const since = Math.min(fromUs ?? Number.POSITIVE_INFINITY, ...refolds);
  const parts = await readInputs(reader, ids, inputsSince(Number.isFinite(since) ? since : undefined));
  return new Map(monitors.rows.map((row) => [row.id, shardMonitor(row, parts)]));
}

type MonitorRow = {
  id: number;
  workspace_id: number;
  status: Status;
  announced_status: Status | null;
  changed_xid: string;
  deleted: boolean;
  confirmations: number;
  consensus_policy: Policy;
  probe_revision: number;
  interval_seconds: number;
  timeout_seconds: number;
  created_us: string;
  reset_us: string | null;
  since_us: string | null;
  refold_us: string | null;
};

type Inputs = {
  readonly assignments: Map<number, Assignment[]>;
  readonly everAssigned: Map<number, Set<number>>;
  readonly configurations: Map<number, { readonly event: ConfigurationEvent; readonly freshUs: number }[]>;
  readonly pauses: Map<number, Interval[]>;
  readonly quarantines: Quarantines;
};

async function readInputs(reader: Reader, ids: readonly number[], recent: string): Promise<Inputs> {
  const assignments = await reader.query<{
    monitor_id: number;
    probe_id: number;
    region: string;
    supplement: boolean;
    counts_by_us: string | null;
    from_us: string;
    to_us: string | null;
    recent: boolean;
  }>(
    `select monitor_id, probe_id, region, supplement, ${microseconds('counts_by')} as counts_by_us, ${microseconds('started_at')} as from_us, ${microseconds('ended_at')} as to_us,
       (ended_at is null or ended_at > ${recent}) as recent
     from assignments where monitor_id = any ($1::integer[]) order by id`,
    [ids],
  );
  const history = await reader.query<{
    monitor_id: number;
    from_us: string;
    probe_revision: number;
    confirmations: number;
    consensus_policy: Policy;
    interval_seconds: number;
    timeout_seconds: number;
  }>(
    `select h.monitor_id, ${microseconds('h.effective_at')} as from_us, h.probe_revision, h.confirmations, h.consensus_policy,
       h.interval_seconds, h.timeout_seconds
     from monitor_history h
     where h.monitor_id = any ($1::integer[]) and h.effective_at >= coalesce((
       select max(e.effective_at) from monitor_history e where e.monitor_id = h.monitor_id and e.effective_at <= ${recent}), '-infinity')
     order by h.monitor_id, h.effective_at, h.version`,
    [ids],
  );
  const pauses = await reader.query<{ monitor_id: number; from_us: string; to_us: string | null }>(
    `select monitor_id, ${microseconds('started_at')} as from_us, ${microseconds('ended_at')} as to_us
     from pauses where monitor_id = any ($1::integer[]) and (ended_at is null or ended_at > ${recent})`,
    [ids],
  );
  const quarantines = await readQuarantines(reader, undefined, recent);
  const everAssigned = new Map<number, Set<number>>();
  for (const row of assignments.rows) {
    const probes = everAssigned.get(row.monitor_id) ?? new Set<number>();
    everAssigned.set(row.monitor_id, probes.add(row.probe_id));
  }
  return {
    everAssigned,
    assignments: grouped(
      assignments.rows.filter((row) => row.recent),
      (row) => ({
        voter: row.probe_id,
        region: row.region,
        supplement: row.supplement,
        ...(row.counts_by_us === null ? {} : { countsByUs: Number(row.counts_by_us) }),
        ...interval(row),
      }),
    ),
    configurations: grouped(history.rows, (row) => ({
      freshUs: freshUs(row),
      event: {
        fromUs: Number(row.from_us),
        probeRevision: row.probe_revision,
        confirmations: row.confirmations,
        policy: row.consensus_policy,
        intervalS: row.interval_seconds,
      },
    })),
    pauses: grouped(pauses.rows, interval),
    quarantines,
  };
}

function grouped<Row extends { readonly monitor_id: number }, Item>(
  rows: readonly Row[],
  make: (row: Row) => Item,
): Map<number, Item[]> {
  const groups = new Map<number, Item[]>();
  for (const row of rows) {
    const group = groups.get(row.monitor_id);
    if (group === undefined) groups.set(row.monitor_id, [make(row)]);
    else group.push(make(row));
  }
  return groups;
}

const interval = (row: {
  readonly from_us: string;
  readonly to_us: string | null;
}): { fromUs: number; toUs: number | null } => ({
  fromUs: Number(row.from_us),
  toUs: row.to_us === null ? null : Number(row.to_us),
});

/** Rule 2, by the interval; the fallback of the control plane checks every minute at most. */
function freshUs(row: { readonly interval_seconds: number; readonly timeout_seconds: number }): number {
  return freshSeconds(Math.max(row.interval_seconds, 60), row.timeout_seconds) * 1_000_000;
}

function shardMonitor(row: MonitorRow, parts: Inputs): ShardMonitor {
  const configurations = parts.configurations.get(row.id) ?? [];
  const assignments = parts.assignments.get(row.id) ?? [];
  return {
    monitorId: row.id,
    workspaceId: row.workspace_id,
    isDeleted: row.deleted,
    probes: parts.everAssigned.get(row.id) ?? new Set(),
    status: row.status,
    statusSinceUs: row.since_us === null ? null : Number(row.since_us),
    announcedStatus: row.announced_status,
    changedXid: row.changed_xid,
    refoldFromUs: row.refold_us === null ? null : Number(row.refold_us),
    intervalS: row.interval_seconds,
    timeoutS: row.timeout_seconds,
    confirmations: row.confirmations,
    longestFreshUs: Math.max(freshUs(row), ...configurations.map((item) => item.freshUs)),
    inputs: {
      monitorId: row.id,
      assignments,
      configurations: configurations.map((item) => item.event),
      pauses: parts.pauses.get(row.id) ?? [],
      quarantines: quarantinesOf(assignments, parts.quarantines),
      resetUs: row.reset_us === null ? null : Number(row.reset_us),
      createdUs: Number(row.created_us),
    },
  };
}

/** Makes the daily partitions that hold these instants. */
export async function ensurePartitions(reader: Reader, firstUs: number, lastUs: number): Promise<void> {
  await reader.query(
    `select ensure_result_partitions(${atMicroseconds('$1::bigint')}, ${atMicroseconds('$2::bigint')})`,
    [Math.floor(firstUs), Math.ceil(lastUs)],
  );
}
