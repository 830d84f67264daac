-- Groups of monitors. A paused group pauses its members beside their own switches.
create table monitor_groups (
  id integer generated always as identity primary key,
  workspace_id integer not null references workspaces,
  name text not null check (length(name) between 1 and 200),
  description text not null default '' check (length(description) <= 2000),
  is_paused boolean not null default false,
  tags text[] not null default '{}' check (cardinality(tags) <= 20),
  -- Every change by a route of the group; the ETag.
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, id)
);
create unique index monitor_groups_name on monitor_groups (workspace_id, name);

-- Group and monitor are of one workspace, always: a monitor that is moved elsewhere must have left its groups, else the move fails.
create table monitor_group_members (
  workspace_id integer not null,
  group_id integer not null,
  monitor_id integer not null,
  added_at timestamptz not null default now(),
  primary key (group_id, monitor_id),
  foreign key (workspace_id, group_id) references monitor_groups (workspace_id, id) on delete cascade,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create index monitor_group_members_monitor on monitor_group_members (monitor_id);

alter table monitor_groups enable row level security;
alter table monitor_groups force row level security;
create policy groups_of_tenant on monitor_groups using (workspace_id = any (current_workspaces()));
alter table monitor_group_members enable row level security;
alter table monitor_group_members force row level security;
create policy members_of_tenant on monitor_group_members using (workspace_id = any (current_workspaces()));
grant select, insert, update, delete on monitor_groups, monitor_group_members to parallax_api;
grant usage, select on sequence monitor_groups_id_seq to parallax_api;
