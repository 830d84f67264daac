-- Maintenance: times that are planned, in which announcements are held and which count for no uptime.
create table maintenance (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  covers_all boolean not null default false,
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  -- The first occurrence; the rule (RFC 5545) repeats it by the wall clock of the zone.
  starts_at timestamptz not null,
  duration_seconds integer not null check (duration_seconds between 60 and 2678400),
  rrule text check (length(rrule) <= 500),
  timezone text not null default 'UTC' check (length(timezone) between 1 and 100),
  exdates timestamptz[] not null default '{}' check (cardinality(exdates) <= 500),
  status text not null default 'scheduled' check (status in ('scheduled', 'active', 'completed', 'cancelled')),
  -- The next occurrence, which the clock starts: a deadline that survives a restart, claimed by an update that names it.
  next_starts_at timestamptz,
  next_ends_at timestamptz,
  next_is_shifted boolean not null default false,
  -- Of an imported event.
  uid text check (length(uid) between 1 and 500),
  -- Hidden from then on; its rows go when what its last occurrence held is released.
  deleted_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, id),
  check (next_starts_at < next_ends_at),
  check ((next_starts_at is null) = (next_ends_at is null)),
  check (status <> 'scheduled' or next_starts_at is not null),
  check (status not in ('completed', 'cancelled') or next_starts_at is null)
);
create index maintenance_due on maintenance (next_starts_at) where status = 'scheduled';
create index maintenance_workspace on maintenance (workspace_id, starts_at desc, id desc) where deleted_at is null;
create unique index maintenance_uid on maintenance (workspace_id, uid) where deleted_at is null;
create index maintenance_deleted on maintenance (id) where deleted_at is not null;

