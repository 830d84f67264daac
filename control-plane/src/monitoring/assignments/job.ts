import { groupProtocol } from '@parallax/api-contract';
import type { Logger } from '@parallax/telemetry';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { repeatWhenDue } from '../../platform/repeat-when-due.ts';
import type { RunningService } from '../../platform/running-service.ts';
import type { Context } from '../../context.ts';
import { sql } from '../../platform/database/pools.ts';
import { defaultSeats } from './choose.ts';
import { candidateRow, toCandidate } from './queries.ts';
import { planSeats } from './rebalance.ts';
import type { SeatedMonitor, SeatingProbe } from './rebalance.ts';
import { writeSeats } from './seats/queries.ts';

const unheardMs = 1_000;
/** A monitor that was made while a pass ran may have missed the change, so the pass is made once more. */
const secondPassMs = 10_000;
const regularPassMs = 300_000;
const batchSize = 200;
/** However often probes change, they are looked at no more often. */
const leastLookMs = 500;
// Any constant that no other program uses on this database.
const seatLock = 7_152_036_402n;

/**
 * Gives monitors the seats that a change of the probes makes possible or necessary: a probe fills free seats after its first session, a revoked
 * one is replaced, one that moved votes for its new region. Bounded batches; one replica at a time.
 */
export async function startRebalance(context: Context, log: Logger): Promise<RunningService> {
  const pool = context.database.worker;
  let seen = '';
  let nextPassMs = 0;

  const look = async (isStopped: () => boolean): Promise<number> => {
    const present = await probesFingerprint(pool);
    const nowMs = performance.now();
    if (present === seen && nowMs < nextPassMs) return nextPassMs - nowMs;
    const isNew = present !== seen;
    const changed = await rebalanceAll(pool, isStopped);
    seen = present;
    nextPassMs = performance.now() + (isNew ? secondPassMs : regularPassMs);
    if (changed > 0) log.info({ seats: changed }, 'seats of monitors were changed because probes changed');
    return nextPassMs - performance.now();
  };
  return repeatWhenDue({
    signals: context.database.signals,
    tables: ['probes'],
    unheardMs,
    leastMs: leastLookMs,
    work: look,
    onError: (error) => log.warn({ err: error }, 'seats of monitors could not be looked through; trying again'),
  });
}

/** Everything about probes that seats depend on, as one short text. */
async function probesFingerprint(pool: CommonQueryMethods): Promise<string> {
  const row = await pool.one(sql.type(z.object({ fingerprint: z.string() }))`
    select md5(coalesce(string_agg(concat_ws(' ', id, region, capabilities, is_paused, offline_since is null), ',' order by id), ''))
      as fingerprint
    from probes where revoked_at is null and last_seen_at is not null`);
  return row.fingerprint;
}

/** One pass over all monitors. @returns how many seats were opened or closed */
export async function rebalanceAll(pool: DatabasePool, isStopped: () => boolean = () => false): Promise<number> {
  let changed = 0;
  for (let after = 0; !isStopped(); ) {
    const monitors = await unsettledMonitors(pool, sql.fragment`monitor.id > ${after}`);
    const last = monitors.at(-1);
    if (last === undefined) break;
    // First without locks: most monitors that want more seats than there are probes need nothing.
    const plan = planSeats(monitors, await seatingProbes(pool));
    if (plan.length > 0) changed += await settle(pool, [...new Set(plan.map((change) => change.monitorId))]);
    after = last.id;
  }
  return changed;
}

