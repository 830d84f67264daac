-- Response times of a UTC day of all monitors of a workspace together, by probe: merged from `result_days`, 0 is the control plane itself.
create table latency_days (
  workspace_id integer not null,
  -- Days since the epoch.
  day integer not null,
  probe_id integer not null,
  summary bytea not null,
  primary key (workspace_id, day, probe_id)
);
create index latency_days_day on latency_days (day);
alter table latency_days enable row level security;
alter table latency_days force row level security;
create policy latency_days_of_tenant on latency_days using (workspace_id = any (current_workspaces()));
grant select on latency_days to parallax_api;

-- Days that are to be merged anew. Rows are only added, as in `subject_day_marks`.
create table latency_day_marks (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  day integer not null,
  noted_at timestamptz not null default clock_timestamp()
);

create function mark_latency_days() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into latency_day_marks (workspace_id, day)
  select distinct m.workspace_id, n.day from changed_rows n join monitors m on m.id = n.monitor_id;
  return null;
end
$$;
create trigger result_days_mark_i after insert on result_days referencing new table as changed_rows
  for each statement execute function mark_latency_days();
create trigger result_days_mark_u after update on result_days referencing new table as changed_rows
  for each statement execute function mark_latency_days();
create trigger result_days_mark_d after delete on result_days referencing old table as changed_rows
  for each statement execute function mark_latency_days();

-- A monitor that moves or goes takes its response times along; after a reset its days are removed or merged anew.
create function mark_latency_days_of_monitor() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into latency_day_marks (workspace_id, day)
  select w.id, d.day from (select distinct day from result_days where monitor_id = new.id) d
    cross join (select distinct unnest(array[old.workspace_id, new.workspace_id])) as w (id);
  return null;
end
$$;
create trigger monitors_mark_latency_days after update of workspace_id, deleted_at on monitors for each row
  when ((old.workspace_id, old.deleted_at) is distinct from (new.workspace_id, new.deleted_at))
  execute function mark_latency_days_of_monitor();

insert into latency_day_marks (workspace_id, day)
select distinct m.workspace_id, d.day from result_days d join monitors m on m.id = d.monitor_id where m.deleted_at is null;
