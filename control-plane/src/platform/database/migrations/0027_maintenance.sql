-- Windows of maintenance. A window is one time or a series; what of it has begun is an occurrence, which stays as it was.
create table maintenance_windows (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  title text not null check (length(title) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  status text not null default 'scheduled' check (status in ('scheduled', 'active', 'completed', 'cancelled')),
  -- All subjects of the workspace; else what `maintenance_scopes` lists.
  is_for_all boolean not null default false,
  starts_at timestamptz not null,
  duration_seconds integer not null check (duration_seconds between 60 and 2678400),
  -- RFC 5545, section 3.3.10; null: one time.
  rrule text check (length(rrule) <= 500),
  timezone text not null check (length(timezone) <= 100),
  exdates timestamptz[] not null default '{}' check (cardinality(exdates) <= 500),
  -- The next occurrence; null where none is to come.
  next_starts_at timestamptz,
  next_ends_at timestamptz,
  -- Of the calendar that it was imported from.
  ics_uid text check (length(ics_uid) <= 500),
  created_by integer references users on delete set null,
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  unique (workspace_id, id),
  check ((next_starts_at is null) = (next_ends_at is null))
);
create index maintenance_windows_workspace on maintenance_windows (workspace_id, starts_at desc, id desc);
create index maintenance_windows_due on maintenance_windows (next_starts_at) where status = 'scheduled' and deleted_at is null;
create unique index maintenance_windows_uid on maintenance_windows (workspace_id, ics_uid) where ics_uid is not null and deleted_at is null;

-- What a window is for: one of the three in each row. Heartbeats and webhook checks are named by type and number.
create table maintenance_scopes (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  window_id integer not null,
  subject_type text check (subject_type in ('monitor', 'heartbeat', 'webhook_check')),
  subject_id integer,
  group_id integer,
  tag text check (length(tag) between 1 and 50),
  check (num_nonnulls(subject_id, group_id, tag) = 1 and (subject_id is null) = (subject_type is null)),
  unique nulls not distinct (window_id, subject_type, subject_id, group_id, tag),
  foreign key (workspace_id, window_id) references maintenance_windows (workspace_id, id) on delete cascade,
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade
);
create index maintenance_scopes_subject on maintenance_scopes (subject_type, subject_id) where subject_id is not null;

create table maintenance_occurrences (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  window_id integer not null,
  starts_at timestamptz not null,
  -- As planned when it began.
  ends_at timestamptz not null check (ends_at > starts_at),
  -- When it was over; earlier than planned where somebody ended it. null: it is under way.
  ended_at timestamptz check (ended_at >= starts_at),
  unique (window_id, starts_at),
  unique (workspace_id, id),
  foreign key (workspace_id, window_id) references maintenance_windows (workspace_id, id) on delete cascade
);
create index maintenance_occurrences_open on maintenance_occurrences (ends_at) where ended_at is null;

-- What an occurrence covered, and when: left out of uptime, and its announcements are held. Like a pause it stays whatever the window becomes.
create table maintenance_subjects (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  occurrence_id integer,
  subject_type text not null check (subject_type in ('monitor', 'heartbeat', 'webhook_check')),
  subject_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz check (ended_at >= started_at),
  foreign key (workspace_id, occurrence_id) references maintenance_occurrences (workspace_id, id) on delete cascade
);
create unique index maintenance_subjects_once on maintenance_subjects (occurrence_id, subject_type, subject_id) where ended_at is null;
create index maintenance_subjects_subject on maintenance_subjects (subject_type, subject_id, started_at);

-- Who has the token reads the workspace's windows as a calendar, without an account. Its hash alone is kept.
create table calendar_tokens (
  workspace_id integer primary key references workspaces on delete cascade,
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_by integer references users on delete set null,
  created_at timestamptz not null default clock_timestamp()
);

do $$
declare
  made text;
begin
  foreach made in array array['maintenance_windows', 'maintenance_scopes', 'maintenance_occurrences', 'maintenance_subjects', 'calendar_tokens'] loop
    execute format('alter table %I enable row level security', made);
    execute format('alter table %I force row level security', made);
    execute format('create policy %I on %I using (workspace_id = any (current_workspaces()))', made || '_of_tenant', made);
    execute format('grant select, insert, update, delete on %I to parallax_api', made);
  end loop;
end
$$;
grant usage, select on sequence maintenance_windows_id_seq, maintenance_scopes_id_seq, maintenance_occurrences_id_seq, maintenance_subjects_id_seq to parallax_api;

create policy lookups_of_owner on calendar_tokens to current_user using (true);

-- The workspace of a calendar token; null for a token that nobody has.
create function identity_calendar_workspace(of_hash bytea) returns integer
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.workspace_id from calendar_tokens c join workspaces w on w.id = c.workspace_id
    where c.token_hash = of_hash and w.deleted_at is null;
  end;
revoke execute on function identity_calendar_workspace(bytea) from public, parallax_worker;
grant execute on function identity_calendar_workspace(bytea) to parallax_api;
