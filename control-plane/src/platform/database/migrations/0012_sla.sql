-- What somebody says was no downtime of the service, although it was measured as such. Rows are never changed: one that was wrong is
-- reverted by another one.
create table sla_corrections (
  id integer generated always as identity primary key,
  workspace_id integer not null,
  monitor_id integer not null,
  -- The chain of the ledger that was the present one: after a reset of the statistics the row counts no more.
  chain integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  -- UP: the service was up; EXCLUDED: the time counts neither way; MEASURED: as measured, which reverts an earlier row.
  counted_as text not null check (counted_as in ('UP', 'EXCLUDED', 'MEASURED')),
  reason text not null check (length(reason) between 1 and 2000),
  created_by integer references users on delete set null,
  -- As others may know them: a member does not see the account of another.
  created_by_name text not null,
  -- Milliseconds by status in the corrected time before and after, as the report shows them.
  before jsonb not null,
  after jsonb not null,
  created_at timestamptz not null default now(),
  check (ended_at > started_at),
  foreign key (workspace_id, monitor_id) references monitors (workspace_id, id)
);
create index sla_corrections_monitor on sla_corrections (monitor_id, chain, ended_at);
alter table sla_corrections enable row level security;
alter table sla_corrections force row level security;
create policy sla_corrections_of_tenant on sla_corrections using (workspace_id = any (current_workspaces()));
grant select, insert on sla_corrections to parallax_api;

-- Append-only: daily summaries, 24 h after their day ended, what late results changed of them later, and corrections. Each entry's digest
-- covers the one before it, so that nothing of it can be changed unseen. A reset of the statistics begins a new chain.
create table sla_ledger (
  monitor_id integer not null,
  chain integer not null,
  -- From 1, without gaps.
  seq integer not null check (seq > 0),
  kind text not null check (kind in ('day', 'revision', 'correction')),
  -- Of a day or its revision.
  day date,
  -- Canonical JSON, exactly the text that was hashed.
  entry text not null,
  -- SHA-256 of the digest before (32 zero bytes for the first) and the entry.
  digest bytea not null check (length(digest) = 32),
  appended_at timestamptz not null default now(),
  primary key (monitor_id, chain, seq),
  check ((kind = 'correction') = (day is null))
);
create unique index sla_ledger_day on sla_ledger (monitor_id, chain, day) where kind = 'day';
grant select, insert on sla_ledger to parallax_api;

-- How far the days of a shard's monitors are closed, and looked at once more when no result may come late any more.
create table sla_progress (
  kind text not null check (kind in ('close', 'settle')),
  shard integer not null,
  -- The day that is under way.
  day date not null,
  -- Monitors below it are done.
  next_monitor_id integer not null default 0,
  primary key (kind, shard)
);

-- Which chain is the monitor's present one.
alter table monitors add column sla_chain integer not null default 1;
