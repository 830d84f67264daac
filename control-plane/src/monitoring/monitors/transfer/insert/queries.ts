import { z } from 'zod';
import type { Sealer } from '../../../../platform/crypto/seal.ts';
import { sql } from '../../../../platform/database/pools.ts';
import type { Transaction } from '../../../../platform/database/pools.ts';
import { seatChanges, writeSeats } from '../../../assignments/index.ts';
import type { MonitorValues } from '../../queries.ts';
import { sealedValues } from '../../secrets.ts';
import type { PlainValues } from '../../values.ts';
import type { NewMonitor } from '../plan/facts.ts';
import type { NamedProbe } from '../plan/references.ts';

/** A monitor that was created; `null` when another one of its owner got the name in the meantime. */
export type Inserted = { readonly id: number; readonly shard: number } | null;

const idRow = z.object({ id: z.number() });
const insertedRow = z.object({ id: z.number(), shard: z.number() });

/**
 * Inserts many monitors, with their history, pauses and seats, by a handful of statements however many they are. Their numbers ascend as
 * they stand in the list. What a name clashes with is left to the unique index.
 * @param monitors each with the index of its row in the file
 * @returns in the order of the list what became of each, and the probes to be told after the commit
 */
export async function insertMonitors(
  transaction: Transaction,
  place: { readonly sealer: Sealer; readonly shards: number; readonly probes: readonly NamedProbe[] },
  monitors: readonly (NewMonitor & { readonly row: number })[],
): Promise<{ readonly inserted: readonly Inserted[]; readonly probeIds: readonly number[] }> {
  const ids = await reserveIds(transaction, monitors.length);
  const idOfRow = new Map(monitors.map(({ row }, index) => [row, ids[index] ?? 0]));
  const rows = monitors.map((monitor, index) => {
    const id = ids[index] ?? 0;
    return rowOf(id, monitor.workspaceId, sealedValues(place.sealer, id, withMemberIds(monitor, idOfRow)));
  });
  // A transfer of a workspace that is under way is waited for; in ascending order, so that two imports never wait in a circle.
  const workspaceIds = [...new Set(monitors.map((monitor) => monitor.workspaceId))];
  await transaction.query(sql.unsafe`
    select id from workspaces where id = any(${sql.array(workspaceIds, 'int4')}) order by id for key share`);
  const written = new Map((await writeRows(transaction, rows, place.shards)).map((row) => [row.id, row]));
  await writeHistory(transaction, [...written.keys()]);
  const seats = monitors.flatMap((monitor, index) => {
    const id = ids[index] ?? 0;
    return written.has(id) ? seatChanges(id, [], monitor.probeIds, place.probes) : [];
  });
  const probeIds = await writeSeats(transaction, seats);
  return { inserted: ids.map((id) => written.get(id) ?? null), probeIds };
}

/** A member whose name is taken in the meantime is not created; its number is nobody's, and every reading of members passes over it. */
function withMemberIds(
  { values, memberIds = [], memberRows = [] }: NewMonitor,
  idOfRow: ReadonlyMap<number, number>,
): PlainValues {
  if (memberIds.length + memberRows.length === 0) return values;
  const all = new Set([...memberIds, ...memberRows.flatMap((row) => idOfRow.get(row) ?? [])]);
  const ids = [...all].sort((one, other) => one - other);
  return { ...values, settings: { ...values.settings, open: { ...values.settings.open, monitor_ids: ids } } };
}

async function reserveIds(transaction: Transaction, count: number): Promise<readonly number[]> {
  const rows = await transaction.any(sql.type(idRow)`
    select nextval('monitors_id_seq')::integer as id from generate_series(1, ${count})`);
  return rows.map((row) => row.id).sort((one, other) => one - other);
}

function rowOf(id: number, workspaceId: number, values: MonitorValues) {
  const { sealed_secrets: sealed, ...fields } = values;
  return { ...fields, id, workspace_id: workspaceId, sealed_secrets: sealed === null ? null : sealed.toString('hex') };
}

/** In the order of the names, so that two imports of one owner do not wait for each other in a circle. */
async function writeRows(transaction: Transaction, rows: readonly ReturnType<typeof rowOf>[], shards: number) {
  return transaction.any(sql.type(insertedRow)`
    insert into monitors (
      id, workspace_id, owner_id, shard, name, description, url, protocol, interval_seconds, timeout_seconds, confirmations,
      consensus_policy, degraded_threshold_ms, settings, sealed_secrets, secret_fields, tags, wanted_probe_ids, wanted_regions,
      dnsbl_servers, certificate_thresholds_days, domain_thresholds_days, is_active, created_at, updated_at
    ) overriding system value
    select r.id, r.workspace_id, w.owner_id, (hashint4(r.id) & 2147483647) % ${shards}, r.name, r.description, r.url, r.protocol,
      r.interval_seconds, r.timeout_seconds, r.confirmations, r.consensus_policy, r.degraded_threshold_ms, r.settings,
      decode(r.sealed_secrets, 'hex'), r.secret_fields, r.tags, r.wanted_probe_ids, r.wanted_regions, r.dnsbl_servers,
      r.certificate_thresholds_days, r.domain_thresholds_days, r.is_active, clock_timestamp(), clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      id integer, workspace_id integer, name text, description text, url text, protocol text, interval_seconds integer,
      timeout_seconds integer, confirmations integer, consensus_policy jsonb, degraded_threshold_ms integer, settings jsonb,
      sealed_secrets text, secret_fields text[], tags text[], wanted_probe_ids integer[], wanted_regions text[],
      dnsbl_servers text[], certificate_thresholds_days integer[], domain_thresholds_days integer[], is_active boolean
    ) join workspaces w on w.id = r.workspace_id
    order by w.owner_id, r.name
    on conflict (owner_id, name) where deleted_at is null do nothing
    returning id, shard`);
}

async function writeHistory(transaction: Transaction, ids: readonly number[]): Promise<void> {
  const list = sql.array(ids, 'int4');
  await transaction.query(sql.unsafe`
    insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
    select id, clock_timestamp(), version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds
    from monitors where id = any(${list})`);
  await transaction.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by)
    select id, clock_timestamp(), 'self' from monitors where id = any(${list}) and not is_active`);
}
