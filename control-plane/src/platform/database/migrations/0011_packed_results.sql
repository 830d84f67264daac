-- Hours that ended before this are closed: they are packed, and a result that comes later reopens its hour. Moved under the lock of
-- the row, which every round of the ingest takes, so a round knows which hours its results reopen.
alter table shards add column closed_until timestamptz;

-- One row: from where on results stand in `check_results`. Older ones stand in `result_hours` only. Moved before the partitions that it
-- leaves behind are dropped, so that a reader never looks at one that goes.
create table result_storage (
  is_one boolean primary key default true check (is_one),
  -- Start of a UTC day.
  hot_from timestamptz not null default '-infinity',
  moved_at timestamptz not null default now()
);
insert into result_storage default values;
grant select on result_storage to parallax_api;

-- An hour of one monitor and probe (0: the control plane itself). Partitioned by week of the hour; no foreign key: see ARCHITECTURE.md.
create table result_hours (
  monitor_id integer not null,
  -- Whole hours since 1970-01-01 UTC.
  hour integer not null,
  probe_id integer not null,
  -- Rows in the chunk, of every kind.
  results integer not null check (results > 0),
  -- The latest of them that nobody asked for by hand, null when there is none: what a list shows of a monitor that is silent for days.
  -- Milliseconds within the hour.
  last_ms integer,
  last_total_us integer,
  last_flags smallint,
  -- Numbers of outcomes and the sketch of latencies: control-plane/src/monitoring/check-results/packed/summary.ts.
  summary bytea not null,
  -- The rows in columns: control-plane/src/monitoring/check-results/packed/chunk.ts.
  chunk bytea not null,
  primary key (monitor_id, hour, probe_id)
) partition by range (hour);
-- It is compressed already; a long one is kept apart from the row without another try.
alter table result_hours alter column chunk set storage external;

-- The latest packed result of a monitor that nobody asked for by hand, of those since a time (null: of all). As a function it costs a query nothing
-- that does not call it; written out, each query would plan for every partition.
create function last_packed_result(monitor integer, since timestamptz)
  returns table (e timestamptz, total_us integer, flags integer, probe_id integer)
  language plpgsql stable rows 1
  -- One plan for all calls: planning costs more than reading.
  set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    select to_timestamp(h.hour * 3600.0 + h.last_ms / 1000.0), h.last_total_us, h.last_flags::integer, h.probe_id from result_hours h
    where h.monitor_id = monitor and h.hour >= coalesce(floor(extract(epoch from since) / 3600)::integer, 0) and h.last_ms is not null
      and to_timestamp(h.hour * 3600.0 + h.last_ms / 1000.0) >= coalesce(date_trunc('milliseconds', since), '-infinity')
    order by h.hour desc, h.last_ms desc, h.probe_id desc limit 1;
end
$$;
grant execute on function last_packed_result to parallax_api;

-- The same for a UTC day, merged from its hours and without their rows. Partitioned by thirteen weeks.
create table result_days (
  monitor_id integer not null,
  -- Whole days since 1970-01-01 UTC.
  day integer not null,
  probe_id integer not null,
  results integer not null check (results > 0),
  summary bytea not null,
  primary key (monitor_id, day, probe_id)
) partition by range (day);
grant select on result_hours, result_days to parallax_api;

-- Closed hours and days that are not wholly packed: a worker takes the monitors in order of their numbers, a batch a transaction.
create table packing_jobs (
  kind text not null check (kind in ('hour', 'day')),
  shard integer not null,
  -- The hour or the day, counted as above.
  at integer not null,
  -- Monitors below it are done.
  next_monitor_id integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (kind, shard, at)
);
grant select on packing_jobs to parallax_api;

-- Closed hours of a monitor in which a result was stored since: written in the transaction that stored it, removed by the one that
-- packs the hour again. Counts of such an hour are taken from its rows.
create table stale_hours (
  monitor_id integer not null,
  hour integer not null,
  noted_at timestamptz not null default now(),
  primary key (monitor_id, hour)
);
create index stale_hours_noted on stale_hours (noted_at);
grant select on stale_hours to parallax_api;

-- The owner of the monitor's shard derives its ranges from here on anew, and clears this with the first edits that it makes of them.
alter table monitors add column refold_from timestamptz;

-- Makes the partitions that hold hours [first, last]; at most 60 days at once. Repeating it changes nothing. A table that is attached holds up
-- nobody; one that is made as a partition waits for everybody who reads, and everybody else behind it.
create function ensure_hour_partitions(first_hour integer, last_hour integer) returns void
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  week constant integer := 168;
  at integer := first_hour / week * week;
  name text;
begin
  if last_hour - first_hour > 60 * 24 then
    raise exception 'more than 60 days of packed results at once';
  end if;
  perform pg_advisory_xact_lock(hashtext('packed results partitions'));
  while at <= last_hour loop
    name := 'result_hours_' || at;
    if to_regclass(name) is null then
      execute format('create table %I (like result_hours including defaults including constraints including storage)', name);
      execute format('alter table result_hours attach partition %I for values from (%s) to (%s)', name, at, at + week);
      execute format('grant select, insert, update, delete on %I to parallax_worker', name);
    end if;
    at := at + week;
  end loop;
