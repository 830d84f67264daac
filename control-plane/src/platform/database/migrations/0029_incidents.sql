-- Incidents with members: what fails for one cause is one incident. A member is one outage of one subject, which is a monitor, a heartbeat
-- or a webhook check; an incident by hand may have members that nobody measures.
alter table incidents
  drop constraint incidents_workspace_id_monitor_id_fkey,
  drop constraint incidents_resolution_check,
  add constraint incidents_resolution_check
    check (resolution in ('auto', 'manual', 'paused', 'corrected', 'deleted', 'folded')),
  add foreign key (workspace_id) references workspaces,
  add unique (workspace_id, id),
  add column description text not null default '' check (length(description) <= 2000),
  add column postmortem text check (length(postmortem) <= 50000),
  add column is_manual boolean not null default false,
  -- The title was given by somebody: it does not follow the members.
  add column has_own_title boolean not null default false,
  add column assignee_id integer references users on delete set null,
  add column acknowledged_by integer references users on delete set null,
  add column resolved_by integer references users on delete set null,
  -- What its members have in common: "address:192.0.2.1". null: nothing folds into it.
  add column fold_key text check (length(fold_key) <= 300),
  -- Of an incident that turned out to be part of another.
  add column folded_into integer,
  -- Hidden, and kept so that late results do not bring the same outages back.
  add column deleted_at timestamptz,
  -- What was announced of it: how often, when last, of how many members; when the next message is due; held back by a maintenance.
  add column told_seq integer not null default 0,
  add column told_at timestamptz,
  add column told_members integer not null default 0,
  add column tell_at timestamptz,
  add column held_at timestamptz,
  -- It was resolved by hand while something still failed: the recovery of that is to be told.
  add column awaits_recovery boolean not null default false;
-- Those of before were acted upon already.
update incidents set told_seq = 1, told_at = created_at, told_members = 1;
alter table incidents add foreign key (workspace_id, folded_into) references incidents (workspace_id, id) on update cascade on delete cascade;
create index incidents_folding on incidents (workspace_id, fold_key) where fold_key is not null;
create index incidents_due on incidents (tell_at) where tell_at is not null;
create index incidents_held on incidents (workspace_id) where held_at is not null;
create index incidents_folded on incidents (workspace_id, folded_into) where folded_into is not null;

create table incident_members (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  incident_id integer not null,
  subject_type text not null check (subject_type in ('monitor', 'heartbeat', 'webhook_check')),
  subject_id integer not null,
  -- As it was when it began; shown when there is no subject any more.
  name text not null,
  -- What the incident is called when this is its only member.
  title text not null check (length(title) between 1 and 200),
  -- Onset as the timeline has it: moves with late results while the identifier stays.
  started_at timestamptz not null,
  ended_at timestamptz,
  resolution text check (resolution in ('auto', 'manual', 'paused', 'corrected', 'deleted')),
  -- How far apart the onsets of others may be for one cause.
  window_seconds integer not null default 60,
  -- The first is what it began with; others are what it changed to.
  causes jsonb not null default '[]' check (jsonb_typeof(causes) = 'array'),
  detected_late boolean not null default false,
  -- Named by a person: nobody measures when it ends.
  is_manual boolean not null default false,
  check ((ended_at is null) = (resolution is null)),
  foreign key (workspace_id, incident_id) references incidents (workspace_id, id) on update cascade on delete cascade
);
create unique index incident_members_open on incident_members (subject_type, subject_id) where ended_at is null and not is_manual;
create index incident_members_incident on incident_members (incident_id, started_at, id);
create index incident_members_subject on incident_members (subject_type, subject_id, started_at);

insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution, causes, detected_late)
select i.workspace_id, i.id, 'monitor', i.monitor_id, m.name, i.title, i.started_at, i.resolved_at,
  case when i.resolved_at is not null then coalesce(i.resolution, 'auto') end,
  jsonb_build_array(i.cause || jsonb_build_object('at', to_char(i.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
  i.detected_late
from incidents i join monitors m on m.id = i.monitor_id;
-- The index of the one open incident of a monitor goes with the column.
alter table incidents drop column monitor_id, drop column cause;

create table incident_updates (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  incident_id integer not null,
  kind text not null check (kind in ('investigating', 'identified', 'monitoring', 'resolved', 'note')),
  body text not null check (length(body) between 1 and 10000),
  is_public boolean not null,
  author_id integer references users on delete set null,
  created_at timestamptz not null default clock_timestamp(),
  foreign key (workspace_id, incident_id) references incidents (workspace_id, id) on update cascade on delete cascade
);
create index incident_updates_incident on incident_updates (incident_id, id);

alter table incident_members enable row level security;
alter table incident_members force row level security;
create policy incident_members_of_tenant on incident_members using (workspace_id = any (current_workspaces()));
alter table incident_updates enable row level security;
alter table incident_updates force row level security;
create policy incident_updates_of_tenant on incident_updates using (workspace_id = any (current_workspaces()));
grant select, insert, update, delete on incidents, incident_members, incident_updates to parallax_api;
grant usage, select on sequence incident_members_id_seq, incident_updates_id_seq to parallax_api;
