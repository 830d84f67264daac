-- The transaction that last opened or closed it: the ingest polls by it, as it does for monitors.
alter table quarantines add column changed_xid xid8 not null default pg_current_xact_id();
-- Since when the probe agrees with the others again; null while it does not, or says nothing.
alter table quarantines add column clean_since timestamptz;
-- Who ended it by hand.
alter table quarantines add column lifted_by integer references users;
create index quarantines_changed on quarantines (changed_xid);
create index quarantines_probe on quarantines (probe_id, started_at);
grant update (ended_at, changed_xid, lifted_by) on quarantines to parallax_api;

-- What fails for somebody now: few rows, from which a probe that fails alone is found.
create index probe_ranges_failing on probe_ranges (monitor_id) where ended_at is null and status in ('DOWN', 'TIMEOUT');

-- The status that others were last told of, where it is not the present one: a change that waits (rules 8 and 16). Written with the status.
alter table monitors add column announced_status text
  check (announced_status in ('UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'));

-- The last confirmed states of monitors that changed lately (rule 14). A monitor without a row is calm.
create table flapping (
  monitor_id integer primary key,
  workspace_id integer not null,
  -- Oldest first: u up, d down; one for each change, and one for each interval without.
  states text not null check (states ~ '^[ud]{1,21}$'),
  -- Effective time of the last of them.
  state_at timestamptz not null,
  flapping_since timestamptz,
  -- When it ceases to flap, or the row to be of use, if nothing changes until then.
  calm_at timestamptz not null,
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create index flapping_calm on flapping (calm_at);
alter table flapping enable row level security;
alter table flapping force row level security;
create policy flapping_of_tenant on flapping using (workspace_id = any (current_workspaces()));
grant select, delete on flapping to parallax_api;
