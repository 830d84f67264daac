import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { isActive } from '../paused/queries.ts';
import { candidateRow, toCandidate } from '../queries.ts';
import { swapAfterMs, votedAgainMs } from '../supplements.ts';
import type { SupplementedMonitor, SupplementingProbe } from '../supplements.ts';

/** Probes that have connected and are not revoked, as the planner needs them, and whether there is anything to plan at all. */
export type ProbesNow = {
  readonly probes: readonly (SupplementingProbe & {
    /** When it was heard of again after its last loss, ms since the epoch. */
    readonly returnedAtMs: number | null;
  })[];
  readonly hasSupplements: boolean;
};

const watchRow = z.object({ fingerprint: z.string(), is_any_lost: z.boolean(), has_supplements: z.boolean() });

/**
 * The one query that is made when all is well: everything about probes that supplements depend on, as one short text, whether
 * any is lost, and whether there are supplements.
 */
export async function watchProbes(pool: CommonQueryMethods): Promise<z.infer<typeof watchRow>> {
  return pool.one(sql.type(watchRow)`
    select
      md5(coalesce(string_agg(
        concat_ws(' ', id, workspace_id, region, capabilities, is_paused, offline_since, returned_at), ',' order by id), '')) as fingerprint,
      coalesce(bool_or(offline_since is not null), false) as is_any_lost,
      exists (select from assignments where supplement and ended_at is null) as has_supplements
    from probes where revoked_at is null and last_seen_at is not null`);
}

const probeRow = candidateRow.extend({
  offline_since: z.number().nullable(),
  returned_at: z.number().nullable(),
});

export async function supplementingProbes(pool: CommonQueryMethods): Promise<ProbesNow['probes']> {
  const rows = await pool.any(sql.type(probeRow)`
    select id, workspace_id, region, capabilities, is_paused, offline_since is not null as is_lost, offline_since, returned_at,
      true as has_connected, (select count(*)::int from assignments where probe_id = probes.id and ended_at is null) as load
    from probes where revoked_at is null and last_seen_at is not null order by id`);
  return rows.map((row) => ({
    ...toCandidate(row),
    workspaceId: row.workspace_id,
    lostSinceMs: row.offline_since,
    returnedAtMs: row.returned_at,
  }));
}

/**
 * Monitors above `after`, in order, at most `limit`, of which a supplement may have to change by time or by what was done to the
 * monitor: its seat's probe is back for long enough, lost for a day or revoked, its own is not well, its seat is gone, or its
 * monitor is paused. `isThorough` gives every monitor with a supplement, and those with a lost probe that have none.
 */
export async function monitorsToSupplement(
  pool: CommonQueryMethods,
  probes: ProbesNow['probes'],
  nowMs: number,
  { after, limit, isThorough }: { readonly after: number; readonly limit: number; readonly isThorough: boolean },
): Promise<readonly number[]> {
  const ids = (test: (probe: ProbesNow['probes'][number]) => boolean) =>
    sql.array(
      probes.filter(test).map((probe) => probe.id),
      'int4',
    );
  const wanting = ids((probe) => probe.isLost && !probe.isPaused);
  // Nothing about these seats can have changed by time alone.
  const waiting = ids(({ lostSinceMs, returnedAtMs }) =>
    lostSinceMs === null ? (returnedAtMs ?? 0) > nowMs - votedAgainMs : lostSinceMs > nowMs - swapAfterMs,
  );
  const well = ids((probe) => !probe.isLost && !probe.isPaused);
  const rows = await pool.any(sql.typeAlias('id')`
    select id from (
      (select distinct seat.monitor_id as id from assignments seat join monitors monitor on monitor.id = seat.monitor_id
      where ${isThorough} and seat.probe_id = any (${wanting}) and seat.ended_at is null and not seat.supplement and seat.monitor_id > ${after}
        and ${isActive} and monitor.deleted_at is null and coalesce(cardinality(monitor.wanted_probe_ids), 0) = 0
        and not exists (
          select from assignments filling
          where filling.monitor_id = seat.monitor_id and filling.stands_in_for = seat.probe_id
            and filling.ended_at is null and filling.supplement)
      order by seat.monitor_id limit ${limit})
      union
      (select distinct filling.monitor_id from assignments filling join monitors monitor on monitor.id = filling.monitor_id
      where filling.supplement and filling.stands_in_for is not null and filling.ended_at is null and filling.monitor_id > ${after}
        and (${isThorough} or filling.stands_in_for <> all (${waiting}) or filling.probe_id <> all (${well})
          or not ${isActive} or monitor.deleted_at is not null
          or not exists (
            select from assignments seat
            where seat.monitor_id = filling.monitor_id and seat.probe_id = filling.stands_in_for
              and seat.ended_at is null and not seat.supplement))
      order by filling.monitor_id limit ${limit})
    ) found order by id limit ${limit}`);
  return rows.map((row) => row.id);
}

const monitorRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  protocol: z.string(),
  url: z.string(),
  settings: z.record(z.string(), z.unknown()),
  wanted_probe_ids: z.array(z.number()).nullable(),
  wanted_regions: z.array(z.string()).nullable(),
  is_active: z.boolean(),
  probe_ids: z.array(z.number()),
  regions: z.array(z.string()),
  stand_in_for: z.array(z.number().nullable()),
  have_voted: z.array(z.boolean()),
});

/**
 * Monitors with their seats and supplements. A probe has voted again where its own ranges cover the last ten minutes without a gap up
 * to where the shard is folded, all since its return: an open range beyond that is not known to last, and what a probe brings
 * along from its time alone is of the past.
 */
export async function supplementedMonitors(
  pool: CommonQueryMethods,
  monitorIds: readonly number[],
  probes: ProbesNow['probes'],
  nowMs: number,
): Promise<SupplementedMonitor[]> {
  const back = probes.filter(({ isLost, returnedAtMs }) => !isLost && (returnedAtMs ?? 0) <= nowMs - votedAgainMs);
  const now = sql.fragment`${sql.timestamp(new Date(nowMs))}`;
  const votedFor = sql.fragment`${votedAgainMs} * interval '1 millisecond'`;
  const rows = await pool.any(sql.type(monitorRow)`
    with back as materialized (
      select * from ${sql.unnest(
        back.map((probe) => [probe.id, new Date(probe.returnedAtMs ?? 0).toISOString()]),
        ['int4', 'timestamptz'],
      )} as back (probe_id, returned_at)
    )
    select monitor.id, monitor.workspace_id, monitor.protocol, monitor.url, monitor.settings, monitor.wanted_probe_ids, monitor.wanted_regions,
      ${isActive} and monitor.deleted_at is null as is_active, open.probe_ids, open.regions, open.stand_in_for, open.have_voted
    from monitors monitor cross join lateral (
      select coalesce(array_agg(a.probe_id order by a.probe_id), '{}') as probe_ids,
        coalesce(array_agg(a.region order by a.probe_id), '{}') as regions,
        coalesce(array_agg(a.stands_in_for order by a.probe_id), '{}') as stand_in_for,
        coalesce(array_agg(coalesce(votes.are_there, false) order by a.probe_id), '{}') as have_voted
      from assignments a
        left join back on back.probe_id = a.probe_id and a.stands_in_for is null
        left join lateral (
          select range_agg(tstzrange(own.started_at, own.ended_at)) @> tstzrange(known.until - ${votedFor}, known.until, '[]')
            as are_there
          from (select least(${now}, folded_until) as until from shards where shard = monitor.shard) known
            join probe_ranges own on own.monitor_id = monitor.id and own.probe_id = back.probe_id
              and (own.ended_at is null or own.ended_at > known.until - ${votedFor})
          where known.until - ${votedFor} >= back.returned_at
          group by known.until
        ) votes on back.probe_id is not null and exists (
          select from assignments filling
          where filling.monitor_id = monitor.id and filling.stands_in_for = a.probe_id and filling.ended_at is null)
      where a.monitor_id = monitor.id and a.ended_at is null
    ) open
    where monitor.id = any (${sql.array([...monitorIds], 'int4')}) order by monitor.id`);
  return rows.map(toMonitor);
}

function toMonitor(row: z.infer<typeof monitorRow>): SupplementedMonitor {
  const open = row.probe_ids.map((probeId, index) => ({
    probeId,
    region: row.regions[index] ?? '',
    standsInFor: row.stand_in_for[index] ?? null,
    hasVotedAgain: row.have_voted[index] ?? false,
  }));
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    protocol: row.protocol,
    url: row.url,
    settings: row.settings,
    wantedProbeIds: row.wanted_probe_ids,
    wantedRegions: row.wanted_regions,
    isActive: row.is_active,
    seats: open.flatMap(({ standsInFor, ...seat }) => (standsInFor === null ? [seat] : [])),
    supplements: open.flatMap(({ probeId, region, standsInFor }) =>
      standsInFor === null ? [] : [{ probeId, region, standsInFor }],
    ),
  };
}
