-- What a failing and a passing probe saw step by step when their votes on a monitor differed. Belongs to the status range that holds
-- at `since`, and goes with it.
create table diagnoses (
  id bigint generated always as identity primary key,
  workspace_id integer not null,
  monitor_id integer not null,
  -- Onset of the disagreement: since when the monitor is PARTIAL; whole milliseconds.
  since timestamptz not null,
  state text not null default 'wanted' check (state in ('wanted', 'made', 'failed')),
  -- Not before second opinions had time to come.
  due_at timestamptz not null,
  -- A process that asks probes holds the row until then.
  leased_until timestamptz,
  attempts integer not null default 0,
  made_at timestamptz,
  failing_probe_id integer references probes,
  passing_probe_id integer references probes,
  failing jsonb,
  passing jsonb,
  -- [{"field": "dns.addresses", "a": "192.0.2.1", "b": "192.0.2.2"}, …]; a is the failing probe, b the passing one.
  differences jsonb not null default '[]',
  -- The same for a person, or why there is no diagnosis.
  summary text not null default '',
  created_at timestamptz not null default now(),
  check ((state = 'wanted') = (made_at is null)),
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create unique index diagnoses_key on diagnoses (monitor_id, since);
create index diagnoses_wanted on diagnoses (due_at) where state = 'wanted';

alter table diagnoses enable row level security;
alter table diagnoses force row level security;
create policy diagnoses_of_tenant on diagnoses using (workspace_id = any (current_workspaces()));
grant select on diagnoses to parallax_api;
