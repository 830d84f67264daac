import { listingStates } from '@parallax/api-contract';
import type { Listings } from '@parallax/checks';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { RowsOfMonitor } from '../monitors/index.ts';
import type { Run, RunChange, View } from './agree.ts';
import type { StateRun } from './samples.ts';

const stateSchema = z.enum(listingStates);
const instant = (ms: number) => sql.timestamp(new Date(ms));
const rowsAtOnce = 5_000;

/** What a probe heard of the monitor's lists, milliseconds since the epoch. */
export type Heard = {
  readonly monitorId: number;
  readonly probeId: number;
  readonly probeRevision: number;
  readonly atMs: number;
  readonly listings: Listings;
};

const watchedRow = z.object({ workspace_id: z.number(), probe_revision: z.number() });
/** A monitor that is checked now. */
export type Watched = { readonly workspaceId: number; readonly probeRevision: number };

/** The monitor, held until the end of the transaction: neither is it paused, reset or deleted meanwhile. Undefined when it is, or was reset after the time. */
export async function watched(tx: Transaction, monitorId: number, atMs: number): Promise<Watched | undefined> {
  await tx.query(sql.unsafe`select from monitors where id = ${monitorId} for key share`);
  const row = await tx.maybeOne(sql.type(watchedRow)`
    select m.workspace_id, m.probe_revision from monitors m
    where m.id = ${monitorId} and m.deleted_at is null and m.is_active and coalesce(m.reset_at <= ${instant(atMs)}, true)
      and not exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null)`);
  return row === null ? undefined : { workspaceId: row.workspace_id, probeRevision: row.probe_revision };
}

/** Notes what a probe heard. @returns false when something newer is known */
export async function noteView(tx: Transaction, heard: Heard): Promise<boolean> {
  const { monitorId, probeId, probeRevision, atMs } = heard;
  const noted = await tx.query(sql.unsafe`
    insert into dnsbl_views as known (monitor_id, probe_id, probe_revision, listings, seen_at)
    values (${monitorId}, ${probeId}, ${probeRevision}, ${sql.jsonb(heard.listings)}, ${instant(atMs)})
    on conflict (monitor_id, probe_id) do update
      set probe_revision = excluded.probe_revision, listings = excluded.listings, seen_at = excluded.seen_at
      where excluded.seen_at > known.seen_at`);
  return noted.rowCount > 0;
}

/** What the probes heard last of the monitor as it is now. */
export async function viewsOf(tx: Transaction, monitorId: number, probeRevision: number): Promise<View[]> {
  const rows = await tx.any(
    sql.type(z.object({ listings: z.record(z.string(), stateSchema), seen_at: z.number() }))`
      select listings, seen_at from dnsbl_views where monitor_id = ${monitorId} and probe_revision = ${probeRevision}`,
  );
  return rows.map((row) => ({ listings: row.listings, seenMs: row.seen_at }));
}

/**
 * The latest run of each of the lists, and of every other one whose run is open. A list that changes with each check has a hundred thousand
 * runs in its history, of which one is read.
 */
export async function latestRuns(tx: Transaction, monitorId: number, providers: readonly string[]): Promise<Run[]> {
  const row = z.object({ provider: z.string(), state: stateSchema, is_listed: z.boolean(), is_open: z.boolean() });
  const rows = await tx.any(sql.type(row)`
    select latest.provider, latest.state, latest.is_listed, latest.ended_at is null as is_open
    from (
      select unnest(${sql.array(providers, 'text')}) as provider
      union select provider from dnsbl_runs where monitor_id = ${monitorId} and ended_at is null
    ) asked
    cross join lateral (
      select r.provider, r.state, r.is_listed, r.ended_at from dnsbl_runs r
      where r.monitor_id = ${monitorId} and r.provider = asked.provider order by r.started_at desc limit 1
    ) latest order by 1`);
  return rows.map((one) => ({
    provider: one.provider,
    state: one.state,
    isListed: one.is_listed,
    isOpen: one.is_open,
  }));
}