async function settle(pool: DatabasePool, monitorIds: readonly number[]): Promise<number> {
  return pool.transaction(async (tx) => {
    const isMine = await tx.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
      select pg_try_advisory_xact_lock(${seatLock}) as locked`);
    if (!isMine) return 0;
    const locked = await tx.any(sql.typeAlias('id')`
      select id from monitors where id = any (${sql.array([...monitorIds], 'int4')}) and deleted_at is null
      order by id for no key update skip locked`);
    const ids = locked.map((row) => row.id);
    const monitors = await unsettledMonitors(tx, sql.fragment`monitor.id = any (${sql.array(ids, 'int4')})`);
    const plan = planSeats(monitors, await seatingProbes(tx));
    await writeSeats(tx, plan);
    return plan.length;
  });
}

const monitorRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  protocol: z.string(),
  url: z.string(),
  settings: z.record(z.string(), z.unknown()),
  wanted_probe_ids: z.array(z.number()).nullable(),
  wanted_regions: z.array(z.string()).nullable(),
  seat_probes: z.array(z.number()),
  seat_regions: z.array(z.string()),
  supplement_probes: z.array(z.number()),
  supplement_seats: z.array(z.number()),
});

/**
 * Monitors with a seat of a probe that was revoked, has moved or never connected, with a named probe that has connected since, or
 * with fewer seats than they want; in order, at most a batch.
 */
async function unsettledMonitors(
  pool: CommonQueryMethods,
  which: ReturnType<typeof sql.fragment>,
): Promise<SeatedMonitor[]> {
  const rows = await pool.any(sql.type(monitorRow)`
    select monitor.id, monitor.workspace_id, monitor.protocol, monitor.url, monitor.settings, monitor.wanted_probe_ids,
      monitor.wanted_regions, held.seat_probes, held.seat_regions, filling.supplement_probes, filling.supplement_seats
    from monitors monitor cross join lateral (
      select coalesce(array_agg(seat.probe_id order by seat.probe_id), '{}') as seat_probes,
        coalesce(array_agg(seat.region order by seat.probe_id), '{}') as seat_regions,
        coalesce(bool_or(probe.revoked_at is not null or probe.last_seen_at is null or probe.region <> seat.region), false) as is_stale
      from assignments seat join probes probe on probe.id = seat.probe_id
      where seat.monitor_id = monitor.id and seat.ended_at is null and not seat.supplement
    ) held cross join lateral (
      select coalesce(array_agg(probe_id order by id), '{}') as supplement_probes,
        coalesce(array_agg(stands_in_for order by id), '{}') as supplement_seats
      from assignments where monitor_id = monitor.id and ended_at is null and supplement and stands_in_for is not null
    ) filling
    where ${which} and monitor.deleted_at is null and monitor.protocol <> ${groupProtocol} and (
      held.is_stale or exists (
        select from probes named
        where named.id = any (monitor.wanted_probe_ids) and named.id <> all (held.seat_probes)
          and named.revoked_at is null and named.last_seen_at is not null
      ) or (
        coalesce(cardinality(monitor.wanted_probe_ids), 0) = 0
        and cardinality(held.seat_probes) < greatest(${defaultSeats}, coalesce(cardinality(monitor.wanted_regions), 0))
      )
    )
    order by monitor.id limit ${batchSize}`);
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    protocol: row.protocol,
    url: row.url,
    settings: row.settings,
    wantedProbeIds: row.wanted_probe_ids,
    wantedRegions: row.wanted_regions,
    seats: row.seat_probes.map((probeId, index) => ({ probeId, region: row.seat_regions[index] ?? '' })),
    supplements: row.supplement_probes.map((probeId, index) => ({
      probeId,
      standsInFor: row.supplement_seats[index] ?? 0,
    })),
  }));
}

/** Probes that have had a session: the others get no seats yet. */
async function seatingProbes(pool: CommonQueryMethods): Promise<SeatingProbe[]> {
  const rows = await pool.any(sql.type(candidateRow)`
    select id, workspace_id, region, capabilities, is_paused, offline_since is not null as is_lost,
      true as has_connected,
      (select count(*)::int from assignments where probe_id = probes.id and ended_at is null) as load
    from probes where revoked_at is null and last_seen_at is not null order by id`);
  return rows.map((row) => ({ ...toCandidate(row), workspaceId: row.workspace_id }));
}
