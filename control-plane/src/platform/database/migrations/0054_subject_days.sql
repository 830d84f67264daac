-- Sums of the UTC days of monitors, heartbeats and webhook checks, as measured. A subject's latest row is live: what it counted as at
-- `until_ms` goes on until something is noted below, so a subject to which nothing happens costs two writes a day.
create table subject_days (
  subject_type text not null check (subject_type in ('monitor', 'heartbeat', 'webhook_check')),
  subject_id integer not null,
  workspace_id integer not null,
  -- Days since the epoch.
  day integer not null,
  -- Milliseconds of the day by what they count as. Nothing is excluded: corrections do not count here.
  up_ms integer not null default 0,
  degraded_ms integer not null default 0,
  down_ms integer not null default 0,
  timeout_ms integer not null default 0,
  unknown_ms integer not null default 0,
  maintenance_ms integer not null default 0,
  paused_ms integer not null default 0,
  -- Up to which millisecond of the day the sums reach.
  until_ms integer not null check (until_ms between 0 and 86400000),
  -- What the time from there on counts as, in the order of the columns from 0; null: the day is complete.
  tail smallint check (tail between 0 and 6),
  -- Outages that began on the day and count; those that ended on it, and how long they had lasted.
  outages integer not null default 0,
  repairs integer not null default 0,
  repair_ms bigint not null default 0,
  -- What the day is made of, in order: 8 times the millisecond from which on it counts so, and what it counts as. Null: it is one thing
  -- from the day's beginning on.
  spans integer[],
  primary key (subject_type, subject_id, day),
  check (tail is not null or until_ms = 86400000)
);
create index subject_days_workspace on subject_days (workspace_id, subject_type, day);
create unique index subject_days_live on subject_days (subject_type, subject_id) where tail is not null;
create index subject_days_due on subject_days (day) where tail is not null;

alter table subject_days enable row level security;
alter table subject_days force row level security;
-- The subquery is asked once for a statement, the function alone would be for each of its many rows.
create policy subject_days_of_tenant on subject_days using (workspace_id = any ((select current_workspaces())::integer[]));
grant select on subject_days to parallax_api;

-- Days that are to be summed anew. Rows are only added, so that nobody waits for anybody; who sums takes them away.
create table subject_day_marks (
  id bigint generated always as identity primary key,
  subject_type text not null,
  subject_id integer not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Later where something is not known yet.
  due_at timestamptz not null default '-infinity'
);

-- After a statement on a table of times. Arguments: SQL of the type and of the number of the subject, the key of a row, and what else of a row says what the time counts as.
create function mark_subject_days() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE' then
    execute format($query$
      insert into subject_day_marks (subject_type, subject_id, from_at, to_at)
      select %1$s, n.%2$I, min(
          case when (o.started_at, o.%4$I) is distinct from (n.started_at, n.%4$I) then least(o.started_at, n.started_at)
            else least(coalesce(o.ended_at, 'infinity'), coalesce(n.ended_at, 'infinity')) end),
        max(greatest(coalesce(o.ended_at, 'infinity'), coalesce(n.ended_at, 'infinity')))
      from new_rows n join old_rows o on o.%2$I = n.%2$I and o.%3$I = n.%3$I
      where (o.started_at, o.ended_at, o.%4$I) is distinct from (n.started_at, n.ended_at, n.%4$I)
      group by 1, 2$query$, tg_argv[0], tg_argv[1], tg_argv[2], tg_argv[3]);
  else
    -- What retention removes is older than any sum.
    execute format($query$
      insert into subject_day_marks (subject_type, subject_id, from_at, to_at)
      select %1$s, n.%2$I, min(n.started_at), max(coalesce(n.ended_at, 'infinity')) from %3$I n
      where coalesce(n.ended_at, 'infinity') > now() - interval '731 days'
      group by 1, 2$query$, tg_argv[0], tg_argv[1], case tg_op when 'INSERT' then 'new_rows' else 'old_rows' end);
  end if;
  return null;
end
$$;

create trigger status_ranges_mark_days_i after insert on status_ranges referencing new table as new_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'status');
create trigger status_ranges_mark_days_u after update on status_ranges referencing new table as new_rows old table as old_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'status');
create trigger status_ranges_mark_days_d after delete on status_ranges referencing old table as old_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'status');

create trigger pauses_mark_days_i after insert on pauses referencing new table as new_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'id');
create trigger pauses_mark_days_u after update on pauses referencing new table as new_rows old table as old_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'id');
create trigger pauses_mark_days_d after delete on pauses referencing old table as old_rows
  for each statement execute function mark_subject_days($$'monitor'$$, 'monitor_id', 'id', 'id');