end
$$;

-- Makes the partitions that hold days [first, last]; at most 60 at once. Repeating it changes nothing.
create function ensure_day_partitions(first_day integer, last_day integer) returns void
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  quarter constant integer := 91;
  at integer := first_day / quarter * quarter;
  name text;
begin
  if last_day - first_day > 60 then
    raise exception 'more than 60 days of packed results at once';
  end if;
  perform pg_advisory_xact_lock(hashtext('packed results partitions'));
  while at <= last_day loop
    name := 'result_days_' || at;
    if to_regclass(name) is null then
      execute format('create table %I (like result_days including defaults including constraints including storage)', name);
      execute format('alter table result_days attach partition %I for values from (%s) to (%s)', name, at, at + quarter);
      execute format('grant select, insert, update, delete on %I to parallax_worker', name);
    end if;
    at := at + quarter;
  end loop;
end
$$;

-- Both, for the hours [first, last] and the days that they lie in.
create function ensure_packed_partitions(first_hour integer, last_hour integer) returns void
  language plpgsql security definer set search_path = public, pg_temp
as $$
begin
  perform ensure_hour_partitions(first_hour, last_hour);
  perform ensure_day_partitions(first_hour / 24, last_hour / 24);
end
$$;

-- As in 0004, but for the attaching, and for days before the boundary, which it refuses: what would be stored there nobody reads, and it goes
-- with the day.
create or replace function ensure_result_partitions(first timestamptz, last timestamptz) returns void
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  day date := (first at time zone 'UTC')::date;
  final date := (last at time zone 'UTC')::date;
  boundary timestamptz;
  name text;
begin
  if final - day > 60 then
    raise exception 'more than 60 days of results at once';
  end if;
  select hot_from into boundary from result_storage;
  if day::timestamp at time zone 'UTC' < boundary then
    raise exception 'results of % are packed: those before % are stored no more', day, boundary
      using errcode = 'check_violation';
  end if;
  perform pg_advisory_xact_lock(hashtext('check_results partitions'));
  while day <= final loop
    if to_regclass(format('check_results_%s', to_char(day, 'YYYYMMDD'))) is null then
      name := 'check_results_' || to_char(day, 'YYYYMMDD');
      execute format('create table %I (like check_results including defaults including constraints including storage)', name);
      execute format(
        'alter table check_results attach partition %I for values from (%L) to (%L)',
        name, (day::timestamp at time zone 'UTC')::text, ((day + 1)::timestamp at time zone 'UTC')::text);
      execute format('grant select, insert, delete on %I to parallax_worker', name);
    end if;
    day := day + 1;
  end loop;
end
$$;

-- Drops the oldest day of `check_results` before the boundary, a minute after that was moved at the earliest: whoever had read it before
-- is done. Gives its name, null when there is none. The caller sets a short lock_timeout: everybody else waits behind it.
create function drop_packed_day() returns text
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  name text;
begin
  select min(part.relname) into name
  from pg_inherits i join pg_class part on part.oid = i.inhrelid, result_storage s
  where i.inhparent = 'check_results'::regclass and part.relname ~ '^check_results_[0-9]{8}$'
    and (to_date(right(part.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'UTC' <= s.hot_from
    and s.moved_at <= now() - interval '60 seconds';
  if name is not null then
    execute format('drop table %I', name);
  end if;
  return name;
end
$$;

-- Drops the oldest partition of `result_hours` whose hours all lie before this one, but none that is younger than thirty days. Gives its
-- name, null when there is none.
create function drop_hour_partition(before_hour integer) returns text
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  week constant integer := 168;
  limit_hour integer := least(before_hour, extract(epoch from now() - interval '30 days')::bigint / 3600);
  start_hour integer;
begin
  select min(substring(part.relname from '[0-9]+$')::integer) into start_hour
  from pg_inherits i join pg_class part on part.oid = i.inhrelid
  where i.inhparent = 'result_hours'::regclass and part.relname ~ '^result_hours_[0-9]+$';
  if start_hour is null or start_hour + week > limit_hour then
    return null;
  end if;
  execute format('drop table %I', 'result_hours_' || start_hour);
  return 'result_hours_' || start_hour;
end
$$;

-- The same for `result_days`, and none that is younger than a year.
create function drop_day_partition(before_day integer) returns text
  language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  quarter constant integer := 91;
  limit_day integer := least(before_day, extract(epoch from now() - interval '1 year')::bigint / 86400);
  start_day integer;
begin
  select min(substring(part.relname from '[0-9]+$')::integer) into start_day
  from pg_inherits i join pg_class part on part.oid = i.inhrelid
  where i.inhparent = 'result_days'::regclass and part.relname ~ '^result_days_[0-9]+$';
  if start_day is null or start_day + quarter > limit_day then
    return null;
  end if;
  execute format('drop table %I', 'result_days_' || start_day);
  return 'result_days_' || start_day;
end
$$;

-- What is kept for a time only is found by it.
create index result_evidence_time on result_evidence (e);
create index lost_results_received on lost_results (received_at);
create index assignments_ended_supplements on assignments (ended_at) where supplement and ended_at is not null;
