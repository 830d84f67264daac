-- All that a window of results nearly always needs, as one value: where rows begin, its days, the hours beside them, which hours are stale, and the
-- newest rows. Put together of the binary forms of the columns, which control-plane/src/monitoring/check-results/reading/rollups/queries.ts takes apart;
-- −1 ends each part. A function because its plan is kept by the connection: planning the statement anew costs more than running it. It must
-- stay stable: that is what makes all of it one snapshot, by which no result is counted twice or missed.
create function window_sums(
  monitor integer,
  -- null: all.
  probes integer[],
  -- Days and hours since 1970-01-01 UTC, half-open; nothing where they do not begin before they end.
  first_day integer, end_day integer,
  first_hour integer, end_hour integer,
  -- Further hours, which do not overlap with those.
  more_first_hour integer, more_end_hour integer,
  -- Hours whose chunk follows their summary.
  edge_hour integer, other_edge_hour integer,
  stale_first_hour integer, stale_end_hour integer,
  rows_from timestamptz, rows_to timestamptz,
  most_rows integer
) returns bytea
  language plpgsql stable
  -- One plan for all calls, which leaves out the partitions that a call needs nothing of. It must suit tables that were empty when it was made.
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  return (select timestamptz_send(greatest(s.hot_from, 'epoch')) from result_storage s)
    || coalesce((
      -- Two numbers as one: what costs most is each value that is put together.
      select string_agg(
        int8send(d.day::bigint << 32 | d.probe_id::bigint) || int8send(d.results::bigint << 32 | octet_length(d.summary)::bigint) || d.summary, '')
      from result_days d
      where d.monitor_id = monitor and d.day >= first_day and d.day < end_day and (probes is null or d.probe_id = any (probes))
    ), '') || '\xffffffff'::bytea
    || coalesce((
      select string_agg(
        int8send(h.hour::bigint << 32 | h.probe_id::bigint) || int8send(h.results::bigint << 32 | octet_length(h.summary)::bigint) || h.summary
          || case when h.hour in (edge_hour, other_edge_hour) then int4send(octet_length(h.chunk)) || h.chunk else '\x00000000' end, '')
      from result_hours h
      where h.monitor_id = monitor and h.hour >= first_hour and h.hour < end_hour and (probes is null or h.probe_id = any (probes))
    ), '')
    || coalesce((
      select string_agg(
        int8send(h.hour::bigint << 32 | h.probe_id::bigint) || int8send(h.results::bigint << 32 | octet_length(h.summary)::bigint) || h.summary
          || case when h.hour in (edge_hour, other_edge_hour) then int4send(octet_length(h.chunk)) || h.chunk else '\x00000000' end, '')
      from result_hours h
      where h.monitor_id = monitor and h.hour >= more_first_hour and h.hour < more_end_hour and (probes is null or h.probe_id = any (probes))
    ), '') || '\xffffffff'::bytea
    || coalesce((
      select string_agg(int4send(s.hour), '') from stale_hours s
      where s.monitor_id = monitor and s.hour >= stale_first_hour and s.hour < stale_end_hour
    ), '') || '\xffffffff'::bytea
    || coalesce((
      select string_agg(timestamptz_send(r.e) || int8send(r.probe_id::bigint << 32 | r.flags::bigint) || int4send(r.total_us), '') from (
        select r.e, r.probe_id, r.flags, r.total_us from check_results r
        where r.monitor_id = monitor and r.e >= rows_from and r.e < rows_to and (probes is null or r.probe_id = any (probes))
        limit most_rows
      ) r
    ), '');
end
$$;
grant execute on function window_sums to parallax_api;
