-- What other systems are told. A workspace reads its own with GET /events; webhooks get each by a delivery of their own.
create table events (
  -- Ordered as live_events: by the transaction first, of which only those are read that are over.
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  -- "evt_" and 32 hexadecimal digits: what receivers know it by.
  event_id text not null unique,
  workspace_id integer not null references workspaces on delete cascade,
  -- "monitor.down".
  type text not null,
  subject_type text not null,
  subject_id integer not null,
  -- Counts the events of one subject in one workspace, from 1 and without a gap.
  sequence integer not null,
  -- The JSON that is sent, at most 20,000 bytes.
  body text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (xid, id)
);
create index events_at on events using brin (at);
create index events_of_workspace on events (workspace_id, xid, id);

alter table events enable row level security;
alter table events force row level security;
create policy events_of_tenant on events using (workspace_id = any (current_workspaces()));
grant select on events to parallax_api;
