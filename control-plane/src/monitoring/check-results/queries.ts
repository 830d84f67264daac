import { sql } from '../../platform/database/pools.ts';

/**
 * Joins the newest scheduled or recheck result since the reset to each row of a query whose monitors stand under the alias `m`: columns
 * `latest.e`, `latest.total_us`, `latest.flags`, `latest.probe_id`, null where none is kept. Packed hours are looked at for those only that
 * have no such row any more: nothing came for two days. For lists of at most a page.
 */
export const latestResultJoin = sql.fragment`
  left join lateral (
    select r.e, r.total_us, r.flags, r.probe_id from check_results r
    where r.monitor_id = m.id and r.flags & 3 <> 2 and r.e >= coalesce(m.reset_at, '-infinity')
    order by r.e desc, r.probe_id desc limit 1
  ) hot on true
  left join lateral (
    -- Without the limit the condition would be one of the join, and the function called for every monitor.
    select p.e, p.total_us, p.flags, p.probe_id from last_packed_result(m.id, m.reset_at) p where hot.e is null limit 1
  ) packed on true
  cross join lateral (
    select coalesce(hot.e, packed.e) as e, coalesce(hot.total_us, packed.total_us) as total_us,
      coalesce(hot.flags, packed.flags) as flags, coalesce(hot.probe_id, packed.probe_id) as probe_id
  ) latest`;
