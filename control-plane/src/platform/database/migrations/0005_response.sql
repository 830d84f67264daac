create table incidents (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  monitor_id integer not null,
  title text not null check (length(title) between 1 and 200),
  status text not null default 'open' check (status in ('open', 'acknowledged', 'resolved')),
  severity text not null default 'major' check (severity in ('minor', 'major', 'critical')),
  resolution text check (resolution in ('auto', 'manual', 'paused', 'corrected', 'deleted')),
  -- Onset as the timeline has it: moves with late results while the identifier stays.
  started_at timestamptz not null,
  resolved_at timestamptz,
  acknowledged_at timestamptz,
  cause jsonb not null default '{}',
  detected_late boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status = 'resolved') = (resolved_at is not null)),
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create unique index incidents_open on incidents (monitor_id) where status <> 'resolved';
create index incidents_workspace on incidents (workspace_id, started_at desc, id desc);

alter table incidents enable row level security;
alter table incidents force row level security;
create policy incidents_of_tenant on incidents using (workspace_id = any (current_workspaces()));
grant select, insert, update on incidents to parallax_api;
grant usage, select on all sequences in schema public to parallax_api;