create trigger maintenance_subjects_mark_days_i after insert on maintenance_subjects referencing new table as new_rows
  for each statement execute function mark_subject_days('n.subject_type', 'subject_id', 'id', 'id');
create trigger maintenance_subjects_mark_days_u after update on maintenance_subjects referencing new table as new_rows old table as old_rows
  for each statement execute function mark_subject_days('n.subject_type', 'subject_id', 'id', 'id');
create trigger maintenance_subjects_mark_days_d after delete on maintenance_subjects referencing old table as old_rows
  for each statement execute function mark_subject_days('n.subject_type', 'subject_id', 'id', 'id');

create trigger heartbeat_ranges_mark_days_i after insert on heartbeat_ranges referencing new table as new_rows
  for each statement execute function mark_subject_days($$'heartbeat'$$, 'heartbeat_id', 'started_at', 'status');
create trigger heartbeat_ranges_mark_days_u after update on heartbeat_ranges referencing new table as new_rows old table as old_rows
  for each statement execute function mark_subject_days($$'heartbeat'$$, 'heartbeat_id', 'started_at', 'status');
create trigger heartbeat_ranges_mark_days_d after delete on heartbeat_ranges referencing old table as old_rows
  for each statement execute function mark_subject_days($$'heartbeat'$$, 'heartbeat_id', 'started_at', 'status');

create trigger webhook_check_ranges_mark_days_i after insert on webhook_check_ranges referencing new table as new_rows
  for each statement execute function mark_subject_days($$'webhook_check'$$, 'check_id', 'started_at', 'status');
create trigger webhook_check_ranges_mark_days_u after update on webhook_check_ranges referencing new table as new_rows old table as old_rows
  for each statement execute function mark_subject_days($$'webhook_check'$$, 'check_id', 'started_at', 'status');
create trigger webhook_check_ranges_mark_days_d after delete on webhook_check_ranges referencing old table as old_rows
  for each statement execute function mark_subject_days($$'webhook_check'$$, 'check_id', 'started_at', 'status');

-- A subject that came, went, moved or was reset: all of its days.
create function mark_all_subject_days() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into subject_day_marks (subject_type, subject_id, from_at, to_at)
  values (tg_argv[0], case tg_op when 'DELETE' then old.id else new.id end,
    case tg_op when 'INSERT' then new.created_at else '-infinity' end, 'infinity');
  return null;
end
$$;

create trigger monitors_mark_days after insert or delete on monitors for each row execute function mark_all_subject_days('monitor');
create trigger monitors_mark_days_u after update of workspace_id, reset_at, deleted_at, created_at on monitors for each row
  when ((old.workspace_id, old.reset_at, old.deleted_at, old.created_at)
    is distinct from (new.workspace_id, new.reset_at, new.deleted_at, new.created_at))
  execute function mark_all_subject_days('monitor');
create trigger heartbeats_mark_days after insert or delete on heartbeats for each row execute function mark_all_subject_days('heartbeat');
create trigger heartbeats_mark_days_u after update of workspace_id, deleted_at, created_at on heartbeats for each row
  when ((old.workspace_id, old.deleted_at, old.created_at) is distinct from (new.workspace_id, new.deleted_at, new.created_at))
  execute function mark_all_subject_days('heartbeat');
create trigger webhook_checks_mark_days after insert or delete on webhook_checks for each row
  execute function mark_all_subject_days('webhook_check');
create trigger webhook_checks_mark_days_u after update of workspace_id, deleted_at, created_at on webhook_checks for each row
  when ((old.workspace_id, old.deleted_at, old.created_at) is distinct from (new.workspace_id, new.deleted_at, new.created_at))
  execute function mark_all_subject_days('webhook_check');

-- When the product itself took nothing in, it counts neither way for all that send to it.
create function mark_days_of_intake_outage() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into subject_day_marks (subject_type, subject_id, from_at, to_at)
  select 'heartbeat', h.id, new.from_at, new.to_at from heartbeats h where h.deleted_at is null
  union all
  select 'webhook_check', w.id, new.from_at, new.to_at from webhook_checks w where w.deleted_at is null;
  return null;
end
$$;
create trigger intake_outages_mark_days after insert on intake_outages for each row execute function mark_days_of_intake_outage();

-- What there is already.
insert into subject_day_marks (subject_type, subject_id, from_at, to_at)
select 'monitor', id, created_at, 'infinity'::timestamptz from monitors where deleted_at is null
union all select 'heartbeat', id, created_at, 'infinity' from heartbeats where deleted_at is null
union all select 'webhook_check', id, created_at, 'infinity' from webhook_checks where deleted_at is null;