/** Ends and begins runs. One that would end before it began lasts a millisecond. */
export async function changeRuns(
  tx: Transaction,
  monitorId: number,
  changes: readonly RunChange[],
  atMs: number,
): Promise<void> {
  const closing = changes.flatMap(({ provider, closes }) => (closes ? [provider] : []));
  await tx.query(sql.unsafe`
    update dnsbl_runs set ended_at = greatest(${instant(atMs)}, started_at + interval '1 millisecond')
    where monitor_id = ${monitorId} and ended_at is null and provider = any (${sql.array(closing, 'text')})`);
  const opening = changes.flatMap(({ provider, opens }) =>
    opens === undefined ? [] : [[provider, opens.state, opens.isListed] as const],
  );
  if (opening.length === 0) return;
  await tx.query(sql.unsafe`
    insert into dnsbl_runs (monitor_id, provider, started_at, state, is_listed)
    select ${monitorId}, o.provider, greatest(${instant(atMs)}, (
        select max(r.ended_at) from dnsbl_runs r where r.monitor_id = ${monitorId} and r.provider = o.provider)), o.state, o.is_listed
    from ${sql.unnest(
      opening.map((one) => [...one]),
      ['text', 'text', 'bool'],
    )} as o (provider, state, is_listed)`);
}

/** Nobody looks any more: the runs end. What probes heard is kept for when they look again. */
export async function endRuns(tx: Transaction, monitorId: number, atMs: number): Promise<void> {
  await tx.query(sql.unsafe`
    update dnsbl_runs set ended_at = greatest(${instant(atMs)}, started_at + interval '1 millisecond')
    where monitor_id = ${monitorId} and ended_at is null`);
}

/** Runs since a time by list, clipped at the monitor's reset, and when a probe was last heard. The caller has read the monitor in its scope. */
export async function runsSince(
  tx: CommonQueryMethods,
  monitorId: number,
  fromMs: number,
): Promise<{ readonly runs: ReadonlyMap<string, StateRun[]>; readonly heardMs: number | null }> {
  const row = z.object({
    provider: z.string(),
    state: stateSchema,
    started_at: z.number(),
    ended_at: z.number().nullable(),
  });
  const rows = await tx.any(sql.type(row)`
    select r.provider, r.state, greatest(r.started_at, m.reset_at) as started_at, r.ended_at
    from dnsbl_runs r join monitors m on m.id = r.monitor_id
    where r.monitor_id = ${monitorId} and (r.ended_at is null or r.ended_at > greatest(${instant(fromMs)}, m.reset_at))
    order by r.provider collate "C", r.started_at`);
  const heardMs = await tx.oneFirst(sql.type(z.object({ seen_at: z.number().nullable() }))`
    select max(seen_at) as seen_at from dnsbl_views where monitor_id = ${monitorId}`);
  const runs = new Map<string, StateRun[]>();
  for (const { provider, state, started_at: startedMs, ended_at: endedMs } of rows) {
    const of = runs.get(provider) ?? [];
    of.push({ state, startedMs, endedMs });
    runs.set(provider, of);
  }
  return { runs, heardMs };
}

/** Removes runs that ended before a time, a batch. @returns how many */
export async function removeOldRuns(pool: DatabasePool, beforeMs: number): Promise<number> {
  const gone = await pool.query(sql.unsafe`
    delete from dnsbl_runs where ctid = any(array(
      select ctid from dnsbl_runs where ended_at < ${instant(beforeMs)} order by ended_at limit ${rowsAtOnce} for update skip locked))`);
  return gone.rowCount;
}

/** All of a deleted monitor; of one that was reset the runs that were over by then. What holds now is known after a reset too. */
export const removeListings: RowsOfMonitor = async (worker, monitorId, beforeMs) => {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and r.ended_at <= ${instant(beforeMs)}`;
  const runs = await worker.query(sql.unsafe`
    delete from dnsbl_runs where ctid = any(array(
      select r.ctid from dnsbl_runs r where r.monitor_id = ${monitorId} ${older} limit ${rowsAtOnce}))`);
  if (beforeMs === null) await worker.query(sql.unsafe`delete from dnsbl_views where monitor_id = ${monitorId}`);
  return { wasAny: runs.rowCount > 0, wasHeld: false, removed: {} };
};
