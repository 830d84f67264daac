import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';

const countRow = z.object({ n: z.number() });
const hourMs = 3_600_000;

/** Incidents of the scope that are not resolved. */
export async function countOpenIncidents(scope: Scope, transaction: Transaction): Promise<number> {
  return transaction.oneFirst(sql.type(countRow)`
    select count(*)::integer as n from incidents
    where workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and status <> 'resolved' and deleted_at is null`);
}

/**
 * Results of the monitors of the scope since a time of the last two days (milliseconds since the epoch), those by hand included. Packed
 * hours know their number; rows are counted only where an hour is not packed, waits to be packed anew, or counts in part. Results of before a
 * reset are void.
 */
export async function countChecks(scope: Scope, transaction: Transaction, sinceMs: number): Promise<number> {
  const since = sql.timestamp(new Date(sinceMs));
  const firstHour = Math.floor(sinceMs / hourMs);
  return transaction.oneFirst(sql.type(countRow)`
    with hours as (
      select hour, to_timestamp(hour * 3600.0) as begins, to_timestamp((hour + 1) * 3600.0) as ends
      from generate_series(${firstHour}::integer, floor(extract(epoch from now()) / 3600)::integer) as hour)
    select coalesce(sum(coalesce(packed.n, counted.n)), 0)::float8 as n
    from monitors m cross join hours
    left join lateral (
      select sum(h.results) as n from result_hours h
      where h.monitor_id = m.id and h.hour = hours.hour
        and hours.begins >= greatest(${since}::timestamptz, m.reset_at)
        and not exists (select from stale_hours s where s.monitor_id = m.id and s.hour = hours.hour)
    ) packed on true
    left join lateral (
      select count(*) as n from check_results r
      where packed.n is null and r.monitor_id = m.id
        and r.e >= greatest(hours.begins, ${since}::timestamptz, m.reset_at) and r.e < hours.ends
    ) counted on true
    where m.workspace_id = any(${sql.array(scope.workspaceIds, 'int4')}) and m.deleted_at is null`);
}