-- What it covers beside tags. All are of its workspace, always: a monitor that is moved elsewhere must have left it.
create table maintenance_monitors (
  workspace_id integer not null,
  maintenance_id integer not null,
  monitor_id integer not null,
  primary key (maintenance_id, monitor_id),
  foreign key (workspace_id, maintenance_id) references maintenance (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create index maintenance_monitors_monitor on maintenance_monitors (monitor_id);
create table maintenance_groups (
  workspace_id integer not null,
  maintenance_id integer not null,
  group_id integer not null,
  primary key (maintenance_id, group_id),
  foreign key (workspace_id, maintenance_id) references maintenance (workspace_id, id) on delete cascade,
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade
);
create index maintenance_groups_group on maintenance_groups (group_id);
create table maintenance_heartbeats (
  workspace_id integer not null,
  maintenance_id integer not null,
  heartbeat_id integer not null,
  primary key (maintenance_id, heartbeat_id),
  foreign key (workspace_id, maintenance_id) references maintenance (workspace_id, id) on delete cascade,
  foreign key (workspace_id, heartbeat_id) references heartbeats (workspace_id, id) on delete cascade
);
create index maintenance_heartbeats_heartbeat on maintenance_heartbeats (heartbeat_id);
create table maintenance_webhook_checks (
  workspace_id integer not null,
  maintenance_id integer not null,
  webhook_check_id integer not null,
  primary key (maintenance_id, webhook_check_id),
  foreign key (workspace_id, maintenance_id) references maintenance (workspace_id, id) on delete cascade,
  foreign key (workspace_id, webhook_check_id) references webhook_checks (workspace_id, id) on delete cascade
);
create index maintenance_webhook_checks_check on maintenance_webhook_checks (webhook_check_id);

-- Those that have started. Their times never change; their end is written once.
create table maintenance_occurrences (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  maintenance_id integer not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz,
  end_reason text check (end_reason in ('elapsed', 'ended', 'cancelled', 'deleted')),
  -- When all that it covered was released after its end.
  released_at timestamptz,
  foreign key (workspace_id, maintenance_id) references maintenance (workspace_id, id) on delete cascade,
  check (starts_at < ends_at),
  check ((ended_at is null) = (end_reason is null)),
  check (released_at is null or ended_at is not null)
);
-- One at a time: two workers that start the same one make one.
create unique index maintenance_occurrences_open on maintenance_occurrences (maintenance_id) where ended_at is null;
create unique index maintenance_occurrences_start on maintenance_occurrences (maintenance_id, starts_at);
create index maintenance_occurrences_due on maintenance_occurrences (ends_at) where ended_at is null;
create index maintenance_occurrences_unreleased on maintenance_occurrences (id) where ended_at is not null and released_at is null;

-- When subjects were under maintenance: who joins what is covered, or leaves it, is in it for that part only. Like pauses they are inputs of
-- the timeline, and kept when the maintenance is deleted; those of a monitor that is moved go along with it.
create table maintenance_subjects (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  occurrence_id integer not null,
  subject_type text not null check (subject_type in ('monitor', 'heartbeat', 'webhook_check')),
  subject_id integer not null,
  started_at timestamptz not null,
  ended_at timestamptz check (ended_at > started_at)
);
create unique index maintenance_subjects_open on maintenance_subjects (occurrence_id, subject_type, subject_id) where ended_at is null;
create index maintenance_subjects_subject on maintenance_subjects (subject_type, subject_id, started_at);
-- Asked by every outage that begins.
create index maintenance_subjects_lasting on maintenance_subjects (subject_type, subject_id) where ended_at is null;

-- A calendar program shows no credentials but this; the owner rotates it.
create table calendar_tokens (
  workspace_id integer primary key references workspaces,
  token_hash bytea not null unique check (length(token_hash) = 32),
  -- To be shown again to editors.
  token_sealed bytea not null,
  created_at timestamptz not null default now()
);

alter table maintenance enable row level security;
alter table maintenance force row level security;
create policy maintenance_of_tenant on maintenance using (workspace_id = any (current_workspaces()));
alter table maintenance_monitors enable row level security;
alter table maintenance_monitors force row level security;
create policy maintenance_monitors_of_tenant on maintenance_monitors using (workspace_id = any (current_workspaces()));
alter table maintenance_groups enable row level security;
alter table maintenance_groups force row level security;
create policy maintenance_groups_of_tenant on maintenance_groups using (workspace_id = any (current_workspaces()));
alter table maintenance_occurrences enable row level security;
alter table maintenance_occurrences force row level security;
create policy maintenance_occurrences_of_tenant on maintenance_occurrences using (workspace_id = any (current_workspaces()));
alter table maintenance_heartbeats enable row level security;
alter table maintenance_heartbeats force row level security;
create policy maintenance_heartbeats_of_tenant on maintenance_heartbeats using (workspace_id = any (current_workspaces()));
alter table maintenance_webhook_checks enable row level security;
alter table maintenance_webhook_checks force row level security;
create policy maintenance_webhook_checks_of_tenant on maintenance_webhook_checks using (workspace_id = any (current_workspaces()));
alter table maintenance_subjects enable row level security;
alter table maintenance_subjects force row level security;
create policy maintenance_subjects_of_tenant on maintenance_subjects using (workspace_id = any (current_workspaces()));
alter table calendar_tokens enable row level security;
alter table calendar_tokens force row level security;
create policy calendar_tokens_of_tenant on calendar_tokens using (workspace_id = any (current_workspaces()));
create policy lookups_of_owner on calendar_tokens to current_user using (true) with check (true);

grant select, insert, update, delete on maintenance_monitors, maintenance_groups, maintenance_heartbeats, maintenance_webhook_checks to parallax_api;
grant select, insert, update on maintenance, calendar_tokens to parallax_api;
grant select on maintenance_occurrences, maintenance_subjects to parallax_api;
-- The start of an occurrence never changes, and requests only end it.
grant update (ended_at, end_reason) on maintenance_occurrences to parallax_api;
-- Hook of monitors that are moved, in the transactions of requests.
grant update (workspace_id, ended_at) on maintenance_subjects to parallax_api;
grant usage, select on sequence maintenance_id_seq to parallax_api;

-- Whose calendar a token opens.
create function identity_calendar(given_hash bytea) returns integer
  language sql stable security definer set search_path = public, pg_temp
  return (
    select c.workspace_id from calendar_tokens c join workspaces w on w.id = c.workspace_id
    where c.token_hash = given_hash and w.deleted_at is null);
revoke execute on function identity_calendar(bytea) from public, parallax_worker;
grant execute on function identity_calendar(bytea) to parallax_api;
